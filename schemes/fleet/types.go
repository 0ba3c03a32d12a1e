package fleet

import "posagent/schemes/wire"

// RedeemRequest is what a new terminal sends. Write it with wire.Encode.
type RedeemRequest struct {
	Code         wire.Secret `json:"code" wire:"required"` // as ParseCode reads it
	CSR          string      `json:"csr" wire:"required"`  // PEM, as NewRequest makes it
	SerialNumber string      `json:"serialNumber" wire:"required"`
	Version      string      `json:"version,omitempty"` // of the terminal's program
}

// Issued answers a redeemed code.
type Issued struct {
	EnrolmentID   string   `json:"enrolmentId" wire:"required"`
	Certificate   string   `json:"certificate" wire:"required"` // PEM, the device's own
	Authority     string   `json:"authority" wire:"required"`   // PEM, of the fleet: its fingerprint stands in the ticket
	ExpiresAt     string   `json:"expiresAt" wire:"required"`   // RFC 3339, the certificate's last moment
	Configuration Revision `json:"configuration" wire:"required"`
}

// Revision is one configuration of one terminal.
type Revision struct {
	Number    int64       `json:"number" wire:"required"` // from 1, higher is newer
	Text      wire.Secret `json:"text" wire:"required"`   // TOML; it may hold credentials
	Signature string      `json:"signature" wire:"required"`
}

// ConfirmRequest says that the terminal works with a configuration.
type ConfirmRequest struct {
	Revision int64 `json:"revision" wire:"required"`
}

// ConfirmReply answers it.
type ConfirmReply struct {
	EnrolmentID string `json:"enrolmentId" wire:"required"`
	State       State  `json:"state" wire:"required"` // Confirmed
	Revision    int64  `json:"revision" wire:"required"`
	Superseded  int32  `json:"superseded"` // earlier certificates of the box or the terminal that this enrolment has revoked
}

// RenewRequest asks for the certificate that follows one. Write it with wire.Encode.
type RenewRequest struct {
	ExpiresAt string `json:"expiresAt" wire:"required"` // RFC 3339, of the certificate that the device has
}

// Renewed answers it: the newest certificate of the device, which is the one it has where no other is due.
type Renewed struct {
	Certificate string `json:"certificate" wire:"required"` // PEM
	ExpiresAt   string `json:"expiresAt" wire:"required"`   // RFC 3339, its last moment
}

// Slot is whom a terminal belongs to. Each field may be absent.
type Slot struct {
	MerchantID string `json:"merchantId,omitempty"`
	TerminalID string `json:"terminalId,omitempty"`
	BaxID      string `json:"baxId,omitempty"`
}

// CodeRequest asks for a code. Write it with wire.Encode.
type CodeRequest struct {
	Slot          Slot        `json:"slot,omitzero"`
	SerialNumber  string      `json:"serialNumber,omitempty"`  // the one box that may redeem it; "" = any
	TTLSeconds    int32       `json:"ttlSeconds,omitempty"`    // 60 to MaxTTL; 0 = an hour
	Configuration wire.Secret `json:"configuration,omitempty"` // TOML; "" = the backend's own
	Bundle        bool        `json:"bundle,omitempty"`        // make a bundle file, too, for a box without a network; wants a serial number
}

// CodeReply answers it. The code is in this answer alone: the service keeps its digest.
type CodeReply struct {
	Enrolment   Enrolment   `json:"enrolment" wire:"required"`
	Code        wire.Secret `json:"code" wire:"required"`
	URL         string      `json:"url" wire:"required"`         // where the terminal finds the service
	Fingerprint string      `json:"fingerprint" wire:"required"` // of the fleet's authority: SHA-256 in hexadecimal
	Bundle      wire.Secret `json:"bundle,omitempty"`            // the bundle file in base64, sealed under the code
	Unused      []Unused    `json:"unused,omitempty"`            // other codes for the same terminal
}

// Unused is a code for a terminal that no device has shown yet, and that still can be.
type Unused struct {
	EnrolmentID  string `json:"enrolmentId" wire:"required"`
	SerialNumber string `json:"serialNumber,omitempty"` // the one box that may redeem it
	ExpiresAt    string `json:"expiresAt" wire:"required"`
}

// Enrolment is one code and what became of it, for the operator. Times are RFC 3339, "" = not yet.
type Enrolment struct {
	ID                   string `json:"id" wire:"required"`
	State                State  `json:"state" wire:"required"`
	Reason               string `json:"reason,omitempty"` // why it was revoked
	Slot                 Slot   `json:"slot,omitzero"`
	SerialNumber         string `json:"serialNumber,omitempty"`
	CreatedAt            string `json:"createdAt" wire:"required"`
	ExpiresAt            string `json:"expiresAt" wire:"required"` // the code's last moment
	RedeemedAt           string `json:"redeemedAt,omitempty"`
	ConfirmedAt          string `json:"confirmedAt,omitempty"`
	RevokedAt            string `json:"revokedAt,omitempty"`
	Device               string `json:"device,omitempty"` // SHA-256 of its public key in hexadecimal
	Certificate          string `json:"certificate,omitempty"`
	CertificateExpiresAt string `json:"certificateExpiresAt,omitempty"`
	Version              string `json:"version,omitempty"`           // of the terminal's program, as it said last
	Revision             int64  `json:"revision,omitempty"`          // the newest
	ConfirmedRevision    int64  `json:"confirmedRevision,omitempty"` // what the terminal said it works with
	Bundle               bool   `json:"bundle,omitempty"`            // a bundle file was made with the code: a box may run on it already

	RefusedRevision int64  `json:"refusedRevision,omitempty"` // a newer one that the terminal does not work with, or has given up
	Refusal         string `json:"refusal,omitempty"`         // why

	Update Outcome `json:"update,omitzero"` // how the last update of its program ended, where one did; in a list alone
}

// ImportRequest asks for one code for each box of a list.
type ImportRequest struct {
	TTLSeconds int32       `json:"ttlSeconds,omitempty"`
	Boxes      []ImportBox `json:"boxes" wire:"required"` // 1 to MaxBoxes
}

// ImportBox is one box.
type ImportBox struct {
	SerialNumber string `json:"serialNumber" wire:"required"`
	Slot         Slot   `json:"slot,omitzero"`
}

// ImportReply answers it, in the order of the request.
type ImportReply struct {
	Codes       []ImportedCode `json:"codes" wire:"required"`
	URL         string         `json:"url" wire:"required"`
	Fingerprint string         `json:"fingerprint" wire:"required"`
}

// ImportedCode is a code of a list.
type ImportedCode struct {
	SerialNumber string      `json:"serialNumber" wire:"required"`
	EnrolmentID  string      `json:"enrolmentId" wire:"required"`
	Code         wire.Secret `json:"code,omitempty"` // "" = the box has a code already that is still fresh
	ExpiresAt    string      `json:"expiresAt" wire:"required"`
	Unused       []Unused    `json:"unused,omitempty"` // other codes for the same terminal
}

// ListRequest asks for the newest thousand enrolments.
type ListRequest struct {
	State        State  `query:"state" json:"-"`
	SerialNumber string `query:"serialNumber" json:"-"`
}

// ListReply answers it, the newest first.
type ListReply struct {
	Enrolments []Enrolment `json:"enrolments" wire:"required"`
}

// ConfigureRequest gives a terminal a newer configuration. Write it with wire.Encode.
type ConfigureRequest struct {
	ID            string      `path:"enrolmentId" json:"-"`
	Configuration wire.Secret `json:"configuration" wire:"required"` // TOML
}

// RevokeRequest takes a code, and the certificate that it gave, back.
type RevokeRequest struct {
	ID     string `path:"enrolmentId" json:"-"`
	Reason string `json:"reason,omitempty"`
}
