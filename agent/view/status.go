package view

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"posagent/agent/catalog"
	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/outbox"
	"posagent/agent/ready"
	"posagent/schemes/money"
	"posagent/store"
)

// Status is one screen (posagent.status/1).
type Status struct {
	Schema  string `json:"schema"`
	Running bool   `json:"running"`
	PID     int    `json:"pid,omitempty"`
	Sandbox bool   `json:"sandbox"`
	Version string `json:"version"`

	First string `json:"first"` // the first line of the screen
	ready.Report

	Terminal string `json:"terminalId"`        // "" = not known
	Journal  string `json:"journal,omitempty"` // whose journal it is, where no configuration says so
	Backend  string `json:"backend"`           // "" = embedded
	Serial   string `json:"serial,omitempty"`
	TCP      string `json:"tcp,omitempty"`
	Sellers  int    `json:"sellers,omitempty"`  // local programs that may sell over HTTP
	Patience string `json:"patience,omitempty"` // of the registers: a request without intermediate status ends before

	MethodsFetched *time.Time `json:"methodsFetched"`
	Methods        int        `json:"methods"`
	NoMethods      bool       `json:"noMethods"`

	Live Live `json:"live"` // what the running daemon says; zero without one

	Open        []Sale       `json:"open"`                 // sales that are not at their end
	Attention   []string     `json:"attention"`            // one line each, the remedy in it
	Operations  []OpsCount   `json:"operations"`           // the outbox by kind, state and currency
	Alerts      []Alert      `json:"alerts"`               // money that is not where it was said to be, oldest first
	Differences []Difference `json:"differences"`          // of the till's list, oldest first
	Reconciled  *ListRun     `json:"reconciled,omitempty"` // the newest list; absent = none was compared
	FileBytes   int64        `json:"fileBytes"`
	FreeBytes   int64        `json:"freeBytes"`
	Unconfirmed int          `json:"unconfirmed"`

	said   []OpsCount    // operations of sales that have alerts
	others []string      // how many alerts and differences are not listed
	few    string        // how many receipt numbers of the open batch are used, "" = not many
	full   string        // directory on whose disk sales have no room, "" = they have
	Flags  string        `json:"-"` // those that the terminal was started with, as a command repeats them
	Untold time.Duration `json:"-"` // when the oldest unconfirmed sale became one, on the boot clock; meaningless without one
}

// OpsCount is one line of the outbox's report.
type OpsCount struct {
	Kind     string `json:"kind"`
	State    string `json:"state"`
	Currency string `json:"currency"`
	Count    int64  `json:"count"`
	Sum      int64  `json:"sum"` // minor units
}

// Total is the sum behind a comma, "" where the operations move no money.
func (o OpsCount) Total() string {
	c, ok := money.Lookup(o.Currency)
	switch {
	case ok:
		return ", " + money.Format(money.Minor(o.Sum), c)
	case o.Sum == 0:
		return ""
	}
	// A capture of a payment this terminal does not know has an amount and no currency.
	return strings.TrimSuffix(", "+strconv.FormatInt(o.Sum, 10)+" minor units "+o.Currency, " ")
}

// NewStatus gives v its schema and empty lists.
func NewStatus(v Status) Status {
	v.Schema, v.Open, v.Attention, v.Operations, v.Alerts, v.Differences = "posagent.status/1", []Sale{}, []string{}, []OpsCount{}, []Alert{}, []Difference{}
	return v
}

// Read adds what the database says; v keeps what it was on an error. own says that the terminal has a method of its own.
func (v *Status) Read(r store.Reader, own bool) error {
	list, err := catalog.Read(r)
	if err != nil {
		return err
	}
	lines, err := outbox.Report(r)
	if err != nil {
		return err
	}
	if err := v.readAlerts(r); err != nil {
		return err
	}
	alerts := v.Attention // behind what is said of open sales
	v.Attention = []string{}
	v.MethodsFetched, v.Methods, v.NoMethods = list.When(), len(list.Definitions), list.None
	open, err := journal.Waiting(r, -1) // whatever came since
	if err != nil {
		return err
	}
	for _, row := range slices.Backward(open) {
		v.Open = append(v.Open, SaleOf(row))
		if row.State.Phase == checkout.Unconfirmed && !row.Quarantined && !row.State.Till.Keep {
			if v.Unconfirmed++; v.Unconfirmed == 1 || row.State.UntoldAt < v.Untold {
				v.Untold = row.State.UntoldAt
			}
		}
		if waits(row) && !v.alerted(row.Key) { // a sale has one line
			v.attend("%s", setAside(row))
		}
	}
	altered, err := journal.Altered(r)
	if err != nil {
		return err
	}
	for _, row := range altered {
		if !v.alerted(row.Key) {
			v.attend("sale %s was changed from outside: posagent sale show %s", row.Key, row.Key)
		}
	}
	ends, err := journal.Untold(r)
	if err != nil {
		return err
	}
	for _, row := range ends {
		if v.alerted(row.Key) {
			continue
		}
		v.attend("%s: ask for the same again there, it is told the end and nothing is done twice; else compare it with posagent sale show %s before the end of day", row.UntoldEnd(), row.Key)
	}
	if past, err := outbox.Past(r); err != nil {
		return err
	} else if past != "" {
		when := " once it is older than [offline] idempotency_ttl"
		if l, _, err := store.LostIn(r); err == nil && l.Kind == store.WasLocked {
			when = ""
		}
		v.attend("%s: it holds new writes with an Idempotency-Key%s. "+
			"Ask each client for writes without an answer, then: posagent ops release --all", past, when)
	}
	v.Attention = append(v.Attention, alerts...)
	receipts, err := journal.ReceiptsOf(r)
	if err != nil {
		return err
	}
	if receipts.Few() {
		v.few = receipts.Said()
	}
	if err := v.readCompared(r); err != nil {
		return err
	}
	for _, l := range lines {
		v.Operations = append(v.Operations, OpsCount{l.Kind, string(l.State), l.Currency, l.Count, l.Sum})
	}
	if own {
		v.Methods, v.NoMethods = v.Methods+1, false
	}
	return nil
}

// Removed adds what package gaps found missing.
func (v *Status) Removed(missing []string) {
	for _, g := range missing {
		v.attend("%s", g)
	}
}

// Disk adds what the store says of its disk.
func (v *Status) Disk(h store.Health) {
	v.FileBytes, v.FreeBytes = h.FileBytes, h.FreeBytes
	if h.WALBytes > store.LongLog {
		held := "another program may read it for long: fuser -v " + h.Path + " names it; end it"
		if by := Holders(h, v.PID); by != "" {
			held = by + " keeps it from being folded: end it"
		}
		v.attend("the log of the journal has %d MiB, no sale waits for that: %s", h.WALBytes>>20, held)
	}
	if h.ShortBytes > 0 {
		v.full = filepath.Dir(h.Path)
		v.attend("disk full: sales are refused, free at least %d KiB on the file system of %s", h.ShortBytes>>10+1, filepath.Dir(h.Path))
	}
}

// Holders names the programs besides the terminal that keep its journal's log from being folded, "" = none is seen.
func Holders(h store.Health, terminal int) string {
	var list []string
	for _, p := range h.Others {
		if p.PID != terminal {
			list = append(list, p.String())
		}
	}
	return strings.Join(list, ", ")
}

// waits says that what is owed to a service does not leave.
func (v *Status) waits(s Service) {
	n := int64(0)
	for _, o := range v.Operations {
		if o.State != string(outbox.Pending) && o.State != string(outbox.Sent) {
			continue
		}
		for _, kind := range s.Kinds {
			if kind == o.Kind {
				n += o.Count
			}
		}
	}
	switch since := s.Since.Local().Format("15:04:05"); {
	case n == 0: // it is asked again when there is something to send
	case s.Refused:
		remedy := "check [upstream.auth]"
		if s.Said != nil && s.Said.Cause == "credentials" {
			remedy = s.Said.Remedy
		}
		v.attend("%s: refuses the credentials since %s, %d operation(s) wait: %s", s.Name, since, n, remedy)
	case s.Said != nil:
		v.attend("%s: does not answer since %s: %s - %d operation(s) wait (posagent ops list --open): %s", s.Name, since, s.Said.Words, n, s.Said.Remedy)
	default:
		v.attend("%s: does not answer since %s: %s - %d operation(s) wait (posagent ops list --open), check the network and [upstream] base", s.Name, since, s.Reason, n)
	}
}

func (v *Status) attend(format string, args ...any) {
	v.Attention = append(v.Attention, fmt.Sprintf(format, args...))
}

// Judged sets the first line of the screen.
func (v *Status) Judged(r ready.Report) {
	v.Report, v.First = r, r.Line()
	switch {
	case !v.Sandbox || !r.Ready:
	case r.Offline != nil:
		v.First = "READY, SANDBOX" + strings.TrimPrefix(v.First, "READY")
	default:
		v.First = "READY, SANDBOX: no real money"
	}
}

// says reports whether the first line is about a cause.
func (v *Status) says(c ready.Cause) bool {
	return v.NotReady != nil && v.NotReady.Cause == c || v.Offline != nil && v.Offline.Cause == c
}

// Advise says what is wrong and what to type.
func (v *Status) Advise() {
	if v.full != "" && (v.Ready || v.says(ready.Starting)) { // the running terminal may not have judged since, or waits for room
		v.Judged(ready.Not(ready.Trouble{Cause: ready.DiskFull, Where: v.full}, ready.Place{Flags: v.Flags}))
	}
	if v.few != "" && !v.says(ready.BatchFull) {
		v.attend("%s, and with the last one every sale is refused: posagent sale end-of-day%s closes the day, and so does the register's end of day; [checkout] end_of_day closes each day by itself", v.few, v.Flags)
	}
	for _, t := range v.Live.Troubles {
		if !v.says(t.Cause) {
			v.attend("%s since %s: %s", t.Words, t.Since.Local().Format("15:04:05"), t.Remedy)
		}
	}
	for _, s := range v.Live.Services {
		v.waits(s)
	}
	if v.NoMethods && !v.says(ready.NoMethods) {
		v.attend("the backend knows no method for this merchant and terminal: check [terminal] bax_id and terminal_id")
	}
	for _, l := range v.Live.Lines {
		if l.Deaf() {
			v.attend("register line %s: bytes come, and no message is among them (%d bad frame(s), %d byte(s) of noise): set [ecr] baud and stop_bits as the register has them, and check the cable",
				l.Name, l.Bad, l.Noise)
		}
		if l.WrongPasswords > 0 && v.Live.At.Sub(l.WrongAt) < 24*time.Hour {
			v.attend("register line %s: %d wrong password(s), the last from %s at %s: set the password of [ecr] in the register, or name its address in [ecr] allow",
				l.Name, l.WrongPasswords, l.WrongFrom, l.WrongAt.Local().Format("15:04:05"))
		}
	}
	if p := v.Live.Printer; p != nil && p.Reason != "" {
		v.attend("printer: %s since %s, %d document(s) wait, no sale does: %s", p.Reason, p.Since.Local().Format("15:04:05"), p.Waiting, p.Remedy)
	}
	if p := v.Live.Printer; p != nil && p.Behind > 0 {
		v.attend("printer: %d document(s) cut off again and again wait behind the others: check the printer's cable, supply and roll; they are tried by themselves, "+
			"for a day at most", p.Behind)
	}
	if v.Terminal != "" && v.Serial == "" && v.TCP == "" && v.Sellers == 0 && !v.says(ready.NoLine) && !v.says(ready.NotConfirmed) && !v.says(ready.Replaced) {
		v.attend("no register line: set [ecr] serial or tcp, or give a client of [port.clients] may = [\"read\", \"sales\"]")
	}
	if v.Unconfirmed > 0 {
		v.attend("%d sale(s) the register has not acknowledged: nothing is to be typed; the register asks again by itself (only one that speaks Caisse-AP cannot: look at its till before anybody pays again), "+
			"or the money goes back %s", v.Unconfirmed, v.undone())
	}
	for _, o := range v.Operations {
		if o = v.unsaid(o); o.Count > 0 && (o.State == string(outbox.Doubt) || o.State == string(outbox.Held)) {
			v.attend("%d %s operation(s) %s%s", o.Count, o.Kind, o.State, o.Total())
		}
	}
}

// Failed adds what the doctor calls a failure, unless the screen says it already.
func (v *Status) Failed(cause ready.Cause, seen, remedy string) {
	said := v.says(cause)
	for _, t := range v.Live.Troubles {
		said = said || t.Cause == cause
	}
	for _, a := range v.Attention {
		said = said || strings.Contains(a, seen)
	}
	if !said {
		v.attend("%s: %s", seen, remedy)
	}
}

// undone says when the money of the oldest unconfirmed sale goes back.
func (v *Status) undone() string {
	switch {
	case v.Live.Grace > 0 && v.Live.Boot > 0:
		at := v.Live.At.Add(v.Untold + v.Live.Grace - v.Live.Boot).Local().Format("15:04")
		if v.Unconfirmed > 1 {
			return "from " + at + " on"
		}
		return "at " + at
	case v.Running:
		return "after the grace time"
	}
	return "after the grace time, once the terminal runs"
}
