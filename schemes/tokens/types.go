package tokens

import "posagent/schemes/wire"

// Recurring types (S0 2.5).
const (
	Subscription = "Subscription"
	CardOnFile   = "CardOnFile"
)

// CreateRequest is the body of POST / (S0 2.5). Write it with wire.Encode; json.Marshal refuses card numbers.
type CreateRequest struct {
	TokenSecret          wire.Secret           `json:"tokenSecret,omitempty"`
	ReturnURL            string                `json:"returnUrl,omitempty"`
	Description          string                `json:"description,omitempty" wire:"masked"`
	PayPageConfiguration *PayPageConfiguration `json:"payPageConfiguration,omitempty"`
	OrderDescription     string                `json:"orderDescription,omitempty" wire:"masked"`
	CardDetails          *CardDetails          `json:"cardDetails,omitempty"`
}

// PayPageConfiguration chooses the hosted page's language (S0 2.4.3).
type PayPageConfiguration struct {
	Language string `json:"language,omitempty"` // one of check.PageLanguages
}

// CardDetails is a card.
type CardDetails struct {
	PAN            wire.PAN    `json:"pan" wire:"required"`
	ExpiryYear     int32       `json:"expiryYear" wire:"required"`  // four digits
	ExpiryMonth    int32       `json:"expiryMonth" wire:"required"` // 1 to 12
	ValidationCode wire.Secret `json:"validationCode,omitempty"`
}

// RecurringRequest is the body of POST /recurring (S0 2.5). Write it with wire.Encode.
type RecurringRequest struct {
	TokenSecret          wire.Secret           `json:"tokenSecret,omitempty"`
	ReturnURL            string                `json:"returnUrl,omitempty"`
	Description          string                `json:"description,omitempty" wire:"masked"`
	PayPageConfiguration *PayPageConfiguration `json:"payPageConfiguration,omitempty"`
	OrderDescription     string                `json:"orderDescription,omitempty" wire:"masked"`
	RecurringType        string                `json:"recurringType,omitempty" wire:"given"` // Subscription or CardOnFile; "" = Subscription
	OrderNumber          string                `json:"orderNumber,omitempty"`
	Amount               int32                 `json:"amount,omitempty" wire:"given"` // minor units, the most one payment may take; 0 = no limit
	CurrencyCode         string                `json:"currencyCode,omitempty" wire:"given"`
	RecurringExpiryDate  string                `json:"recurringExpiryDate,omitempty" wire:"given"` // check.DateLayout, the last good day; "" = none
	RecurringFrequency   int32                 `json:"recurringFrequency,omitempty" wire:"given"`  // days between two payments; 0 = no limit
}

// Created answers create, recurring and verify.
type Created struct {
	TokenizationID string        `json:"tokenizationId" wire:"required"`
	Operation      *wire.Pending `json:"operation,omitempty"`
}

// TokenReply answers a look-up. Write it with wire.Encode.
type TokenReply struct {
	Token wire.Secret `json:"token" wire:"required"`
}
