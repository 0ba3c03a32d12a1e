package view

import (
	"fmt"
	"time"

	"posagent/agent/catalog"
	"posagent/agent/checkout"
	"posagent/agent/checkout/drive"
	"posagent/agent/outbox"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// Status is one screen (posagent.status/1).
type Status struct {
	Schema  string `json:"schema"`
	Running bool   `json:"running"`
	PID     int    `json:"pid,omitempty"`
	Sandbox bool   `json:"sandbox"`
	Version string `json:"version"`

	Terminal string `json:"terminalId"`
	Backend  string `json:"backend"` // "" = embedded
	Serial   string `json:"serial,omitempty"`
	TCP      string `json:"tcp,omitempty"`

	MethodsFetched *time.Time `json:"methodsFetched"`
	Methods        int        `json:"methods"`
	NoMethods      bool       `json:"noMethods"`

	Live Live `json:"live"` // what the running daemon says; zero without one

	Open        []Sale     `json:"open"`       // sales that are not at their end
	Attention   []string   `json:"attention"`  // one line each, the remedy in it
	Operations  []OpsCount `json:"operations"` // the outbox by kind, state and currency
	FileBytes   int64      `json:"fileBytes"`
	FreeBytes   int64      `json:"freeBytes"`
	Unconfirmed int        `json:"unconfirmed"`
}

// OpsCount is one line of the outbox's report.
type OpsCount struct {
	Kind     string `json:"kind"`
	State    string `json:"state"`
	Currency string `json:"currency"`
	Count    int64  `json:"count"`
	Sum      int64  `json:"sum"` // minor units
}

// NewStatus gives v its schema and empty lists.
func NewStatus(v Status) Status {
	v.Schema, v.Open, v.Attention, v.Operations = "posagent.status/1", []Sale{}, []string{}, []OpsCount{}
	return v
}

// openAtMost is how many of the newest sales are looked through for open ones.
const openAtMost = 1000

// Read adds what the database says; v keeps what it was on an error. own says that the terminal has a method of its own.
func (v *Status) Read(r store.Reader, own bool) error {
	list, err := catalog.Read(r)
	if err != nil {
		return err
	}
	rows, err := drive.Sales(r, openAtMost)
	if err != nil {
		return err
	}
	lines, err := outbox.Report(r)
	if err != nil {
		return err
	}
	v.MethodsFetched, v.Methods, v.NoMethods = list.When(), len(list.Definitions), list.None
	for _, row := range rows {
		if checkout.Active(row.State) && !row.Closed {
			v.Open = append(v.Open, SaleOf(row))
		}
		if row.State.Phase == checkout.Unconfirmed && !row.Quarantined {
			v.Unconfirmed++
		}
		if row.Aside != "" && !row.Closed {
			v.attend("sale %s is set aside, %s: stop the terminal, then posagent sale release %s, or close it", row.Key, row.Aside, row.Key)
		}
		if row.Quarantined && row.Aside == "" {
			v.attend("sale %s was changed from outside: posagent sale show %s", row.Key, row.Key)
		}
	}
	for _, l := range lines {
		v.Operations = append(v.Operations, OpsCount{l.Kind, string(l.State), l.Currency, l.Count, l.Sum})
	}
	if own {
		v.Methods, v.NoMethods = v.Methods+1, false
	}
	return nil
}

func (v *Status) attend(format string, args ...any) {
	v.Attention = append(v.Attention, fmt.Sprintf(format, args...))
}

// Advise says what is wrong and what to type.
func (v *Status) Advise() {
	if t := v.Live.Serial; t.Reason != "" {
		v.attend("register line %s is not open: %s - plug it in, or set [ecr] serial", v.Serial, t.Reason)
	}
	if t := v.Live.Schemes; t.Reason != "" {
		v.attend("the backend does not answer since %s: %s - check the network and [upstream] base", t.Since.Local().Format("15:04:05"), t.Reason)
	}
	switch t := v.Live.Methods; {
	case t.Reason == "" || v.NoMethods:
	case t.Code == wire.Unauthorized, t.Code == wire.Forbidden:
		v.attend("the backend refuses the credentials: check [upstream.auth]")
	case v.Live.Schemes.Reason == "":
		v.attend("the method list cannot be fetched: %s - check [upstream] base", t.Reason)
	}
	if v.NoMethods {
		v.attend("the backend knows no method for this merchant and terminal: check [terminal] bax_id and terminal_id")
	}
	if v.Serial == "" && v.TCP == "" {
		v.attend("no register line: set [ecr] serial or tcp")
	}
	if v.Unconfirmed > 0 {
		v.attend("%d sale(s) the register has not acknowledged: posagent register repeat, or they are undone after the grace time", v.Unconfirmed)
	}
	for _, o := range v.Operations {
		if o.State == string(outbox.Doubt) || o.State == string(outbox.Held) {
			c, _ := money.Lookup(o.Currency)
			v.attend("%d %s operation(s) %s, %s %s", o.Count, o.Kind, o.State, money.FormatNumber(money.Minor(o.Sum), c), o.Currency)
		}
	}
}
