package view

import (
	"fmt"
	"strings"
	"time"

	"posagent/agent/catalog"
	"posagent/agent/paylink"
	"posagent/schemes/methods"
	"posagent/store"
)

// Methods is what the terminal may be paid with (posagent.methods/1).
type Methods struct {
	Schema  string               `json:"schema"`
	Fetched *time.Time           `json:"fetched"` // null = never
	None    bool                 `json:"none"`    // the backend says there are none
	Methods []methods.Definition `json:"methods"`
	Times   []Times              `json:"times"` // of each of them, in their order
}

// Times are the limits of one method's transactions as this terminal counts them. A definition has its
// time-outs in a unit that it does not name.
type Times struct {
	Method            string `json:"method"`            // its name
	StaleAgeMS        int64  `json:"staleAgeMs"`        // INITIALIZED to STALE: a code may be scanned so long
	StaleTimeOutMS    int64  `json:"staleTimeOutMs"`    // STALE or PENDING to TIMEDOUT
	FinalizeTimeOutMS int64  `json:"finalizeTimeOutMs"` // RESERVED to TIMEDOUT
}

// TimesOf are the limits of a method; unit is that of its time-outs.
func TimesOf(d methods.Definition, unit string) Times {
	stale, finalize := methods.TimeOuts(d, unit)
	return Times{d.Name, methods.StaleAge(d).Milliseconds(), stale.Milliseconds(), finalize.Milliseconds()}
}

// Texts are the limits as people read them, each with its unit.
func (t Times) Texts() (staleAge, staleTimeOut, finalizeTimeOut string) {
	return lengthText(t.StaleAgeMS), lengthText(t.StaleTimeOutMS), lengthText(t.FinalizeTimeOutMS)
}

// lengthText is a length in the largest units that say it: "30 s", "5 min", "1 h 30 min".
func lengthText(ms int64) string {
	var parts []string
	for _, u := range [...]struct {
		ms   int64
		name string
	}{{3_600_000, "h"}, {60_000, "min"}, {1000, "s"}, {1, "ms"}} {
		if n := ms / u.ms; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, u.name))
			ms %= u.ms
		}
	}
	if len(parts) == 0 {
		return "0 s"
	}
	return strings.Join(parts, " ")
}

// ReadMethods reads the stored list; own is the terminal's own method, nil where it has none. unit is
// that of the time-outs.
func ReadMethods(r store.Reader, own *methods.Definition, unit string) (Methods, error) {
	list, err := catalog.Read(r)
	v := Methods{"posagent.methods/1", list.When(), list.None, paylink.Offer(list.Definitions, own), []Times{}}
	for _, d := range v.Methods {
		v.Times = append(v.Times, TimesOf(d, unit))
	}
	return v, err
}
