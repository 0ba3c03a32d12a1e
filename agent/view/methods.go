package view

import (
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
}

// ReadMethods reads the stored list; own is the terminal's own method, nil where it has none.
func ReadMethods(r store.Reader, own *methods.Definition) (Methods, error) {
	list, err := catalog.Read(r)
	return Methods{"posagent.methods/1", list.When(), list.None, paylink.Offer(list.Definitions, own)}, err
}
