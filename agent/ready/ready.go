package ready

import (
	"cmp"
	"time"
)

// Trouble is something that does not work.
type Trouble struct {
	Cause  Cause
	Where  string // host, device or path
	Detail string // what was seen, may be ""
	Since  time.Time
	Keys   string // of [upstream.auth] that prove who asks, with " or " between; "" = not known
	Plain  bool   // Where is asked without TLS
	Remedy string // "" = that of the cause
}

// Place is where a person would mend things.
type Place struct {
	Config string // path of the configuration, "" = none
	Flags  string // flags of the terminal, as " --config FILE --state DIR"
	Run    string // starts the terminal; "" = posagent run with the flags
	Base   string // what names the service's address; "" = [upstream] base in the configuration
	// Origins says by key where a setting was set: FILE:LINE, a variable, or "revision N:LINE" of the operator's. One that is at
	// its default is not in it.
	Origins map[string]string
}

// Start is the command that starts the terminal.
func (p Place) Start() string { return cmp.Or(p.Run, "posagent run"+p.Flags) }

// Said is a trouble in words.
type Said struct {
	Cause  Cause     `json:"cause"`
	Words  string    `json:"words"`
	Remedy string    `json:"remedy"`
	Since  time.Time `json:"since,omitzero"`
}

// Say puts a trouble into words.
func Say(t Trouble, at Place) Said {
	r := find(t.Cause)
	if t.Remedy != "" {
		r.remedy = t.Remedy
	}
	return Said{Cause: t.Cause, Words: fill(r.words, t, at), Remedy: fill(r.remedy, t, at), Since: t.Since}
}

// Text is words and remedy in one sentence.
func (s Said) Text() string { return s.Words + ": " + s.Remedy }

// Report says whether a register, or a local program that sells, may ask for a sale.
type Report struct {
	Ready    bool  `json:"ready"`
	NotReady *Said `json:"notReady,omitempty"` // set where Ready is not
	Offline  *Said `json:"offline,omitempty"`  // ready, though the backend does not answer now
}

// Not is the report of a terminal that is not ready.
func Not(t Trouble, at Place) Report {
	said := Say(t, at)
	return Report{NotReady: &said}
}

// Same says that two reports have the same causes in the same words.
func (r Report) Same(o Report) bool {
	return r.Ready == o.Ready && same(r.NotReady, o.NotReady) && same(r.Offline, o.Offline)
}

func same(a, b *Said) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Cause == b.Cause && a.Words == b.Words
}

// Line is the first line of the status screen.
func (r Report) Line() string {
	switch {
	case r.NotReady != nil:
		return "NOT READY: " + r.NotReady.Text()
	case r.Offline != nil:
		return "READY, offline: " + r.Offline.Text()
	}
	return "READY"
}

// Facts are what a terminal knows of itself.
type Facts struct {
	Barred   *Trouble  // why no register may ask, whatever works; nil = nothing bars it
	Resumed  bool      // older sales have been taken up
	Store    *Trouble  // why the journal takes no sale, nil = it does
	Lines    int       // register lines that are configured
	Sellers  int       // local programs that may sell over HTTP
	Closed   []Trouble // those that are not open
	Held     bool      // a method to sell with is known
	Unfit    bool      // methods are known, and none of them can be sold
	None     bool      // the backend says that there is none
	Proven   bool      // the backend has answered with the settings that are in use
	Troubles []Trouble // of the ways to the backend, the method list's first
	Method   *Trouble  // of the service of the terminal's own payment method; nil = none is known
	Alone    bool      // no other method can be sold
	At       Place
}

// Judge says whether a register may ask for a sale now:
//
//   - nothing bars it: the operator's service has confirmed the terminal, and has not revoked it;
//   - there is a register line, or a local program that may sell;
//   - what is on the box has to work: the journal, and every register line that is configured;
//   - a method must be held, and the backend must have answered once with the address and the credentials that are in use;
//   - what a person has to mend (credentials, certificates, a proxy's login, a login page, a wrong address) makes it not ready;
//   - a method whose service refuses the credentials does so where no other method can be sold;
//   - a network or a backend that is away meanwhile does not: the report then says that the terminal is offline.
func Judge(f Facts) Report {
	switch {
	case f.Barred != nil:
		return Not(*f.Barred, f.At)
	case !f.Resumed:
		return Not(Trouble{Cause: Resuming}, f.At)
	case f.Store != nil:
		return Not(*f.Store, f.At)
	case f.Lines == 0 && f.Sellers == 0:
		return Not(Trouble{Cause: NoLine}, f.At)
	case len(f.Closed) > 0:
		return Not(f.Closed[0], f.At)
	}
	for _, t := range f.Troubles {
		if !t.Cause.Passes() {
			return Not(t, f.At)
		}
	}
	if f.Method != nil && f.Alone && !f.Method.Cause.Passes() {
		return Not(*f.Method, f.At)
	}
	switch {
	case f.Held && f.Proven && len(f.Troubles) == 0:
		return Report{Ready: true}
	case f.Held && f.Proven:
		said := Say(f.Troubles[0], f.At)
		return Report{Ready: true, Offline: &said}
	case f.Unfit && !f.Held:
		return Not(Trouble{Cause: Unfit}, f.At)
	case f.None && !f.Held:
		return Not(Trouble{Cause: NoMethods}, f.At)
	case len(f.Troubles) > 0:
		return Not(f.Troubles[0], f.At)
	}
	return Not(Trouble{Cause: Asking}, f.At)
}
