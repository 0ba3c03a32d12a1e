package backend

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"posagent/schemes/backend/aapay"
	"posagent/schemes/backend/books/journal"
	"posagent/schemes/backend/hosted"
	"posagent/schemes/backend/paylinks"
	"posagent/schemes/backend/payments"
	"posagent/schemes/backend/webhooks"
	"posagent/store"
	"posagent/store/move"
)

// Survey is what a doctor reads of the books.
type Survey struct {
	Lacks int    // steps of this program that the tables do not have; what follows is not read then
	Newer string // a step that this program does not know, "" = none; what follows is not read then

	Sealed bool  // what is secret in them was sealed under a key
	Moved  error // why they take no work, nil = they take some (move.Check)

	Crooked []string // transactions whose postings do not sum to zero
	Looked  int      // transactions that were summed
	Lag     webhooks.Lag
	Due     map[string]int64 // by room: when the next one is to move by time alone, unix ms; 0 = none

	mac []byte // the key of the row MACs, wrapped
}

// SurveyPostings bounds how many postings of a service are summed.
const SurveyPostings = 20_000

// surveyLate is how long a delivery may be due before it counts as late: a sender may be busy with another one.
const surveyLate = time.Minute

// ReadSurvey reads the books in a place. It changes nothing, makes no key, and its work does not grow with them. now is the moment that
// late is judged by.
func ReadSurvey(ctx context.Context, p Place, now time.Time) (s Survey, err error) {
	db, err := p.read(ctx)
	if err != nil {
		return s, err
	}
	defer db.Close()
	if err := db.Read(ctx, func(r store.Reader) (err error) {
		s.Lacks, s.Newer, err = stepsOf(r)
		return err
	}); err != nil || s.Lacks > 0 || s.Newer != "" {
		return s, err
	}
	s.Moved = move.Check(ctx, db)
	err = db.Read(ctx, func(r store.Reader) error { return s.read(r, now.UnixMilli()) })
	return s, err
}

// stepsOf compares the steps that were applied with those of this program.
func stepsOf(r store.Reader) (lacks int, newer string, err error) {
	applied, err := store.Column[string](r, "SELECT name FROM store_steps ORDER BY version")
	if err != nil {
		return 0, "", err
	}
	known := []string{}
	for _, st := range Schema() {
		if known = append(known, st.Name); !slices.Contains(applied, st.Name) {
			lacks++
		}
	}
	for _, name := range applied {
		if !slices.Contains(known, name) && !strings.HasPrefix(name, "store/") {
			newer = name
		}
	}
	return lacks, newer, nil
}

func (s *Survey) read(r store.Reader, now int64) (err error) {
	s.Crooked, s.Looked, s.Due = nil, 0, map[string]int64{}
	err = r.QueryRow("SELECT value FROM store_meta WHERE name = 'mac_key'").Scan(&s.mac)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	s.Sealed = err == nil
	for _, service := range []string{aapay.Service, paylinks.Service, payments.Service, hosted.Service} {
		crooked, looked, err := journal.Crooked(r, service, SurveyPostings)
		if err != nil {
			return err
		}
		s.Crooked, s.Looked = append(s.Crooked, crooked...), s.Looked+looked
	}
	if s.Lag, err = webhooks.Behind(r, now-surveyLate.Milliseconds(), now); err != nil {
		return err
	}
	for name, due := range map[string]func(store.Reader) (int64, error){"wallets": aapay.Due, "links": paylinks.Due, "cards": payments.Due, "sessions": hosted.Due} {
		if s.Due[name], err = due(r); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// Fits says whether the key in a backend's directory is the one that the surveyed books were sealed under: ErrKey where it is another one
// or is not whole, fs.ErrNotExist where there is none. It makes none.
func (s Survey) Fits(dir string) error {
	path := filepath.Join(dir, KeyName)
	if _, err := os.Lstat(path); err != nil {
		return err
	}
	k, err := readKey(path)
	if err == nil && s.Sealed {
		_, err = k.Unwrap(s.mac)
	}
	return err
}

// CheckKey says what is wrong with the key file in a backend's directory; nil where there is none.
func CheckKey(dir string) error {
	if err := (Survey{}).Fits(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// CheckSeed says why a seed cannot be used (Config.Seed).
func CheckSeed(seed string) error {
	_, err := readSeed(seed)
	return err
}
