package paylinks

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"time"

	"posagent/schemes/wire"
)

// Ids of links and transactions are int32 on the wire. The backend's are below FirstLocalID; those from there up are given by a
// store-and-forward service to what the backend has not answered yet.
const (
	FirstLocalID = 2_000_000_000
	MaxID        = 1<<31 - 1
)

// Status is a word of a link or a transaction. Unknown words are kept as they came.
type Status string

// The statuses. A link is waiting, confirmed, authorized or reserved (S1 3.1); the others are of transactions.
const (
	Waiting           Status = "waiting"
	Initiated         Status = "initiated"
	Confirmed         Status = "confirmed"
	Cancelled         Status = "cancelled"
	Declined          Status = "declined"
	Authorized        Status = "authorized"
	Reserved          Status = "reserved"
	Refunded          Status = "refunded"
	PartiallyRefunded Status = "partially-refunded"
	RefundPending     Status = "refund_pending"
	Chargeback        Status = "chargeback"
	Disputed          Status = "disputed"
	Failed            Status = "error"
	Expired           Status = "expired"
	Insecure          Status = "insecure"
	Uncaptured        Status = "uncaptured"
)

// CreateRequest makes a link (S1 4.1).
type CreateRequest struct {
	Title                            string             `json:"title"`
	Description                      string             `json:"description"`
	ReferenceID                      string             `json:"referenceId"`
	Purpose                          string             `json:"purpose"`
	Amount                           int64              `json:"amount"` // cents, int32 on the wire
	VatRate                          Percent            `json:"vatRate,omitempty"`
	Currency                         string             `json:"currency"`
	PSP                              []int64            `json:"psp,omitempty"`
	PM                               []string           `json:"pm,omitempty"`
	SKU                              string             `json:"sku,omitempty"`
	PreAuthorization                 bool               `json:"preAuthorization,omitempty"`
	Reservation                      bool               `json:"reservation,omitempty"`
	Name                             string             `json:"name,omitempty"`
	Fields                           map[string]Contact `json:"fields,omitempty"` // by the names of FieldNames
	HideFields                       bool               `json:"hideFields,omitempty"`
	ProviderOrderID                  string             `json:"providerOrderId,omitempty"`
	ButtonText                       string             `json:"buttonText,omitempty"`
	ExpirationDate                   string             `json:"expirationDate,omitempty"` // YYYY-MM-DD; the link can be paid on that day
	SuccessRedirectURL               string             `json:"successRedirectUrl,omitempty"`
	FailedRedirectURL                string             `json:"failedRedirectUrl,omitempty"`
	SubscriptionState                bool               `json:"subscriptionState,omitempty"`
	SubscriptionInterval             string             `json:"subscriptionInterval,omitempty"` // ISO 8601: P1M
	SubscriptionPeriod               string             `json:"subscriptionPeriod,omitempty"`
	SubscriptionCancellationInterval string             `json:"subscriptionCancellationInterval,omitempty"`
	SubscriptionPeriodMinAmount      int64              `json:"subscriptionPeriodMinAmount,omitempty"` // cents
	Attachments                      []Attachment       `json:"attachments,omitempty"`
}

// Contact is what a request says about one contact field. A field that is named is shown, unless Active says no.
type Contact struct {
	Active       *bool  `json:"active,omitempty"`
	Mandatory    bool   `json:"mandatory"`
	DefaultValue string `json:"defaultValue,omitempty"`
	Names        *Names `json:"names,omitempty"` // of a custom field
}

// Attachment is a file for customers. Its content is read through Open, as often as needed, while the call lasts; size and
// digest stand for it where requests are compared.
type Attachment struct {
	Name        string                        `json:"name"`
	ContentType string                        `json:"contentType,omitempty"`
	Size        int64                         `json:"size"`
	SHA256      string                        `json:"sha256"` // lower-case hex
	Open        func() (io.ReadCloser, error) `json:"-"`
}

// Names are a custom field's names by language.
type Names struct {
	De string `json:"de"`
	En string `json:"en"`
	Fr string `json:"fr"`
	It string `json:"it"`
}

func (n *Names) at(i int) *string { return [...]*string{&n.De, &n.En, &n.Fr, &n.It}[i] }

var languages = [...]string{"de", "en", "fr", "it"}

// Link is a payment link (S1 2.1). Creation answers without status, and with reservation and privacy_policy; retrieval the
// other way round. The Handler sees to that: a Service fills in everything.
type Link struct {
	ID                               int64    `json:"id"`
	Status                           Status   `json:"status,omitempty"`
	Hash                             *string  `json:"hash"`
	ReferenceID                      string   `json:"referenceId" wire:"nullable"`
	Link                             *string  `json:"link"` // the page
	Invoices                         Invoices `json:"invoices" wire:"nullable"`
	PreAuthorization                 Bit      `json:"preAuthorization" wire:"nullable"`
	Reservation                      *Bit     `json:"reservation,omitempty"`
	Name                             string   `json:"name" wire:"nullable"`
	API                              bool     `json:"api" wire:"nullable"`
	Fields                           Fields   `json:"fields" wire:"nullable"`
	PSP                              Provider `json:"psp" wire:"nullable"`
	PM                               []string `json:"pm"`
	Purpose                          string   `json:"purpose" wire:"nullable"`
	Amount                           int64    `json:"amount"` // cents
	VatRate                          Percent  `json:"vatRate" wire:"nullable"`
	Currency                         string   `json:"currency" wire:"nullable"`
	SKU                              string   `json:"sku" wire:"nullable"`
	SubscriptionState                bool     `json:"subscriptionState" wire:"nullable"`
	SubscriptionInterval             string   `json:"subscriptionInterval" wire:"nullable"`
	SubscriptionPeriod               string   `json:"subscriptionPeriod" wire:"nullable"`
	SubscriptionPeriodMinAmount      Cents    `json:"subscriptionPeriodMinAmount" wire:"nullable"` // an integer on retrieval, a text on creation
	SubscriptionCancellationInterval string   `json:"subscriptionCancellationInterval" wire:"nullable"`
	CreatedAt                        int64    `json:"createdAt" wire:"nullable"` // unix seconds

	Operation *wire.Pending `json:"-"` // of a reading: what is stored about the link and not answered yet; it stands beside the record
}

// Created answers a create. Operation is set where the request is stored and not yet answered by the backend: then ID is from
// FirstLocalID up, Hash and Link are nil.
type Created struct {
	Link
	Operation *wire.Pending `json:"operation,omitempty"`
}

// Deleted answers a delete.
type Deleted struct {
	ID        int64         `json:"id"`
	Operation *wire.Pending `json:"operation,omitempty"`
}

// Fields is the contact-field configuration of a link.
type Fields struct {
	Title         Field       `json:"title"`
	Forename      Field       `json:"forename"`
	Surname       Field       `json:"surname"`
	Company       Field       `json:"company"`
	Street        Field       `json:"street"`
	Postcode      Field       `json:"postcode"`
	Place         Field       `json:"place"`
	Country       Field       `json:"country"`
	Phone         Field       `json:"phone"`
	Email         Field       `json:"email"`
	DateOfBirth   Field       `json:"date_of_birth"`
	Terms         Field       `json:"terms"`
	CustomField1  CustomField `json:"custom_field_1"`
	CustomField2  CustomField `json:"custom_field_2"`
	CustomField3  CustomField `json:"custom_field_3"`
	PrivacyPolicy *Field      `json:"privacy_policy,omitempty"`
}

// UnmarshalJSON implements json.Unmarshaler. What a foreign service writes there in another shape leaves its field off: how a
// page looks must not cost the link.
func (f *Fields) UnmarshalJSON(data []byte) error {
	type plain Fields
	_ = json.Unmarshal(data, (*plain)(f)) // what fits is in
	return nil
}

// Field is one contact field.
type Field struct {
	Active    bool `json:"active"`
	Mandatory bool `json:"mandatory"`
}

// CustomField is a contact field the merchant names.
type CustomField struct {
	Active    bool  `json:"active"`
	Mandatory bool  `json:"mandatory"`
	Names     Names `json:"names"`
}

// Invoice is one item of a link: what came of a customer's visit.
type Invoice struct {
	Number           string        `json:"number,omitempty"`
	ReferenceID      string        `json:"referenceId,omitempty"`
	PaymentRequestID int64         `json:"paymentRequestId,omitempty"` // the link
	Amount           int64         `json:"amount,omitempty"`           // cents
	Currency         string        `json:"currency,omitempty"`
	Transactions     []Transaction `json:"transactions,omitempty"` // id, uuid, status and time at least
}

// Invoices are a link's items. What a foreign service writes there in another shape is left out: it must not cost the link.
type Invoices []Invoice

// MarshalJSON implements json.Marshaler: no items are [].
func (i Invoices) MarshalJSON() ([]byte, error) {
	if len(i) == 0 {
		return []byte("[]"), nil
	}
	return json.Marshal([]Invoice(i))
}

// UnmarshalJSON implements json.Unmarshaler.
func (i *Invoices) UnmarshalJSON(data []byte) error {
	*i = nil
	var raw []json.RawMessage
	if json.Unmarshal(data, &raw) != nil {
		return nil
	}
	for _, r := range raw {
		var item Invoice
		if wire.Decode(r, &item) == nil {
			*i = append(*i, item)
		}
	}
	return nil
}

// ChargeRequest charges a pre-authorized or reserved transaction (S1 4.1).
type ChargeRequest struct {
	Amount      *int64 `json:"amount,omitempty"` // cents; nil = all of it
	Purpose     string `json:"purpose,omitempty"`
	ReferenceID string `json:"referenceId,omitempty"` // appears in the transaction's webhook
}

// RefundRequest gives money back.
type RefundRequest struct {
	Amount *int64 `json:"amount,omitempty"` // cents; nil = all that is left
}

// Done answers a charge, capture or refund: the reduced record (S1 2.2). Operation is set where the request is stored and not
// yet answered by the backend; Status is then empty.
type Done struct {
	ID        int64         `json:"id"`
	UUID      string        `json:"uuid" wire:"nullable"`
	Time      string        `json:"time" wire:"nullable"`
	Status    Status        `json:"status" wire:"nullable"`
	Lang      string        `json:"lang" wire:"nullable"`
	PSP       string        `json:"psp" wire:"nullable"`
	Operation *wire.Pending `json:"operation,omitempty"`
}

// Transaction is what a customer's visit came to (S1 2.2).
type Transaction struct {
	ID          int64               `json:"id"`
	UUID        string              `json:"uuid" wire:"nullable"`
	Status      Status              `json:"status"`
	Time        string              `json:"time" wire:"nullable"` // TimeLayout, UTC
	Lang        string              `json:"lang" wire:"nullable"`
	PageUUID    string              `json:"pageUuid" wire:"nullable"`
	Payment     *Payment            `json:"payment"`
	PSP         string              `json:"psp" wire:"nullable"`
	PSPID       int64               `json:"pspId" wire:"nullable"`
	Mode        string              `json:"mode" wire:"nullable"` // LIVE, TEST
	ReferenceID string              `json:"referenceId" wire:"nullable"`
	Invoice     *TransactionInvoice `json:"invoice"`
	Contact     *Person             `json:"contact"`
}

// Payment says what was paid with.
type Payment struct {
	Brand string `json:"brand" wire:"nullable"`
}

// TransactionInvoice is what was bought. The last four are not in the specification's table; the service's webhooks have them.
type TransactionInvoice struct {
	CurrencyAlpha3   string       `json:"currencyAlpha3" wire:"nullable"`
	Products         []Product    `json:"products"`
	Discount         *Discount    `json:"discount"`
	ShippingAmount   int64        `json:"shippingAmount" wire:"nullable"` // cents
	TotalAmount      int64        `json:"totalAmount"`                    // cents
	CustomFields     CustomFields `json:"customFields" wire:"nullable"`
	PaymentRequestID int64        `json:"paymentRequestId,omitempty"` // the link's id
	PaymentLink      *PageLink    `json:"paymentLink,omitempty"`
	OriginalAmount   *int64       `json:"originalAmount,omitempty"` // cents
	RefundedAmount   *int64       `json:"refundedAmount,omitempty"` // cents
}

// Product is one line.
type Product struct {
	Quantity int64  `json:"quantity" wire:"nullable"`
	Name     string `json:"name"`
	Amount   int64  `json:"amount"` // cents
}

// Discount was given on the whole.
type Discount struct {
	Code       string `json:"code" wire:"nullable"`
	Percentage int64  `json:"percentage" wire:"nullable"`
	Amount     int64  `json:"amount" wire:"nullable"` // cents
}

// CustomValue is what a customer wrote into a custom field.
type CustomValue struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// CustomFields are what customers wrote into custom fields, by field id. Nothing is null, and understood as [] too.
type CustomFields map[string]CustomValue

// UnmarshalJSON implements json.Unmarshaler.
func (c *CustomFields) UnmarshalJSON(data []byte) error {
	*c = nil
	if text := string(bytes.TrimSpace(data)); text == "null" || strings.Join(strings.Fields(text), "") == "[]" {
		return nil
	}
	return wire.Decode(data, (*map[string]CustomValue)(c))
}

// PageLink names the link a transaction came from.
type PageLink struct {
	Hash        string `json:"hash,omitempty"`
	ReferenceID string `json:"referenceId,omitempty"`
	Email       string `json:"email,omitempty"`
}

// Person is the contact a customer gave.
type Person struct {
	ID                 int64  `json:"id" wire:"nullable"`
	UUID               string `json:"uuid" wire:"nullable"`
	Company            string `json:"company" wire:"nullable"`
	Title              string `json:"title" wire:"nullable"`
	FirstName          string `json:"firstname" wire:"nullable"`
	LastName           string `json:"lastname" wire:"nullable"`
	Street             string `json:"street" wire:"nullable"`
	Zip                string `json:"zip" wire:"nullable"`
	Place              string `json:"place" wire:"nullable"`
	Country            string `json:"country" wire:"nullable"`
	CountryISO         string `json:"countryISO" wire:"nullable"`
	DateOfBirth        string `json:"date_of_birth" wire:"nullable"`
	Email              string `json:"email" wire:"nullable"`
	Phone              string `json:"phone" wire:"nullable"`
	DeliveryCompany    string `json:"delivery_company" wire:"nullable"`
	DeliveryTitle      string `json:"delivery_title" wire:"nullable"`
	DeliveryFirstName  string `json:"delivery_firstname" wire:"nullable"`
	DeliveryLastName   string `json:"delivery_lastname" wire:"nullable"`
	DeliveryStreet     string `json:"delivery_street" wire:"nullable"`
	DeliveryZip        string `json:"delivery_zip" wire:"nullable"`
	DeliveryPlace      string `json:"delivery_place" wire:"nullable"`
	DeliveryCountry    string `json:"delivery_country" wire:"nullable"`
	DeliveryCountryISO string `json:"delivery_countryISO" wire:"nullable"`
}

// ContentType of every answer, to the letter: some clients compare it as a text.
const ContentType = "application/json"

// TimeLayout is how times are written (S1 2.2), in UTC.
const TimeLayout = time.DateTime

// Filter picks transactions of a list, oldest first unless Offset and Limit say otherwise. Zero fields pick nothing out.
type Filter struct {
	After  time.Time // later than, to the second
	Before time.Time // earlier than
	Offset int64     // rows to pass over
	Limit  int64     // rows at most; 0 = the service's own limit
}
