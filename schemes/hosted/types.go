package hosted

import (
	"encoding/json"
	"fmt"
	"io"

	"posagent/schemes/wire"
)

// Actions of a payment session (S2 2.1).
const (
	Pay     = "PAY"
	Verify  = "VERIFY"
	Preauth = "PREAUTH"
)

// Capture types of a card payment.
const (
	Implicit = "IMPLICIT" // confirmed by itself
	Explicit = "EXPLICIT" // authorized only
)

// Actions of a recurrence.
const (
	NoRecurring       = "NO_RECURRING"
	SubsequentPayment = "SUBSEQUENT_PAYMENT"
	ContractCreation  = "CONTRACT_CREATION"
	CardSubstitution  = "CARD_SUBSTITUTION"
)

// Contract types.
const (
	Unscheduled = "MIT_UNSCHEDULED"
	Scheduled   = "MIT_SCHEDULED"
	CIT         = "CIT"
)

// Exemptions.
const (
	NoPreference       = "NO_PREFERENCE"
	ChallengeRequested = "CHALLENGE_REQUESTED"
)

// States of a session (S2 3).
const (
	MethodSelection = "PAYMENT_METHOD_SELECTION"
	CardCollection  = "CARD_DATA_COLLECTION"
	Ready           = "READY_FOR_PAYMENT"
	Redirected      = "REDIRECTED_TO_EXTERNAL_DOMAIN"
	Complete        = "PAYMENT_COMPLETE" // of a cancel, too: its operation is Canceled
)

// Channels of an operation (S2 2.3).
const (
	Ecommerce  = "ECOMMERCE"
	POS        = "POS"
	Backoffice = "BACKOFFICE"
)

// Types of an operation (S2 2.3).
const (
	Authorization = "AUTHORIZATION"
	Capture       = "CAPTURE"
	Void          = "VOID"
	Refund        = "REFUND"
	Cancel        = "CANCEL"
)

// Results of an operation (S2 2.3).
const (
	Authorized       = "AUTHORIZED"
	Executed         = "EXECUTED"
	Declined         = "DECLINED"
	DeniedByRisk     = "DENIED_BY_RISK"
	ThreeDSValidated = "THREEDS_VALIDATED"
	ThreeDSFailed    = "THREEDS_FAILED"
	Pending          = "PENDING"
	Canceled         = "CANCELED"
	Voided           = "VOIDED"
	Refunded         = "REFUNDED"
	Failed           = "FAILED"
)

// Payment methods.
const (
	Card = "CARD"
	APM  = "APM"
)

// CardService is the paymentService that skips the choice of a method; any other names an alternative one.
const CardService = "CARDS"

// Text is a text that clients send as a number, too: it is kept as it was written.
type Text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *Text) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, (*string)(t))
	}
	if string(data) == "null" {
		return nil
	}
	if data[0] != '-' && (data[0] < '0' || data[0] > '9') {
		return &wire.FieldError{Reason: "want a text or a number", Code: wire.Invalid}
	}
	*t = Text(data)
	return nil
}

// BuildRequest creates an order and its payment session (S2 2.1).
type BuildRequest struct {
	MerchantURL    string  `json:"merchantUrl" wire:"nullable"` // protocol and host of the platform's pages
	Order          Order   `json:"order" wire:"required"`
	PaymentSession Session `json:"paymentSession" wire:"required"`
	Version        Text    `json:"version,omitempty"`
}

// Normal implements rest.Normalizer: it refuses a build that lacks what a reply about its order need not say.
func (*BuildRequest) Normal(_ string, raw []byte) error {
	return wire.Required(raw, "order.orderId", "order.amount", "order.currency", "paymentSession.actionType", "paymentSession.amount")
}

// Order is what is bought. Amounts are smallest units of Currency.
type Order struct {
	OrderID               string          `json:"orderId"`
	InvoiceID             string          `json:"invoiceId,omitempty"`
	Amount                Text            `json:"amount"`
	Currency              string          `json:"currency"` // ISO 4217
	CustomerID            Text            `json:"customerId,omitempty"`
	Description           string          `json:"description,omitempty" wire:"masked"`
	CustomField           string          `json:"customField,omitempty" wire:"masked"`
	CustomerInfo          json.RawMessage `json:"customerInfo,omitempty"` // a CustomerInfo: Customer reads it
	TransactionSummary    []Summary       `json:"transactionSummary,omitempty"`
	Installments          []Installment   `json:"installments,omitempty"`
	TermsAndConditionsIDs []string        `json:"termsAndConditionsIds,omitempty"`
}

// Summary is what was bought, in one language.
type Summary struct {
	Language    string `json:"language,omitempty"` // ISO 639-2
	SummaryList []Line `json:"summaryList,omitempty"`
}

// Line is one line of a summary.
type Line struct {
	Label string `json:"label,omitempty"`
	Value string `json:"value,omitempty"`
}

// Installment is one later payment.
type Installment struct {
	Date   string `json:"date"`   // ISO 8601
	Amount Text   `json:"amount"` // smallest units
}

// Session is how it is paid.
type Session struct {
	ActionType      string      `json:"actionType"`
	Amount          Text        `json:"amount"` // smallest units, at most the order's
	Recurrence      *Recurrence `json:"recurrence,omitempty"`
	CaptureType     string      `json:"captureType,omitempty"`
	Exemptions      string      `json:"exemptions,omitempty"`
	Language        string      `json:"language,omitempty"` // ISO 639-2
	ResultURL       string      `json:"resultUrl,omitempty"`
	CancelURL       string      `json:"cancelUrl,omitempty"`
	NotificationURL string      `json:"notificationUrl,omitempty"`
	PaymentService  string      `json:"paymentService,omitempty"`
}

// Recurrence says whether a card is kept for later payments, or one that was is used.
type Recurrence struct {
	Action             string `json:"action,omitempty"`
	ContractID         string `json:"contractId,omitempty"`
	ContractType       string `json:"contractType,omitempty"`
	ContractExpiryDate string `json:"contractExpiryDate,omitempty"` // ISO 8601
	ContractFrequency  Text   `json:"contractFrequency,omitempty"`  // days
}

// Field is a hosted field: Src is the address that an iframe shows.
type Field struct {
	Type  string `json:"type"` // TEXT, ACTION
	Class string `json:"class" wire:"nullable"`
	ID    string `json:"id"`
	Src   string `json:"src"`
}

// Built answers a build. State and URL are set where the customer has to go elsewhere at once (an alternative method).
// Write it with wire.Encode, which sends the token.
type Built struct {
	SessionID     string      `json:"sessionId" wire:"required"`
	Fields        []Field     `json:"fields" wire:"list"`
	State         string      `json:"state,omitempty"`
	URL           string      `json:"url,omitempty"`
	SecurityToken wire.Secret `json:"securityToken" wire:"required"`
}

// SessionState answers finalize, cancel and state (S2 4). URL is set when a redirect is needed, FieldSet when more fields
// must be rendered. Write it with wire.Encode.
type SessionState struct {
	State     string     `json:"state" wire:"required"`
	URL       string     `json:"url,omitempty"`
	Warnings  []Warning  `json:"warnings,omitzero"` // of finalize and cancel: never nil there
	Operation *Operation `json:"operation,omitempty"`
	FieldSet  *FieldSet  `json:"fieldSet,omitempty"`
}

// FieldSet is a set of fields. State and URL are in some replies of the real service.
type FieldSet struct {
	SessionID     string      `json:"sessionId,omitempty"`
	Fields        []Field     `json:"fields" wire:"list"`
	State         string      `json:"state,omitempty"`
	URL           string      `json:"url,omitempty"`
	SecurityToken wire.Secret `json:"securityToken,omitempty"`
}

// UnmarshalJSON implements json.Unmarshaler: a bare list is a set of fields alone.
func (s *FieldSet) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '[' {
		return json.Unmarshal(data, &s.Fields)
	}
	type plain FieldSet
	return json.Unmarshal(data, (*plain)(s))
}

// Warning is something that did not fail the call.
type Warning struct {
	Code        string `json:"code" wire:"nullable"`
	Description string `json:"description" wire:"nullable"`
}

// Operation is one thing that happened to an order (S2 2.3). OperationTime is as the service wrote it: real ones are not
// always ISO 8601.
type Operation struct {
	OrderID               string                     `json:"orderId"`
	OperationID           string                     `json:"operationId"`
	Channel               string                     `json:"channel" wire:"nullable"`
	OperationType         string                     `json:"operationType"`
	OperationResult       string                     `json:"operationResult"`
	OperationTime         string                     `json:"operationTime" wire:"nullable"`
	PaymentMethod         string                     `json:"paymentMethod" wire:"nullable"`
	PaymentCircuit        string                     `json:"paymentCircuit" wire:"nullable"`
	PaymentInstrumentInfo string                     `json:"paymentInstrumentInfo" wire:"nullable"`
	PaymentEndToEndID     string                     `json:"paymentEndToEndId" wire:"nullable"`
	CancelledOperationID  string                     `json:"cancelledOperationId" wire:"nullable"`
	OperationAmount       Text                       `json:"operationAmount" wire:"nullable"` // smallest units
	OperationCurrency     string                     `json:"operationCurrency" wire:"nullable"`
	CustomerInfo          json.RawMessage            `json:"customerInfo,omitempty"` // a CustomerInfo
	Warnings              []Warning                  `json:"warnings" wire:"list"`
	PaymentLinkID         string                     `json:"paymentLinkId" wire:"nullable"`
	AdditionalData        map[string]json.RawMessage `json:"additionalData" wire:"list"`
}

// CardData is what a platform may know of the card that was filled in.
type CardData struct {
	BIN            string `json:"bin" wire:"nullable"`
	LastFourDigits string `json:"lastFourDigits" wire:"nullable"`
	ExpiringDate   string `json:"expiringDate" wire:"nullable"` // MM/YY
	Circuit        string `json:"circuit" wire:"nullable"`
}

// Method is a way to pay that the merchant has.
type Method struct {
	PaymentMethodType  string `json:"paymentMethodType"` // CARD, APM
	Circuit            string `json:"circuit"`
	ImageLink          string `json:"imageLink" wire:"nullable"`
	RecurringSupported bool   `json:"recurringSupported" wire:"nullable"`
	OneClickSupported  bool   `json:"oneClickSupported" wire:"nullable"`
}

// MethodList answers the question for them.
type MethodList struct {
	PaymentMethods []Method `json:"paymentMethods" wire:"required,list"`
}

// Report is an order as it stands, with everything that happened to it, the oldest first.
type Report struct {
	OrderStatus OrderStatus       `json:"orderStatus" wire:"required"`
	Operations  []Operation       `json:"operations" wire:"list"`
	Links       []json.RawMessage `json:"links" wire:"list"`
}

// OrderStatus is where an order stands. Amounts are smallest units.
type OrderStatus struct {
	Order             Order  `json:"order" wire:"required"`
	AuthorizedAmount  Text   `json:"authorizedAmount" wire:"nullable"`
	CapturedAmount    Text   `json:"capturedAmount" wire:"nullable"`
	LastOperationType string `json:"lastOperationType" wire:"nullable"`
	LastOperationTime string `json:"lastOperationTime" wire:"nullable"`
}

// PostRequest captures, refunds or cancels. An empty Amount is all that is left. A cancel is always of all, and refused with another amount.
type PostRequest struct {
	Amount      Text   `json:"amount,omitempty" wire:"given"` // smallest units
	Currency    string `json:"currency,omitempty" wire:"given"`
	Description string `json:"description,omitempty" wire:"masked"`
}

// Posted answers them.
type Posted struct {
	OperationID   string `json:"operationId" wire:"required"`
	OperationTime string `json:"operationTime" wire:"nullable"`
}

// Notice is the notification to the merchant (S2 6). Write it with wire.Encode.
type Notice struct {
	EventID       string      `json:"eventId" wire:"nullable"`
	EventTime     string      `json:"eventTime" wire:"nullable"`
	Operation     Operation   `json:"operation"`
	SecurityToken wire.Secret `json:"securityToken"`
}

// DecodeNotice reads a notification strictly; the error is wire.Invalid.
func DecodeNotice(data []byte) (n Notice, err error) {
	if err = wire.Decode(data, &n); err == nil {
		err = wire.Required(data, "securityToken", "operation", "operation.orderId", "operation.operationId", "operation.operationResult")
	}
	if err != nil {
		return n, refused("hosted.notice", err)
	}
	return n, nil
}

// Format prints which session it is about, under every verb: fmt follows pointers without asking methods when a verb does not
// fit.
func (b Built) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "built session with "+fmt.Sprint(len(b.Fields))+" fields") // a fmt.State has nowhere to report to
}

// Format prints the state, under every verb.
func (s SessionState) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "session "+s.State) // a fmt.State has nowhere to report to
}

// Format prints what happened, under every verb.
func (n Notice) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "notice "+n.EventID+" "+n.Operation.OperationType+" "+n.Operation.OperationResult) // a fmt.State has nowhere to report to
}
