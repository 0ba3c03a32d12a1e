package payments

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"

	"posagent/schemes/wire"
)

// Types of a create body (S0 2.4). The operator's own spelling of ProviderHosted ("NetsHostedEcom") is read as
// ProviderHosted; see Normal.
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

// Types of the hosted page, as Normal writes them.
const (
	Multipage  = "Multipage"
	Singlepage = "Singlepage"
	CustomPage = "Custom"
)

// Types of a customer (S0 2.4.2).
const (
	Company    = "Company"
	Individual = "Individual"
)

// CreateRequest is the create-payment body (S0 2.4). Write it with wire.Encode; json.Marshal refuses card numbers.
type CreateRequest struct {
	Type                    string                `json:"type" wire:"required"`
	ScaExemption            string                `json:"scaExemption,omitempty"`
	RedirectURLs            *RedirectURLs         `json:"redirectUrls,omitempty"`
	PaymentNumber           string                `json:"paymentNumber,omitempty"`
	CheckoutText            string                `json:"checkoutText,omitempty" wire:"masked"`
	ReconciliationReference string                `json:"reconciliationReference,omitempty"`
	Amount                  int32                 `json:"amount"` // minor units, fees excluded
	CurrencyCode            string                `json:"currencyCode" wire:"required"`
	Processing              string                `json:"processing,omitempty"`
	Customer                *Customer             `json:"customer,omitempty"`
	Basket                  []BasketItem          `json:"basket,omitempty"`
	PayPageConfiguration    *PayPageConfiguration `json:"payPageConfiguration,omitempty"`
	Description             string                `json:"description,omitempty" wire:"masked"`
	PaymentMethodDetails    *PaymentMethodDetails `json:"paymentMethodDetails,omitempty"`
	CardDetails             *CardDetails          `json:"cardDetails,omitempty"` // Moto
	Notifications           *Notifications        `json:"notifications,omitempty"`
}

// Format prints what a create is about, under every verb: fmt follows pointers without asking methods when a verb
// does not fit.
func (r CreateRequest) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "create "+r.Type+" "+r.Processing+" "+strconv.Itoa(int(r.Amount))+" "+r.CurrencyCode) // a fmt.State has nowhere to report to
}

// LogValue says the same in a log.
func (r CreateRequest) LogValue() slog.Value {
	return slog.GroupValue(slog.String("type", r.Type), slog.String("processing", r.Processing), slog.Int("amount", int(r.Amount)), slog.String("currency", r.CurrencyCode))
}

// RedirectURLs says where the customer goes after success.
type RedirectURLs struct {
	ReturnURL string `json:"returnUrl,omitempty"`
}

// CardDetails is a card typed in by the merchant.
type CardDetails struct {
	ExpiryYear     int32       `json:"expiryYear" wire:"required"`  // four digits
	ExpiryMonth    int32       `json:"expiryMonth" wire:"required"` // 1 to 12
	PAN            wire.PAN    `json:"pan" wire:"required"`
	ValidationCode wire.Secret `json:"validationCode,omitempty"`
}

// PaymentMethodDetails is one of the variants of S0 2.4.1; Type selects, and only its fields are set.
type PaymentMethodDetails struct {
	Type                             string      `json:"type" wire:"required"`
	IsRecurring                      bool        `json:"isRecurring,omitempty" wire:"notnull"`
	RecurringType                    string      `json:"recurringType,omitempty"`
	ExpiryDate                       string      `json:"expiryDate,omitempty"` // 2006-01-02
	IntervalDays                     int32       `json:"intervalDays,omitempty"`
	MerchantInitiatedTransactionType string      `json:"merchantInitiatedTransactionType,omitempty"`
	CustomerEmail                    string      `json:"customerEmail,omitempty"`
	MandateURL                       string      `json:"mandateUrl,omitempty"`
	Token                            wire.Secret `json:"token,omitempty"`
	TokenSecret                      wire.Secret `json:"tokenSecret,omitempty"`
	Secret                           wire.Secret `json:"secret,omitempty"` // an older name of TokenSecret, which Normal makes of it
	IBAN                             wire.Secret `json:"iban,omitempty"`
}

// Customer is one of the variants of S0 2.4.2; Type selects.
type Customer struct {
	Type               string   `json:"type" wire:"required"`
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
	Title              string       `json:"title,omitempty" wire:"masked"`
	Quantity           int32        `json:"quantity" wire:"required"`
	UnitPrice          int32        `json:"unitPrice" wire:"required"` // minor units
	VatPercentage      *json.Number `json:"vatPercentage,omitempty"`   // nil or 0: unitPrice without VAT
	DiscountPercentage *json.Number `json:"discountPercentage,omitempty"`
	IncludesHandling   bool         `json:"includesHandling,omitempty"`
	IncludesShipping   bool         `json:"includesShipping,omitempty"`
	UnitCode           string       `json:"unitCode,omitempty"`
}

// PayPageConfiguration adjusts the hosted page (S0 2.4.3).
type PayPageConfiguration struct {
	PaymentMethodActionInfoList []MethodAction `json:"paymentMethodActionInfoList,omitempty"`
	Language                    string         `json:"language,omitempty"` // one of check.PageLanguages
	PageType                    string         `json:"pageType,omitempty"` // Multipage, Singlepage, Custom in any case; Normal writes these
	TemplateName                string         `json:"templateName,omitempty"`
}

// MethodAction allows or rejects a payment method on the hosted page.
type MethodAction struct {
	PaymentMethod   string `json:"paymentMethod,omitempty"` // one of Methods
	Name            string `json:"name,omitempty"`
	Fee             int32  `json:"fee,omitempty" wire:"notnull"` // minor units
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
	EventName     string              `json:"eventName" wire:"required"`
	URL           string              `json:"url" wire:"required"`
	Headers       []map[string]string `json:"headers,omitempty"`
	Authorization wire.Secret         `json:"authorization,omitempty"`
}

// Created answers a create.
type Created struct {
	PaymentID  string        `json:"paymentId" wire:"required"`
	PayPageURL string        `json:"payPageUrl" wire:"nullable"` // "" where a service has no page; of a pending payment it is the terminal's own page
	Operation  *wire.Pending `json:"operation,omitempty"`
}

// Payment is a payment as it stands. Every field is always written; what is not known is null, or a text or number where clients
// take no null. Write it with wire.Encode, which sends the card's token.
type Payment struct {
	PaymentID      string          `json:"paymentId"` // ours: a foreign service does not say it
	CurrencyCode   string          `json:"currencyCode"`
	PaymentNumber  *string         `json:"paymentNumber"`
	Summary        Summary         `json:"summary" wire:"required"` // a foreign service's null is zero
	Customer       CustomerInfo    `json:"customer" wire:"nullable"`
	Authorizations []Entry         `json:"authorizations" wire:"list"`
	Captures       []Entry         `json:"captures" wire:"list"`
	Refunds        []Entry         `json:"refunds" wire:"list"`
	Cancellations  []Entry         `json:"cancellations" wire:"list"` // ours
	Operation      *wire.Pending   `json:"operation,omitempty"`       // ours: a write that is stored and not in the sums yet
	PaymentDetails *PaymentDetails `json:"paymentDetails"`
}

// Format prints which payment it is, under every verb.
func (p Payment) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "payment "+p.PaymentID) // a fmt.State has nowhere to report to
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

// Format prints that there are details, under every verb.
func (d PaymentDetails) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "payment details") // a fmt.State has nowhere to report to
}

// CardInfo is a card as it may be shown.
type CardInfo struct {
	MaskedPAN   *string     `json:"maskedPan"`
	ExpiryYear  *Digits     `json:"expiryYear"`
	ExpiryMonth *Digits     `json:"expiryMonth"`
	Token       wire.Secret `json:"token" wire:"nullable"`
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

// AddressInfo is its address, there even without a customer. Clients read its fields, but address2, into texts that are never
// null: what is not known is empty, also where a foreign service says null.
type AddressInfo struct {
	Address1    string  `json:"address1" wire:"nullable"`
	Address2    *string `json:"address2"`
	City        string  `json:"city" wire:"nullable"`
	PostalCode  string  `json:"postalCode" wire:"nullable"`
	CountryCode string  `json:"countryCode" wire:"nullable"`
}

// Entry is one financial operation of a payment.
type Entry struct {
	Amount         int32   `json:"amount"`                   // minor units
	DateTime       string  `json:"dateTime" wire:"nullable"` // RFC 3339
	Description    *string `json:"description"`
	TransactionRef string  `json:"transactionRef,omitempty"` // ours: which answer it belongs to
}
