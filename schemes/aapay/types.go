package aapay

import (
	"bytes"
	"encoding/json"
	"time"

	"posagent/schemes/wire"
)

// Type is the {type} of the initialize routes. "purchase" on the wire is accepted as Payment.
type Type string

// The types.
const (
	Payment  Type = "payment"
	Refund   Type = "refund"
	Reversal Type = "reversal"
)

// Triggers of a request (S1 2.4: a string, default "0").
const (
	TriggerManual = "0"
	TriggerQR     = "2"
)

// Request initializes a transaction (S1 2.4).
type Request struct {
	MerchantID           string            `json:"merchantId" wire:"required"`
	Method               string            `json:"method" wire:"required"`
	PurchaseAmount       *Amount           `json:"purchaseAmount" wire:"required"`
	Consumer             *Consumer         `json:"consumer" wire:"required"`
	ECR2NAA              *ECR2NAA          `json:"ecr2Naa,omitempty"`
	Batch                int64             `json:"batch,omitempty"`
	TerminalReference    string            `json:"terminalReference,omitempty"`
	OriginalReference    string            `json:"originalReference,omitempty" wire:"notnull"` // reversal: terminalReference; refund: transactionId
	Params               []KeyValue        `json:"params,omitempty"`
	Message              string            `json:"message,omitempty"`
	ParameterMap         map[string]string `json:"parameterMap,omitempty"`
	Trigger              string            `json:"trigger,omitempty"`
	AdditionalProperties []KeyValue        `json:"additionalProperties,omitempty"`
}

// Amount is in hundredths of the denomination whatever the currency's exponent (S1 2.4);
// money.ToHundredths converts, and refuses what it cannot express.
type Amount struct {
	CurrencyCode  string `json:"currencyCode" wire:"required"`
	VatAmount     int64  `json:"vatAmount" wire:"required"`
	NominalAmount int64  `json:"nominalAmount" wire:"required"`
	TotalAmount   int64  `json:"totalAmount" wire:"required"` // includes VAT
}

// Consumer identifies who pays. Both fields must be present; empty is allowed.
type Consumer struct {
	ConsumerID string `json:"consumerId" wire:"required"`
	Name       string `json:"name" wire:"required"`
}

// KeyValue is one pair; both are required.
type KeyValue struct {
	Key   string `json:"key" wire:"required"`
	Value string `json:"value" wire:"required"`
}

// ECR2NAA is extra non-sensitive data from the register.
type ECR2NAA struct {
	Ver       string `json:"ver,omitempty"`
	Reference string `json:"reference,omitempty"`
	Lang      string `json:"lang,omitempty"`
	Order     *Order `json:"order,omitempty"`
}

// Order is the register's basket.
type Order struct {
	Items     []Item `json:"items"`
	Amount    int64  `json:"amount"`
	Currency  string `json:"currency"`
	Reference string `json:"reference,omitempty"`
}

// Item is one line of the basket.
type Item struct {
	ItemNo           string `json:"itemNo,omitempty"`
	Reference        string `json:"reference,omitempty"`
	Name             string `json:"name,omitempty"`
	Unit             string `json:"unit,omitempty"`
	Quantity         int32  `json:"quantity"`
	UnitPrice        int64  `json:"unitPrice"`
	TaxRate          int64  `json:"taxRate"`
	TaxAmount        int64  `json:"taxAmount"`
	GrossTotalAmount int64  `json:"grossTotalAmount"`
	NetTotalAmount   int64  `json:"netTotalAmount"`
}

// Response codes of S1 2.4, read as MONEY rules say.
const (
	CodeOK      = 0
	CodeResend  = 1
	CodeReject  = -1
	CodeCancel  = -2
	CodePending = -3
)

// Reply answers an initialize (S1 2.4). HTTPStatus is 201 (created but rejected, final) or 202 (live).
type Reply struct {
	HTTPStatus int       `json:"-" rest:"status"`
	Valid      bool      `json:"valid" wire:"required"`
	Error      *Fault    `json:"error"`
	Response   *Response `json:"response"`
	NextLink   *NextLink `json:"nextLink,omitempty"`
	// Operation is set where the request is stored and not yet answered by the backend (a reversal or refund
	// taken over by a store-and-forward service); the backend itself never sends it.
	Operation *wire.Pending `json:"operation,omitempty"`
}

// Fault is the error object of every body; componsiteFault is spelled so on the wire,
// compositeFault is understood too.
type Fault struct {
	ComponsiteFault *CompositeFault `json:"componsiteFault,omitempty"`
	Message         string          `json:"message,omitempty"`
}

// UnmarshalJSON implements json.Unmarshaler; it takes the faults under either spelling.
func (f *Fault) UnmarshalJSON(data []byte) error {
	var both struct {
		Componsite *CompositeFault `json:"componsiteFault"`
		Composite  *CompositeFault `json:"compositeFault"`
		Message    string          `json:"message,omitempty"`
	}
	if err := wire.Decode(data, &both); err != nil {
		return err
	}
	*f = Fault{ComponsiteFault: both.Componsite, Message: both.Message}
	if f.ComponsiteFault == nil {
		f.ComponsiteFault = both.Composite
	}
	return nil
}

// CompositeFault lists what went wrong.
type CompositeFault struct {
	Faults []FaultItem `json:"faults"`
}

// FaultItem is one fault.
type FaultItem struct {
	ExplanationText string `json:"explanationText" wire:"nullable"`
	Params          Texts  `json:"params,omitempty"`
}

// Texts is a map of texts. Foreign services put numbers and nulls there too; those are read as their JSON text.
type Texts map[string]string

// UnmarshalJSON implements json.Unmarshaler.
func (t *Texts) UnmarshalJSON(data []byte) error {
	var raw map[string]json.RawMessage
	if err := wire.Decode(data, &raw); err != nil {
		return err
	}
	out := make(Texts, len(raw))
	for k, v := range raw {
		var s string
		if json.Unmarshal(v, &s) != nil {
			s = string(bytes.TrimSpace(v))
		}
		out[k] = s
	}
	*t = out
	return nil
}

// Response is the outcome of the initialize call itself.
type Response struct {
	ResponseCode         int      `json:"responseCode"`
	ExtendedResponseCode int      `json:"extendedResponseCode" wire:"nullable"`
	NAA2ECR              *NAA2ECR `json:"naa2Ecr,omitempty"`
}

// NAA2ECR is data for the register.
type NAA2ECR struct {
	SchemeID       string   `json:"schemeId,omitempty"`
	PPRef          string   `json:"ppref,omitempty"` // generated transaction id
	PayerID        string   `json:"payerId,omitempty"`
	AdditionalInfo string   `json:"additionalInfo,omitempty"`
	LoyaltyIDs     []string `json:"loyaltyIds,omitempty"`
}

// NextLink is a link to the next step; it is never followed blindly.
type NextLink struct {
	Type       string          `json:"type,omitempty"`
	Rels       []string        `json:"rels,omitempty"`
	URIBuilder json.RawMessage `json:"uriBuilder,omitempty"`
	Params     Texts           `json:"params,omitempty"`
	URI        string          `json:"uri,omitempty"`
	Title      string          `json:"title,omitempty"`
	Rel        string          `json:"rel,omitempty"`
}

// State is a word of S1 3.2. Unknown words are kept as they came and count as live.
type State string

// The states.
const (
	Initialized State = "INITIALIZED"
	Authorized  State = "AUTHORIZED"
	Finalized   State = "FINALIZED"
	Reported    State = "REPORTED"
	Stale       State = "STALE"
	Pending     State = "PENDING"
	Rejected    State = "REJECTED"
	Cancelled   State = "CANCELLED"
	Failed      State = "FAILED"
	Reserved    State = "RESERVED"
	TimedOut    State = "TIMEDOUT"
)

// AccountState says where the money is.
type AccountState string

// The account states. COMMIT means funds have changed owner; empty means not yet.
const (
	Commit   AccountState = "COMMIT"
	Rollback AccountState = "ROLLBACK"
)

// Status is a transaction as it stands (S1 2.4).
type Status struct {
	Valid         bool         `json:"valid" wire:"required"`
	Error         *Fault       `json:"error"`
	Response      *Response    `json:"response"`
	TransactionID int64        `json:"transactionId"`
	TimeStamp     string       `json:"timeStamp,omitempty"` // RFC 3339, creation time
	State         State        `json:"state" wire:"required"`
	AccountState  AccountState `json:"accountState,omitempty"`
	Receipt       *Receipt     `json:"receipt,omitempty"`
	QRCodePayload string       `json:"qrCodePayload,omitempty"`
	PayerID       string       `json:"payerId,omitempty"`
	QRTrigger     string       `json:"qrTrigger,omitempty"` // "1" QR, "0" manual
	NAA2ECR       *NAA2ECR     `json:"naa2Ecr,omitempty"`
	NextLink      *NextLink    `json:"nextLink,omitempty"`
	Answered      time.Time    `json:"-" rest:"date"` // by the service's own clock; zero = it does not say
}

// Receipt carries what a slip shows. The outcome is never taken from it.
type Receipt struct {
	MerchantName string `json:"merchantName,omitempty"`
	TerminalID   string `json:"terminalId,omitempty"`
	Scheme       string `json:"scheme,omitempty"`
	Amount       int64  `json:"amount,omitempty"` // hundredths
	Currency     string `json:"currency,omitempty"`
	Time         string `json:"time,omitempty"`
	Reference    string `json:"reference,omitempty"`
	State        string `json:"state,omitempty"`
}

// UnmarshalJSON implements json.Unmarshaler. It never fails on JSON: what does not fit is left empty,
// because a slip must not cost the status it came with.
func (r *Receipt) UnmarshalJSON(data []byte) error {
	*r = Receipt{}
	var raw map[string]json.RawMessage
	if json.Unmarshal(data, &raw) != nil {
		return nil
	}
	for name, into := range map[string]any{
		"merchantName": &r.MerchantName, "terminalId": &r.TerminalID, "scheme": &r.Scheme, "amount": &r.Amount,
		"currency": &r.Currency, "time": &r.Time, "reference": &r.Reference, "state": &r.State,
	} {
		if v, ok := raw[name]; ok {
			_ = wire.Decode(v, into) // on error the field stays empty
		}
	}
	return nil
}
