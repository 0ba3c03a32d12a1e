package webhooks

import (
	"encoding/json"
	"time"
)

// Name is an event's name (S0 6.4, 6.5).
type Name string

// The events.
const (
	PaymentCreated       Name = "payment.created"
	ReservationCreated   Name = "payment.reservation.created"
	ReservationCreatedV2 Name = "payment.reservation.created.v2"
	ReservationFailed    Name = "payment.reservation.failed"
	CheckoutCompleted    Name = "payment.checkout.completed"
	ChargeCreated        Name = "payment.charge.created.v2"
	ChargeFailed         Name = "payment.charge.failed"
	RefundInitiated      Name = "payment.refund.initiated.v2"
	RefundCompleted      Name = "payment.refund.completed"
	RefundFailed         Name = "payment.refund.failed"
	CancelCreated        Name = "payment.cancel.created"
	CancelFailed         Name = "payment.cancel.failed"

	OnboardingInitiated         Name = "onboarding.initiated"
	OnboardingAwaitingSignature Name = "onboarding.awaiting_signature"
	OnboardingSignatureFailed   Name = "onboarding.signature_failed"
	OnboardingProcessing        Name = "onboarding.processing"
	OnboardingApproved          Name = "onboarding.approved"
	OnboardingAbandoned         Name = "onboarding.abandoned"
)

// Event is one event. Data points at the type that stands beside the name in the table of rules.go:
//
//	payment.created, payment.checkout.completed    *Checkout
//	payment.reservation.created, .v2               *Reservation
//	payment.reservation.failed, payment.charge.*,
//	payment.refund.*, payment.cancel.*             *Movement
//	onboarding.*                                   *Onboarding
//	anything else (Parse only)                     json.RawMessage
type Event struct {
	ID             string // 32 lower hex digits (NewID)
	MerchantNumber int64  // payment events; optional for onboarding
	MerchantUUID   string // onboarding events only
	Time           time.Time
	Name           Name
	Data           any
	Body           []byte // the text Parse read it from; Marshal ignores it
}

// Amount is in minor units.
type Amount struct {
	Amount   int32  `json:"amount"`
	Currency string `json:"currency"` // ISO 4217
}

// OrderItem is one line of an order. Receivers want exactly these keys.
type OrderItem struct {
	Reference        string  `json:"reference"`
	Name             string  `json:"name"`
	Quantity         float64 `json:"quantity"`
	Unit             string  `json:"unit"`
	UnitPrice        int32   `json:"unitPrice"` // without VAT
	TaxRate          int32   `json:"taxRate"`   // hundredths of a percent
	TaxAmount        int32   `json:"taxAmount"` // of the whole line
	NetTotalAmount   int32   `json:"netTotalAmount"`
	GrossTotalAmount int32   `json:"grossTotalAmount"`
}

// OrderItems is written as a list even when it is empty.
type OrderItems []OrderItem

// MarshalJSON implements json.Marshaler.
func (o OrderItems) MarshalJSON() ([]byte, error) {
	if len(o) == 0 {
		return []byte("[]"), nil
	}
	return json.Marshal([]OrderItem(o))
}

// Error says why something failed; for logs, not for customers.
type Error struct {
	Message string `json:"message"`
	Code    string `json:"code"`
	Source  string `json:"source"`
}

// Order is what is paid for.
type Order struct {
	Amount     Amount     `json:"amount"`
	Reference  string     `json:"reference"`
	OrderItems OrderItems `json:"orderItems"`
}

// Consumer is who pays. On a reservation only ip, email and country are written, empty or not; on a completed checkout
// everything but MerchantReference.
type Consumer struct {
	FirstName         string       `json:"firstName,omitempty"`
	LastName          string       `json:"lastName,omitempty"`
	Country           string       `json:"country"`
	Email             string       `json:"email"`
	IP                string       `json:"ip"`
	PhoneNumber       *PhoneNumber `json:"phoneNumber,omitempty"`
	BillingAddress    *Address     `json:"billingAddress,omitempty"`
	ShippingAddress   *Address     `json:"shippingAddress,omitempty"`
	MerchantReference string       `json:"merchantReference,omitempty"`
}

// PhoneNumber is a number and its country's prefix ("+46").
type PhoneNumber struct {
	Prefix string `json:"prefix"`
	Number string `json:"number"`
}

// Address is a postal address.
type Address struct {
	AddressLine1 string `json:"addressLine1"`
	AddressLine2 string `json:"addressLine2"`
	City         string `json:"city"`
	Country      string `json:"country"`
	Postcode     string `json:"postcode"`
	ReceiverLine string `json:"receiverLine"`
}

// CardDetails is what may be told of a card.
type CardDetails struct {
	CreditDebitIndicator string        `json:"creditDebitIndicator"` // C, D
	ExpiryMonth          string        `json:"expiryMonth"`          // two digits
	ExpiryYear           string        `json:"expiryYear"`           // two digits
	IssuerCountry        string        `json:"issuerCountry"`
	TruncatedPan         string        `json:"truncatedPan"` // first six and last four digits, the others masked
	ThreeDSecure         *ThreeDSecure `json:"threeDSecure"`
}

// ThreeDSecure is the outcome of an authentication. Receivers want exactly these keys.
type ThreeDSecure struct {
	AcsURL                         string `json:"acsUrl"`
	AuthenticationEnrollmentStatus string `json:"authenticationEnrollmentStatus"`
	AuthenticationStatus           string `json:"authenticationStatus"`
	ECI                            string `json:"eci"`
}

// The values of paymentType.
const (
	TypeCard           = "CARD"
	TypeInvoice        = "INVOICE"
	TypeA2A            = "A2A"
	TypeInstallment    = "INSTALLMENT"
	TypeWallet         = "WALLET"
	TypePrepaidInvoice = "PREPAID-INVOICE"
)

// InvoiceDetails belong to an invoice payment's refund. Older receivers want exactly the first three keys.
type InvoiceDetails struct {
	DistributionType string `json:"distributionType"`
	InvoiceDueDate   string `json:"invoiceDueDate"`
	InvoiceNumber    string `json:"invoiceNumber"`
	AccountNumber    string `json:"accountNumber,omitempty"`
	OCROrKID         string `json:"ocrOrkid,omitempty"`
	OurReference     string `json:"ourReference,omitempty"`
	YourReference    string `json:"yourReference,omitempty"`
}

// Checkout is the data of payment.created and payment.checkout.completed; the latter has a Consumer.
type Checkout struct {
	PaymentID      string    `json:"paymentId"`
	Order          *Order    `json:"order"`
	Consumer       *Consumer `json:"consumer,omitempty"`
	MyReference    string    `json:"myReference,omitempty"`
	SubscriptionID string    `json:"subscriptionId,omitempty"`
}

// Reservation is the data of payment.reservation.created and its v2, which has no card, consumer and reserve.
type Reservation struct {
	CardDetails             *CardDetails `json:"cardDetails,omitempty"`
	PaymentMethod           string       `json:"paymentMethod"`
	PaymentType             string       `json:"paymentType"`
	Consumer                *Consumer    `json:"consumer,omitempty"`
	ReservationReference    string       `json:"reservationReference,omitempty"`
	ReserveID               string       `json:"reserveId,omitempty"`
	Amount                  *Amount      `json:"amount"`
	PaymentID               string       `json:"paymentId"`
	MyReference             string       `json:"myReference,omitempty"`
	SubscriptionID          string       `json:"subscriptionId,omitempty"`
	ReconciliationReference string       `json:"reconciliationReference,omitempty"`
}

// Movement is the data of every other payment event: a reservation that failed, a charge, a refund, a cancellation.
// Each event has its own part of the fields (S0 6.4).
type Movement struct {
	PaymentID               string          `json:"paymentId"`
	Error                   *Error          `json:"error,omitempty"`
	SubscriptionID          string          `json:"subscriptionId,omitempty"`
	ChargeID                string          `json:"chargeId,omitempty"`
	RefundID                string          `json:"refundId,omitempty"`
	CancelID                string          `json:"cancelId,omitempty"`
	OrderItems              *OrderItems     `json:"orderItems,omitempty"`
	ReservationID           string          `json:"reservationId,omitempty"` // UUID
	PaymentMethod           string          `json:"paymentMethod,omitempty"`
	PaymentType             string          `json:"paymentType,omitempty"`
	Amount                  *Amount         `json:"amount"`
	ReconciliationReference string          `json:"reconciliationReference,omitempty"`
	Executed                string          `json:"executed,omitempty"` // a timestamp (FormatTime)
	PaymentActionID         string          `json:"paymentActionId,omitempty"`
	InvoiceDetails          *InvoiceDetails `json:"invoiceDetails,omitempty"`
	MyReference             string          `json:"myReference,omitempty"`
}

// Onboarding is the data of an onboarding event.
type Onboarding struct {
	OnboardingID int64  `json:"onboardingId" wire:"required"`
	Status       string `json:"status" wire:"required"`
	Reason       string `json:"reason,omitempty"` // SIGNATURE_FAILED only: failed, expired, cancelled
}

// The values of an onboarding's status.
const (
	StatusInitiated         = "INITIATED"
	StatusAwaitingSignature = "AWAITING_SIGNATURE"
	StatusSignatureFailed   = "SIGNATURE_FAILED"
	StatusProcessing        = "PROCESSING"
	StatusApproved          = "APPROVED"
	StatusAbandoned         = "ABANDONED"
)
