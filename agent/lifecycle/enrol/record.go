package enrol

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"posagent/device"
	"posagent/device/file"
	"posagent/schemes/fleet"
	"posagent/schemes/wire"
)

// Enrolment is one code and what came of it.
type Enrolment struct {
	State        State       `json:"state"`
	URL          string      `json:"url"`         // of the service
	Fingerprint  string      `json:"fingerprint"` // of its authority, as the ticket says; "" = not known
	Code         wire.Secret `json:"code"`        // burned once it is confirmed
	SerialNumber string      `json:"serialNumber"`
	Key          wire.Secret `json:"key"` // PEM, PKCS #8

	ID          string         `json:"id,omitempty"`
	Certificate string         `json:"certificate,omitempty"` // PEM
	Authority   string         `json:"authority,omitempty"`   // PEM
	ExpiresAt   string         `json:"expiresAt,omitempty"`   // of the certificate, RFC 3339
	Offered     fleet.Revision `json:"offered,omitzero"`      // the configuration that is tried or confirmed
	Refusal     string         `json:"refusal,omitempty"`     // of the code before: the service's words
	Revoked     string         `json:"revoked,omitempty"`     // the service's words, once it has revoked the device
	Bundle      *Bundled       `json:"bundle,omitempty"`      // what a bundle gave; nil = the code came alone, or it is confirmed
}

// Revision is a configuration that was confirmed.
type Revision struct {
	Number int64       `json:"number"`
	Text   wire.Secret `json:"text"` // TOML
	At     string      `json:"at"`   // when it became active here, RFC 3339
}

// Kept is an enrolment with the configuration that was in use.
type Kept struct {
	Enrolment Enrolment `json:"enrolment"`
	Revision  Revision  `json:"revision"`
}

// Rejected is a newer revision that the terminal does not work with.
type Rejected struct {
	Number int64  `json:"number"`
	Since  string `json:"since,omitempty"` // RFC 3339, of the first trial that failed; "" = it was in use, and was given up
	Why    string `json:"why"`
}

// record is everything that is kept.
type record struct {
	Now       *Enrolment `json:"now,omitempty"`  // confirmed
	Next      *Enrolment `json:"next,omitempty"` // being made
	Revisions []Revision `json:"revisions,omitempty"`
	Active    int64      `json:"active,omitempty"`   // the number in use, 0 = none
	Previous  int64      `json:"previous,omitempty"` // the one before it, 0 = none
	Refused   int64      `json:"refused,omitempty"`  // the highest number that was given up
	Gave      int64      `json:"gave,omitempty"`     // the number that the active one was gone back to from: money may be open under it; 0 = none
	Rejected  *Rejected  `json:"rejected,omitempty"` // the newest that does not work here; nil = there is none
	Before    *Kept      `json:"before,omitempty"`   // what the terminal ran on before an enrolment that is not proven
	Waits     bool       `json:"waits,omitempty"`    // the active one is not in use yet: money is open under the one before
	Told      int64      `json:"told,omitempty"`     // the number that the service was last told
	Proven    bool       `json:"proven,omitempty"`   // the active one has made the terminal ready
	Starts    int        `json:"starts,omitempty"`   // with one that is not proven, and that have ended without a proof
	Short     int        `json:"short,omitempty"`    // of those, as were killed within seconds while the box had power
	Begun     string     `json:"begun,omitempty"`    // the boot of the one that has neither lasted nor ended, or excused; "" = none
	Ended     string     `json:"ended,omitempty"`    // why the last one ended, where it said so
	Made      string     `json:"made,omitempty"`     // when the newest bundle was made that was taken up, RFC 3339
	Barred    string     `json:"barred,omitempty"`   // when the newest bundle was made that is used up: confirmed, or refused
	Entries   []Entry    `json:"entries,omitempty"`  // what happened
}

// kept is how many revisions stay.
const kept = 10

// find returns the revision with a number.
func (r *record) find(number int64) (Revision, bool) {
	for _, rev := range r.Revisions {
		if rev.Number == number {
			return rev, true
		}
	}
	return Revision{}, false
}

const (
	fileName  = "record"
	fileMagic = "posagent-enrolment 1\n"
	maxRecord = 2 << 20 // bytes: ten configurations of fleet.MaxConfiguration, sealed
)

// ErrDamaged: the record is there and cannot be read. Decide with errors.Is.
var ErrDamaged = errors.New("enrol: the record of the enrolment cannot be read")

// Stamp changes with every change of the record. It costs less than reading it.
func (b *Box) Stamp() string {
	info, err := os.Stat(filepath.Join(b.dir, fileName))
	if err != nil {
		return ""
	}
	inode := uint64(0)
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		inode = st.Ino
	}
	return fmt.Sprint(inode, info.ModTime().UnixNano(), info.Size())
}

// read returns the record; nothing is kept yet where there is no file.
func (b *Box) read() (r record, err error) {
	path := filepath.Join(b.dir, fileName)
	data, _, err := file.Read(path, file.NoFollow, maxRecord) // root reads it, too, in another account's directory
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, nil
	case errors.Is(err, file.ErrIrregular) || errors.Is(err, file.ErrTooLong):
		return r, fmt.Errorf("%w: %w", ErrDamaged, err)
	case err != nil:
		return r, err
	}
	if len(data) < len(fileMagic) || string(data[:len(fileMagic)]) != fileMagic {
		return r, fmt.Errorf("%w: %s is none", ErrDamaged, path)
	}
	keys, err := device.LoadOwnersKeys(b.dir)
	if err != nil {
		return r, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	}
	plain, err := keys.Unwrap(data[len(fileMagic):])
	if err != nil {
		return r, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	}
	if err := json.Unmarshal(plain, &r); err != nil {
		return r, fmt.Errorf("%w: %s holds no enrolment", ErrDamaged, path)
	}
	return r, nil
}

// write makes a record durable.
func (b *Box) write(r record) error {
	keys, err := device.OpenKeys(b.dir)
	if err != nil {
		return err
	}
	plain, err := wire.Encode(r)
	if err != nil {
		return err
	}
	sealed, err := keys.Wrap(plain)
	if err != nil {
		return err
	}
	return file.Replace(filepath.Join(b.dir, fileName), 0o600, func(f *os.File) error {
		_, err := f.Write(append([]byte(fileMagic), sealed...))
		return err
	})
}
