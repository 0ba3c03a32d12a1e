package aapay

import (
	"context"
	"encoding/json"

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
	MerchantID           string            `json:"merchantId"`
	Method               string            `json:"method"`
	PurchaseAmount       *Amount           `json:"purchaseAmount"`
	Consumer             *Consumer         `json:"consumer"`
	ECR2NAA              *ECR2NAA          `json:"ecr2Naa,omitempty"`
	Batch                int64             `json:"batch,omitempty"`
	TerminalReference    string            `json:"terminalReference,omitempty"`
	OriginalReference    string            `json:"originalReference,omitempty"` // reversal: terminalReference; refund: transactionId
	Params               []KeyValue        `json:"params,omitempty"`
	Message              string            `json:"message,omitempty"`
	ParameterMap         map[string]string `json:"parameterMap,omitempty"`
	Trigger              string            `json:"trigger,omitempty"`
	AdditionalProperties []KeyValue        `json:"additionalProperties,omitempty"`
}

// Amount is in hundredths of the denomination whatever the currency's exponent (S1 2.4);
// money.ToHundredths converts, and refuses what it cannot express.
type Amount struct {
	CurrencyCode  string `json:"currencyCode"`
	VatAmount     int64  `json:"vatAmount"`
	NominalAmount int64  `json:"nominalAmount"`
	TotalAmount   int64  `json:"totalAmount"` // includes VAT
}

// Consumer identifies who pays. Both fields must be present; empty is allowed.
type Consumer struct {
	ConsumerID string `json:"consumerId"`
	Name       string `json:"name"`
}

// KeyValue is one pair; both are required.
type KeyValue struct {
	Key   string `json:"key"`
	Value string `json:"value"`
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
	HTTPStatus int       `json:"-"`
	Valid      bool      `json:"valid"`
	Error      *Fault    `json:"error"`
	Response   *Response `json:"response"`
	NextLink   *NextLink `json:"nextLink,omitempty"`
}

// Fault is the error object of every body; componsiteFault is spelled so on the wire,
// compositeFault is understood too.
type Fault struct {
	ComponsiteFault *CompositeFault `json:"componsiteFault,omitempty"`
	Message         string          `json:"message,omitempty"`
}

// CompositeFault lists what went wrong.
type CompositeFault struct {
	Faults []FaultItem `json:"faults"`
}

// FaultItem is one fault.
type FaultItem struct {
	ExplanationText string            `json:"explanationText"`
	Params          map[string]string `json:"params,omitempty"`
}

// Response is the outcome of the initialize call itself.
type Response struct {
	ResponseCode         int      `json:"responseCode"`
	ExtendedResponseCode int      `json:"extendedResponseCode"`
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
	Type       string            `json:"type,omitempty"`
	Rels       []string          `json:"rels,omitempty"`
	URIBuilder json.RawMessage   `json:"uriBuilder,omitempty"`
	Params     map[string]string `json:"params,omitempty"`
	URI        string            `json:"uri,omitempty"`
	Title      string            `json:"title,omitempty"`
	Rel        string            `json:"rel,omitempty"`
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
	Valid         bool         `json:"valid"`
	Error         *Fault       `json:"error"`
	Response      *Response    `json:"response"`
	TransactionID int64        `json:"transactionId"`
	TimeStamp     string       `json:"timeStamp,omitempty"` // RFC 3339, creation time
	State         State        `json:"state"`
	AccountState  AccountState `json:"accountState,omitempty"`
	Receipt       *Receipt     `json:"receipt,omitempty"`
	QRCodePayload string       `json:"qrCodePayload,omitempty"`
	PayerID       string       `json:"payerId,omitempty"`
	QRTrigger     string       `json:"qrTrigger,omitempty"` // "1" QR, "0" manual
	NAA2ECR       *NAA2ECR     `json:"naa2Ecr,omitempty"`
	NextLink      *NextLink    `json:"nextLink,omitempty"`
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

// Service is the alternative-scheme transaction service (S1 4.3).
type Service interface {
	// Initialize starts a transaction on the plain route. Never send it twice.
	//  1. Reply with HTTPStatus 202: live; 201: created but rejected, final;
	//  2. wire.Invalid, Unauthorized, Forbidden, Conflict: refused, no effect;
	//  3. wire.Unavailable: provably not sent;
	//  4. wire.UnknownOutcome, TooMany, Internal: the effect is not known.
	Initialize(ctx context.Context, typ Type, req Request) (Reply, error)
	// InitializeWithIdempotency is the same under a Key: safe to send again under the same Key and body;
	// wire.KeyReused when the body differs from the first.
	InitializeWithIdempotency(ctx context.Context, key wire.Key, typ Type, req Request) (Reply, error)
	// Status reads a transaction by transactionId, ppref or terminalReference; method is optional.
	//  1. the status;
	//  2. wire.NotFound: the service says it does not know it (no proof that it never will);
	//  3. any other error: nothing is known.
	Status(ctx context.Context, id string, method string) (Status, error)
}
