package exam

import (
	"encoding/json"
	"time"

	"posagent/device/file"
)

// Held is what an earlier examination found of one check.
type Held struct {
	Status Status      `json:"status"`
	Since  time.Time   `json:"since"`
	Bad    []time.Time `json:"bad,omitempty"` // when it began to fail, the newest last
}

const (
	holdDown = 10 * time.Minute // after a failure a check that flips is shown
	flips    = 2                // failures within holdDown that make it one that flips
	keepBad  = 5
	maxFile  = 1 << 20 // bytes of a file that is read
)

// Hold gives each result the time since when it stands, and shows a passing check that failed again and again lately as a warning.
// It returns what the next examination needs. Skipped checks, and those that were not run, keep what was known.
func Hold(before map[string]Held, results []Result, now time.Time) (after map[string]Held) {
	after = map[string]Held{}
	for id, h := range before {
		after[id] = h
	}
	for i := range results {
		r := &results[i]
		if r.Status == Skip {
			r.Since = now
			continue
		}
		h, known := before[r.ID]
		if !known || h.Status != r.Status || h.Since.After(now) {
			h.Since = now
			if r.Status == Fail {
				h.Bad = append(h.Bad, now)
			}
		}
		h.Status = r.Status
		recent := h.Bad[:0:0]
		for _, at := range h.Bad {
			if age := now.Sub(at); age >= 0 && age < holdDown {
				recent = append(recent, at)
			}
		}
		h.Bad = recent[max(0, len(recent)-keepBad):]
		after[r.ID] = h
		r.Since = h.Since
		if r.Status == Pass && len(h.Bad) >= flips {
			r.Status, r.Remedy = Warn, r.usual
			r.Evidence["flips"] = "passes now, and failed " + h.Bad[0].UTC().Format(time.TimeOnly) + " to " + h.Bad[len(h.Bad)-1].UTC().Format(time.TimeOnly) + " UTC again and again"
		}
	}
	return after
}

// ReadHeld reads the file of an earlier examination; nothing where there is none, or none that can be read.
func ReadHeld(path string) (held map[string]Held) {
	data, _, err := file.Read(path, file.NoFollow, maxFile)
	if err != nil || json.Unmarshal(data, &held) != nil {
		return nil
	}
	return held
}

// WriteHeld replaces the file. The examination does not depend on it.
func WriteHeld(path string, held map[string]Held) error {
	data, err := json.Marshal(held)
	if err != nil {
		return err
	}
	return file.Put(path, 0o600, data)
}
