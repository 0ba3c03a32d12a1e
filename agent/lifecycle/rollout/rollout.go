package rollout

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"posagent/device/file"
)

// maxFile bounds what is read, in bytes: fifty versions of 64 characters fit.
const maxFile = 32 << 10

// Outcome is how the last update of a program ended on this box (posagent.update-outcome/1).
type Outcome struct {
	Schema  string `json:"schema"`
	Version string `json:"version"` // that was tried
	Kept    bool   `json:"kept"`    // false = it was taken back
	Reason  string `json:"reason,omitempty"`
	At      string `json:"at"` // RFC 3339
}

const outcomeSchema = "posagent.update-outcome/1"

func outcomePath(program string) string { return program + ".outcome" }

// Leave writes an outcome beside the program, for everybody to read.
func (o Outcome) Leave(program string) error {
	o.Schema = outcomeSchema
	data, err := text(o)
	if err != nil {
		return err
	}
	return write(outcomePath(program), data, 0o644)
}

// Last reads the outcome that lies beside a program; the zero value where there is none.
func Last(program string) (Outcome, error) {
	var o Outcome
	there, err := read(outcomePath(program), &o)
	if err == nil && there && o.Schema != outcomeSchema {
		err = fmt.Errorf("%s is damaged", outcomePath(program))
	}
	if err != nil {
		return Outcome{}, err
	}
	return o, nil
}

// Hold is a version that the fleet holds.
type Hold struct {
	Version   string `json:"version"`
	TakenBack int32  `json:"takenBack"` // boxes
	Tried     int32  `json:"tried"`     // boxes
}

// holds is the terminal's file.
type holds struct {
	Schema string `json:"schema"`
	Held   []Hold `json:"held"`
	SHA256 string `json:"sha256"` // of the list: a spoilt byte must not make it a shorter one
}

// sum is what SHA256 has to be.
func (h holds) sum() (string, error) {
	data, err := json.Marshal(h.Held)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), err
}

const holdsSchema = "posagent.held/1"

func holdsPath(state string) string { return filepath.Join(state, "enrolment", "held.json") }

// Keep keeps what the fleet holds in the terminal's state directory, in place of what it held before. What is kept already is not
// written again.
func Keep(state string, list []Hold) error {
	path := holdsPath(state)
	if len(list) == 0 {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	h := holds{Schema: holdsSchema, Held: list}
	var err error
	if h.SHA256, err = h.sum(); err != nil {
		return err
	}
	data, err := text(h)
	if err != nil {
		return err
	}
	if was, _, err := file.Read(path, file.NoFollow, maxFile); err == nil && bytes.Equal(was, data) {
		return nil
	}
	return write(path, data, 0o600)
}

// Held says why the terminal in a state directory must not take a version by itself; "" = it may.
func Held(state, version string) string {
	var h holds
	path := holdsPath(state)
	there, err := read(path, &h)
	sum, bad := h.sum()
	if err != nil || bad != nil || there && (h.Schema != holdsSchema || h.SHA256 != sum) {
		return "what the fleet holds cannot be read in " + path + ", which the terminal writes anew once its fleet answers"
	}
	for _, one := range h.Held {
		if one.Version == version {
			return fmt.Sprintf("%d of %d boxes took it back", one.TakenBack, one.Tried)
		}
	}
	return ""
}

// read reads a file of JSON, which may not be there. The error repeats nothing of the file.
func read(path string, into any) (there bool, err error) {
	data, _, err := file.Read(path, file.NoFollow, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil && json.Unmarshal(data, into) != nil {
		err = fmt.Errorf("%s is damaged", path)
	}
	return true, err
}

func text(v any) ([]byte, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	return append(data, '\n'), err
}

func write(path string, data []byte, mode fs.FileMode) error {
	return file.Replace(path, 0o600, func(f *os.File) error {
		_, err := f.Write(data)
		return errors.Join(err, f.Chmod(mode))
	})
}
