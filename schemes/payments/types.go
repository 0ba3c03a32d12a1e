package payments

import (
	"encoding/json"
	"strconv"
	"strings"

	"posagent/schemes/wire"
)

// Types of a create body (S0 2.4). The operator's own spelling of ProviderHosted ("NetsHostedEcom") is read as
// ProviderHosted; see HandlerOptions.Operator.
const (
	MerchantHosted = "MerchantHostedEcom"
	ProviderHosted = "ProviderHostedEcom"
	Moto           = "Moto"
)

// Processing says what happens as soon as the card is known (S0 2.4). Absent is ProcessNone.
const (
	ProcessNone      = "None"
	ProcessVerify    = "Verify"
	ProcessAuthorize = "Authorize"
	ProcessSale      = "Sale"
)

// SCA exemptions (S0 2.4).
const (
	ScaDelegated = "Delegated"
	ScaLowValue  = "LowValue"
	ScaForce3DS  = "Force3ds"
)

// Types of PaymentMethodDetails (S0 2.4.1), and Sofort, which has no fields.
const (
	WithToken         = "PaymentWithToken"
	InitialToken      = "InitialPaymentMethodTokenizationDetails"
	MerchantInitiated = "MerchantInitiatedPaymentWithToken"
	SepaA             = "SepaDirectDepositTypeA"
	SepaC             = "SepaDirectDepositTypeC"
	Sofort            = "Sofort"
)

// Recurring types.
const (
	Subscription = "Subscription"
	CardOnFile   = "CardOnFile"
)

// Types of a customer (S0 2.4.2).
const (
	Company    = "Company"
	Individual = "Individual"
)

// CreateRequest is the create-payment body (S0 2.4). Write it with EncodeCreate; json.Marshal refuses card numbers.
type CreateRequest struct {
	Type                    string                `json:"type"`
	ScaExemption            string                `json:"scaExemption,omitempty"`
	RedirectURLs            *RedirectURLs         `json:"redirectUrls,omitempty"`
	PaymentNumber           string                `json:"paymentNumber,omitempty"`
	CheckoutText            string                `json:"checkoutText,omitempty"`
	ReconciliationReference string                `json:"reconciliationReference,omitempty"`
	Amount                  int32                 `json:"amount"` // minor units, fees excluded
	CurrencyCode            string                `json:"currencyCode"`
	PaymentMethodDetails    *PaymentMethodDetails `json:"paymentMethodDetails,omitempty"`
	Processing              string                `json:"processing,omitempty"`
	Customer                *Customer             `json:"customer,omitempty"`
	Basket                  []BasketItem          `json:"basket,omitempty"`
	PayPageConfiguration    *PayPageConfiguration `json:"payPageConfiguration,omitempty"`
	Description             string                `json:"description,omitempty"`
	CardDetails             *CardDetails          `json:"cardDetails,omitempty"` // Moto
	Notifications           *Notifications        `json:"notifications,omitempty"`
}

// RedirectURLs says where the customer goes after success.
type RedirectURLs struct {
	ReturnURL string `json:"returnUrl,omitempty"`
}

// CardDetails is a card typed in by the merchant.
type CardDetails struct {
	PAN            wire.PAN    `json:"pan"`
	ExpiryYear     int32       `json:"expiryYear"`  // four digits
	ExpiryMonth    int32       `json:"expiryMonth"` // 1 to 12
	ValidationCode wire.Secret `json:"validationCode,omitempty"`
}

// PaymentMethodDetails is one of the variants of S0 2.4.1; Type selects, and only its fields are set. DecodeCreate reads
// "secret" as TokenSecret too.
type PaymentMethodDetails struct {
	Type                             string      `json:"type"`
	Token                            wire.Secret `json:"token,omitempty"`
	TokenSecret                      wire.Secret `json:"tokenSecret,omitempty"`
	IsRecurring                      bool        `json:"isRecurring,omitempty"`
	RecurringType                    string      `json:"recurringType,omitempty"`
	ExpiryDate                       string      `json:"expiryDate,omitempty"` // 2006-01-02
	IntervalDays                     int32       `json:"intervalDays,omitempty"`
	MerchantInitiatedTransactionType string      `json:"merchantInitiatedTransactionType,omitempty"`
	IBAN                             wire.Secret `json:"iban,omitempty"`
	CustomerEmail                    string      `json:"customerEmail,omitempty"`
	MandateURL                       string      `json:"mandateUrl,omitempty"`
}

// Customer is one of the variants of S0 2.4.2; Type selects.
type Customer struct {
	Type               string   `json:"type"`
	RegistrationNumber string   `json:"registrationNumber,omitempty"`
	CompanyName        string   `json:"companyName,omitempty"`
	ContactFirstName   string   `json:"contactFirstName,omitempty"`
	ContactLastName    string   `json:"contactLastName,omitempty"`
	FirstName          string   `json:"firstName,omitempty"`
	LastName           string   `json:"lastName,omitempty"`
	CustomerNumber     string   `json:"customerNumber,omitempty"`
	Address            *Address `json:"address,omitempty"`
	Email              string   `json:"email,omitempty"`
	Phone              string   `json:"phone,omitempty"`
}

// Address is a postal address; CountryCode is ISO 3166-1 alpha-2.
type Address struct {
	Address1    string `json:"address1,omitempty"`
	Address2    string `json:"address2,omitempty"`
	City        string `json:"city,omitempty"`
	PostalCode  string `json:"postalCode,omitempty"`
	CountryCode string `json:"countryCode,omitempty"`
}

// BasketItem is one line of the order (S0 2.3). Percentages keep the text they were written in: sums are exact.
type BasketItem struct {
	ItemNumber         string       `json:"itemNumber,omitempty"`
	Title              string       `json:"title,omitempty"`
	Quantity           int32        `json:"quantity"`
	UnitPrice          int32        `json:"unitPrice"`               // minor units
	VatPercentage      *json.Number `json:"vatPercentage,omitempty"` // nil or 0: unitPrice without VAT
	DiscountPercentage *json.Number `json:"discountPercentage,omitempty"`
	IncludesHandling   bool         `json:"includesHandling,omitempty"`
	IncludesShipping   bool         `json:"includesShipping,omitempty"`
	UnitCode           string       `json:"unitCode,omitempty"`
}

// PayPageConfiguration adjusts the hosted page (S0 2.4.3).
type PayPageConfiguration struct {
	PaymentMethodActionInfoList []MethodAction `json:"paymentMethodActionInfoList,omitempty"`
	Language                    string         `json:"language,omitempty"` // one of Languages
	PageType                    string         `json:"pageType,omitempty"` // Multipage, Singlepage, Custom in any case; DecodeCreate writes these
	TemplateName                string         `json:"templateName,omitempty"`
}

// MethodAction allows or rejects a payment method on the hosted page.
type MethodAction struct {
	PaymentMethod   string `json:"paymentMethod,omitempty"` // one of Methods
	Name            string `json:"name,omitempty"`
	Fee             int32  `json:"fee,omitempty"` // minor units
	CardType        string `json:"cardType,omitempty"`
	CardOrigin      string `json:"cardOrigin,omitempty"`
	CardProductType string `json:"cardProductType,omitempty"`
	Bin             int32  `json:"bin,omitempty"`
	Action          string `json:"action,omitempty"` // Allow or Reject
}

// Notifications lists the webhooks of this payment (S0 6.1).
type Notifications struct {
	WebHooks []WebHook `json:"webHooks,omitempty"`
}

// WebHook subscribes a URL to one event. Authorization is sent back as the header of that name.
type WebHook struct {
	EventName     string              `json:"eventName"`
	URL           string              `json:"url"`
	Authorization wire.Secret         `json:"authorization,omitempty"`
	Headers       []map[string]string `json:"headers,omitempty"`
}

// Created answers a create.
type Created struct {
	PaymentID  string        `json:"paymentId"`
	PayPageURL *string       `json:"payPageUrl"` // nil where a service has no page; of a pending payment it is the terminal's own page
	Operation  *wire.Pending `json:"operation,omitempty"`
}

// AuthorizeRequest reserves money (S0 2.2). A nil Amount is the payment's.
type AuthorizeRequest struct {
	Amount      *int32 `json:"amount,omitempty"`
	Description string `json:"description,omitempty"`
	TerminalID  string `json:"terminalId,omitempty"`
}

// CancelRequest annuls the reservation (S0 2.2). An amount is not read.
type CancelRequest struct {
	Description string `json:"description,omitempty"`
	TerminalID  string `json:"terminalId,omitempty"`
}

// CaptureRequest collects reserved money (S0 2.2). A nil Amount is all that is still reserved.
type CaptureRequest struct {
	Amount      *int32       `json:"amount,omitempty"`
	Description string       `json:"description,omitempty"`
	Basket      []BasketItem `json:"basket,omitempty"`
	TerminalID  string       `json:"terminalId,omitempty"`
}

// RefundRequest gives captured money back. A nil Amount is all that was captured and not given back yet.
type RefundRequest struct {
	Amount      *int32       `json:"amount,omitempty"`
	Description string       `json:"description,omitempty"`
	Basket      []BasketItem `json:"basket,omitempty"`
}

// Done answers authorize, cancel, capture and refund.
type Done struct {
	PaymentID      string        `json:"paymentId"`
	TransactionRef string        `json:"transactionRef"`
	Operation      *wire.Pending `json:"operation,omitempty"`
}

// Payment is a payment as it stands. Every field is always written; what is not known is null.
type Payment struct {
	PaymentID      string          `json:"paymentId"` // ours: a foreign service does not say it
	CurrencyCode   string          `json:"currencyCode"`
	PaymentNumber  *string         `json:"paymentNumber"`
	Summary        Summary         `json:"summary"` // a foreign service's null is zero
	PaymentDetails *PaymentDetails `json:"paymentDetails"`
	Customer       CustomerInfo    `json:"customer" wire:"nullable"`
	Authorizations []Entry         `json:"authorizations"`
	Captures       []Entry         `json:"captures"`
	Refunds        []Entry         `json:"refunds"`
	Cancellations  []Entry         `json:"cancellations"`       // ours
	Operation      *wire.Pending   `json:"operation,omitempty"` // ours: a write that is stored and not in the sums yet
}

// Summary holds the sums of a payment, minor units.
type Summary struct {
	PaymentAmount    int32 `json:"paymentAmount" wire:"nullable"`
	AuthorizedAmount int32 `json:"authorizedAmount" wire:"nullable"` // reserved, captured since or not; 0 after a cancel
	CapturedAmount   int32 `json:"capturedAmount" wire:"nullable"`   // refunded since or not
	RefundedAmount   int32 `json:"refundedAmount" wire:"nullable"`
	Fee              int32 `json:"fee" wire:"nullable"`
}

// Kinds of payment methods in PaymentDetails.
const (
	KindCard               = "Card"
	KindDirectBankTransfer = "DirectBankTransfer"
	KindPrepaid            = "Prepaid"
)

// PaymentDetails says how it was paid.
type PaymentDetails struct {
	PaymentMethodType        *string   `json:"paymentMethodType"`
	PaymentMethod            *string   `json:"paymentMethod"`
	PaymentMethodDescription *string   `json:"paymentMethodDescription"`
	CardDetails              *CardInfo `json:"cardDetails"`
}

// CardInfo is a card as it may be shown. Write it with EncodePayment, which sends the token.
type CardInfo struct {
	MaskedPAN   *string     `json:"maskedPan"`
	Token       wire.Secret `json:"token" wire:"nullable"`
	ExpiryYear  *Digits     `json:"expiryYear"`
	ExpiryMonth *Digits     `json:"expiryMonth"`
}

// Digits is a whole number that services write as a number or as a text; written as a number.
type Digits int32

// UnmarshalJSON implements json.Unmarshaler.
func (d *Digits) UnmarshalJSON(data []byte) error {
	n, err := strconv.ParseInt(strings.Trim(string(data), `"`), 10, 32)
	if err != nil {
		return &wire.FieldError{Reason: "not a whole number", Code: wire.Invalid}
	}
	*d = Digits(n)
	return nil
}

// CustomerInfo is the customer of a read payment: the fields of both variants.
type CustomerInfo struct {
	Type               *string     `json:"type"`
	RegistrationNumber *string     `json:"registrationNumber"`
	CompanyName        *string     `json:"companyName"`
	ContactFirstName   *string     `json:"contactFirstName"`
	ContactLastName    *string     `json:"contactLastName"`
	FirstName          *string     `json:"firstName"`
	LastName           *string     `json:"lastName"`
	CustomerNumber     *string     `json:"customerNumber"`
	Address            AddressInfo `json:"address" wire:"nullable"`
	Email              *string     `json:"email"`
	Phone              *string     `json:"phone"`
}

// AddressInfo is its address.
type AddressInfo struct {
	Address1    *string `json:"address1"`
	Address2    *string `json:"address2"`
	City        *string `json:"city"`
	PostalCode  *string `json:"postalCode"`
	CountryCode *string `json:"countryCode"`
}

// Entry is one financial operation of a payment.
type Entry struct {
	Amount         int32   `json:"amount"`                   // minor units
	DateTime       string  `json:"dateTime" wire:"nullable"` // RFC 3339
	Description    *string `json:"description"`
	TransactionRef string  `json:"transactionRef,omitempty"` // ours: which answer it belongs to
}
