package onboarding

import "posagent/schemes/wire"

// Status is where an application stands (S0 3).
type Status string

// The statuses. None is before the application exists.
const (
	None              Status = ""
	Initiated         Status = "INITIATED"
	AwaitingSignature Status = "AWAITING_SIGNATURE"
	SignatureFailed   Status = "SIGNATURE_FAILED"
	Processing        Status = "PROCESSING"
	Approved          Status = "APPROVED"
	Abandoned         Status = "ABANDONED"
)

// Reasons of a failed signature (S0 3, 6.5).
const (
	ReasonFailed    = "failed"
	ReasonExpired   = "expired"
	ReasonCancelled = "cancelled"
)

// Application is what the caller says about a merchant. Write it with wire.Encode.
type Application struct {
	Reference     string         `json:"reference,omitempty"` // the caller's own
	Merchant      *Merchant      `json:"merchant,omitempty"`
	Notifications *Notifications `json:"notifications,omitempty"`
}

// Merchant is who applies: the fields of a company (S0 2.4.2).
type Merchant struct {
	RegistrationNumber string   `json:"registrationNumber,omitempty"`
	CompanyName        string   `json:"companyName,omitempty" wire:"masked"`
	ContactFirstName   string   `json:"contactFirstName,omitempty" wire:"masked"` // who signs
	ContactLastName    string   `json:"contactLastName,omitempty" wire:"masked"`
	Address            *Address `json:"address,omitempty"`
	Email              string   `json:"email,omitempty" wire:"masked"`
	Phone              string   `json:"phone,omitempty"`
}

// Address is a postal address; CountryCode is ISO 3166-1 alpha-2.
type Address struct {
	Address1    string `json:"address1,omitempty" wire:"masked"`
	Address2    string `json:"address2,omitempty" wire:"masked"`
	City        string `json:"city,omitempty" wire:"masked"`
	PostalCode  string `json:"postalCode,omitempty" wire:"masked"`
	CountryCode string `json:"countryCode,omitempty"`
}

// Notifications lists the webhooks of this application (S0 6.1).
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

// State is an application as it stands.
type State struct {
	OnboardingID   int64     `json:"onboardingId" wire:"required"`
	Status         Status    `json:"status" wire:"required"`
	Reason         string    `json:"reason,omitempty"`         // of the failed signature
	MerchantID     string    `json:"merchantId"`               // UUID
	MerchantNumber int64     `json:"merchantNumber,omitempty"` // 0 = none
	Created        string    `json:"created"`                  // RFC 3339
	Updated        string    `json:"updated"`                  // RFC 3339, of the last change
	Reference      string    `json:"reference,omitempty"`
	Merchant       *Merchant `json:"merchant,omitempty"`
}
