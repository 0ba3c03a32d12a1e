package update

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"posagent/device/file"
)

const recordSchema = "posagent.update-record/1"

// record is what outlives this program. It lies in a directory of root's.
type record struct {
	Schema string `json:"schema"`
	Box    string `json:"box"` // a random word: which part of a staged release this box belongs to
	State  State  `json:"state"`

	From    program   `json:"from,omitzero"` // the program before
	To      program   `json:"to,omitzero"`
	Before  condition `json:"before,omitzero"`  // the terminal's, before
	Resumed int       `json:"resumed,omitzero"` // how often the trial was cut off
	Reason  string    `json:"reason,omitzero"`  // why the program before is put back
	Unbegun bool      `json:"unbegun,omitzero"` // nothing is known of the new program: it never ran, or its trial says nothing
	Away    []string  `json:"away,omitempty"`   // what it failed for, where the network or the backend may have done all that: the one before is asked, too

	Tries map[string]try `json:"tries,omitempty"` // versions that were taken back
	Seen  seen           `json:"seen,omitzero"`
	Last  Outcome        `json:"last,omitzero"`
}

// program is one that is or was in place.
type program struct {
	Version string `json:"version"`
	SHA256  string `json:"sha256"`
}

// try counts what a version has failed.
type try struct {
	Count  int       `json:"count"`
	Cuts   int       `json:"cuts,omitempty"` // trials that were cut off again and again
	Last   time.Time `json:"last"`
	Reason string    `json:"reason"`
}

// seen is the newest that a repository has shown. An older state of it is refused even where the copies of its metadata are lost.
type seen struct {
	Root      int64 `json:"root"`
	Timestamp int64 `json:"timestamp"`
	Snapshot  int64 `json:"snapshot"`
	Targets   int64 `json:"targets"`
	// Signed is when the repository's keys signed it, by their clock; zero = it does not say. No clock of a box is right and before that.
	Signed time.Time `json:"signed,omitzero"`
	At     time.Time `json:"at"` // when it was shown, by this box's clock: for people alone, it may have been wrong
}

// SignedField is where the timestamp of a repository says when it was signed (RFC 3339).
const SignedField = "x-posagent-signed"

// Outcome is how the last update ended.
type Outcome struct {
	From   string    `json:"from"`
	To     string    `json:"to"`
	Kept   bool      `json:"kept"` // false = it was taken back
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at"`
}

const recordName = "record.json"

// maxRecord bounds a record that is read.
const maxRecord = 1 << 20

// load reads the record, or makes a first one.
func load(dir string) (record, error) {
	data, err := os.ReadFile(filepath.Join(dir, recordName))
	if errors.Is(err, fs.ErrNotExist) {
		return record{Schema: recordSchema, Box: rand.Text(), State: Idle}, nil
	}
	if err != nil {
		return record{}, err
	}
	var r record
	if len(data) > maxRecord {
		return record{}, fmt.Errorf("%w: it is too long", ErrRecord)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return record{}, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if _, known := moves[r.State]; r.Schema != recordSchema || !known || r.Box == "" {
		return record{}, fmt.Errorf("%w: schema %q, state %q", ErrRecord, r.Schema, r.State)
	}
	return r, nil
}

// save makes the record durable.
func (r record) save(dir string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return file.Replace(filepath.Join(dir, recordName), 0o600, func(f *os.File) error {
		_, err := f.Write(append(data, '\n'))
		return errors.Join(err, f.Chmod(0o644)) // anybody may read what the last update came to
	})
}
