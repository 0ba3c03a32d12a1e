package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"reflect"
	"slices"
	"sync"
	"time"

	"posagent/agent/outbox"
	"posagent/agent/ready"
	"posagent/agent/upstream"
	"posagent/agent/view"
	"posagent/device"
	"posagent/device/keypad"
	"posagent/device/line"
	"posagent/schemes/wire"
	"posagent/store"
)

// facts is where a live report comes from.
type facts struct {
	schemes *upstream.Client
	list    *upstream.Client
	methods func() error // of the last question for the list
	serial  []*line.Port
	sharers func(device string) string // what of this terminal has a device
	pad     *keypad.Pad                // nil = none
	screens []watchedScreen            // of [display]
	page    string                     // address of the customer's page; "" = there is none
	unseen  func() bool                // no browser shows the page
	look    *lookout
	marks   func() []store.MarkHealth // of the journal; nil = they are not looked after
	tcp     int                       // register lines that listen
	listens []hears                   // where they do, and the local port

	services  func() []outbox.Service
	registers func() []view.RegisterLine  // what the register lines have counted
	printer   func() *view.Printer        // what waits for it
	ways      map[string]*upstream.Client // of those services
	keys      map[string]string           // of [upstream.auth] that each service is asked with
	account   *account                    // behind the terminal's own method; nil = it offers none
	place     ready.Place
	names     view.Names
	sandbox   bool
	config    string        // its digest
	files     *inUse        // nil = they are not looked after
	grace     time.Duration // of [ecr]
	file      *liveFile
}

// troubles are what the ways to the backend suffer, the method list's first.
func (f facts) troubles() []ready.Trouble {
	var list []ready.Trouble
	if t := f.keyed(trouble(f.list), "methods"); t != nil {
		list = append(list, *t)
	} else if err := f.methods(); err != nil && wire.CodeOf(err) != wire.NotFound {
		t := ready.Trouble{Cause: ready.NoList, Where: f.list.Host(), Detail: plainReason(err)}
		if kind, detail := upstream.FaultOf(err); kind != "" { // its reply broke off
			t.Cause, t.Detail = ready.Cause(kind), detail
		}
		list = append(list, t)
	}
	if t := f.keyed(trouble(f.schemes), "schemes"); t != nil && (len(list) == 0 || list[0].Cause != t.Cause || list[0].Where != t.Where) {
		list = append(list, *t)
	}
	return list
}

// plainReason is an error's message without the name of the call, and without what it quotes.
func plainReason(err error) string {
	var e *wire.Error
	if errors.As(err, &e) && e.Msg != "" {
		return wire.MaskPANs(e.Msg)
	}
	if err, ok := err.(interface{ Unwrap() []error }); ok && len(err.Unwrap()) > 0 {
		return err.Unwrap()[0].Error()
	}
	return "reply not usable"
}

// trouble is what a connection suffers, nil when it is well or was not used yet.
func trouble(c *upstream.Client) *ready.Trouble {
	fault := c.Fault()
	if fault == nil {
		return nil
	}
	return &ready.Trouble{Cause: ready.Cause(fault.Kind), Where: c.Host(), Detail: fault.Detail, Since: fault.Since, Plain: c.Plain()}
}

// keyed is a trouble that names the keys by which a service knows who asks.
func (f facts) keyed(t *ready.Trouble, service string) *ready.Trouble {
	if t != nil && t.Cause == "credentials" {
		t.Keys = f.keys[service]
	}
	return t
}

// doubt says that another service of the schemes' host, or the network, was not reached after the schemes' last answer. The schemes are
// then asked.
func (f facts) doubt() bool {
	answered, others := f.schemes.Stats().LastOK, slices.Collect(maps.Values(f.ways))
	if f.look.since(answered) {
		return true
	}
	if f.account != nil {
		others = append(others, f.account.client)
	}
	for _, c := range others {
		if fault := c.Fault(); c != f.schemes && fault != nil && fault.Kind.Away() && c.Host() == f.schemes.Host() && c.Stats().LastFailure.After(answered) {
			return true
		}
	}
	return false
}

// refused are the services with credentials of their own that refused them: the method's account, and what a program asked last.
func (f facts) refused() (list []ready.Trouble) {
	method := f.account.trouble()
	if method != nil {
		list = append(list, *method)
	}
	for _, name := range []string{"paylinks", "hosted"} {
		c := f.ways[name]
		if c == nil || name == "paylinks" && method != nil { // the same credentials
			continue
		}
		if t := trouble(c); t != nil && t.Cause == "credentials" {
			list = append(list, *refusedBy(t, name, f.keys[name]))
		}
	}
	return list
}

// lines counts the register lines, and names those that are not open.
func (f facts) lines() (count int, closed []ready.Trouble) {
	for _, l := range f.serial {
		if st := l.Stats(); !st.Open {
			closed = append(closed, lineTrouble(st, f.sharers))
		}
	}
	for _, l := range f.listens {
		if why := unreachable(l.address, boxAddresses); why != "" {
			closed = append(closed, ready.Trouble{Cause: l.cause, Where: l.address, Detail: why})
		}
	}
	return f.tcp + len(f.serial), closed
}

// alteredFor is how long it is said that another program has changed a line.
const alteredFor = time.Hour

// lineTrouble names why a serial line is not open. sharers tells what else of this terminal may have it, nil where none can.
func lineTrouble(st line.Stats, sharers func(device string) string) ready.Trouble {
	t := ready.Trouble{Where: st.Path}
	switch {
	case st.Reason == nil:
		t.Cause = ready.Starting
	case errors.Is(st.Reason, line.ErrOurs) && sharers != nil:
		t.Cause, t.Detail = ready.LineOurs, sharers(st.Path)
	case st.WaitingForLock:
		t.Cause = ready.LineBusy
	case errors.Is(st.Reason, os.ErrPermission):
		t.Cause, t.Remedy = ready.LineDenied, grant(st.Path)
	case errors.Is(st.Reason, line.ErrNotTTY):
		t.Cause = ready.LineNoTTY
	case errors.Is(st.Reason, line.ErrNoData):
		t.Cause = ready.LineStuck
	case st.Opens > 0:
		t.Cause = ready.LinePulled
	case errors.Is(st.Reason, os.ErrNotExist):
		t.Cause = ready.LineGone
	default:
		t.Cause, t.Detail = ready.LineFailed, st.LastError
	}
	return t
}

// padTrouble names why the keypad is not read, nil = it is, or there is none.
func (f facts) padTrouble() *ready.Trouble {
	if f.pad == nil {
		return nil
	}
	switch st := f.pad.Status(); {
	case st.Stuck(time.Now()):
		return &ready.Trouble{Cause: ready.PadStuck, Where: st.Path}
	case st.Open, st.Reason == nil:
		return nil
	default:
		return padTrouble(st.Path, st.Reason)
	}
}

// padTrouble names why a keypad cannot be read.
func padTrouble(path string, err error) *ready.Trouble {
	t := &ready.Trouble{Where: path}
	switch {
	case errors.Is(err, os.ErrNotExist):
		t.Cause = ready.PadGone
	case errors.Is(err, os.ErrPermission):
		t.Cause, t.Remedy = ready.PadDenied, grant(path)
	case errors.Is(err, keypad.ErrNotInput):
		t.Cause, t.Detail = ready.PadFailed, "it is no input device"
	case errors.Is(err, keypad.ErrNoKeys):
		t.Cause, t.Detail = ready.PadFailed, "it lacks keys that are needed"
	case errors.Is(err, keypad.ErrInUse):
		t.Cause, t.Detail = ready.PadFailed, "another program keeps its keys to itself"
	default:
		t.Cause, t.Detail = ready.PadFailed, err.Error()
	}
	return t
}

// sample reports what is wrong now; what was wrong before keeps its beginning.
func (f facts) sample(before view.Live) view.Live {
	v := view.Live{At: time.Now().UTC(), PID: os.Getpid(), Process: device.Process(os.Getpid()), Names: f.names, Sandbox: f.sandbox, Config: f.config, Grace: f.grace, Boot: device.BootTime()}
	st := f.schemes.Stats()
	if !f.schemes.Healthy() {
		v.Schemes = view.Trouble{Reason: st.Reason}
	}
	zone, fault := zoneFault()
	v.Zone, v.Answered = zone, later(st.LastOK, f.list.Stats().LastOK).UTC()
	if err := f.methods(); err != nil {
		v.Methods = view.Trouble{Reason: err.Error(), Code: wire.CodeOf(err)}
	}
	for _, l := range f.serial {
		if st := l.Stats(); !st.Open && st.LastError != "" && v.Serial.Reason == "" {
			v.Serial = view.Trouble{Reason: st.LastError}
		}
	}
	for _, t := range []struct{ now, was *view.Trouble }{{&v.Schemes, &before.Schemes}, {&v.Methods, &before.Methods}, {&v.Serial, &before.Serial}} {
		switch {
		case t.now.Reason == "":
		case t.was.Reason != "":
			t.now.Since = t.was.Since
		default:
			t.now.Since = v.At
		}
	}
	_, wrong := f.lines()
	for _, l := range f.serial {
		if st := l.Stats(); st.Open && v.At.Sub(st.AlteredAt) < alteredFor {
			wrong = append(wrong, ready.Trouble{Cause: ready.LineAltered, Where: st.Path, Detail: fmt.Sprintf("%d time(s)", st.Altered), Since: st.AlteredAt})
		}
	}
	if t := f.padTrouble(); t != nil {
		wrong = append(wrong, *t)
	}
	for _, s := range f.screens {
		if t := s.trouble(s.Fault()); t != nil {
			wrong = append(wrong, *t)
		}
	}
	if f.page != "" && f.unseen != nil && f.unseen() {
		wrong = append(wrong, ready.Trouble{Cause: ready.PageUnseen, Where: f.page})
	}
	wrong = append(wrong, f.files.changed()...)
	if fault != nil {
		wrong = append(wrong, *fault)
	}
	if f.marks != nil {
		for _, m := range f.marks() {
			if m.Err != nil {
				wrong = append(wrong, ready.Trouble{Cause: ready.Unmarked, Where: m.Path, Detail: markFault(m.Err)})
			}
		}
	}
	for _, t := range slices.Concat(wrong, f.troubles(), f.refused()) {
		said := ready.Say(t, f.place)
		if said.Since.IsZero() {
			said.Since = v.At
		}
		for _, was := range before.Troubles {
			if was.Cause == said.Cause && was.Words == said.Words {
				said.Since = was.Since
			}
		}
		v.Troubles = append(v.Troubles, said)
	}
	v.Services = f.undelivered(before.Services, v.At)
	if f.registers != nil {
		v.Lines = f.registers()
	}
	if f.pad != nil {
		if st := f.pad.Status(); st.Open {
			v.Keypad = &view.Keypad{Name: st.Name, Presses: st.Presses, Flooded: st.Flooded, Unknown: st.Unknown, UnknownCode: st.UnknownCode}
		}
	}
	if f.printer != nil {
		v.Printer = f.printer()
	}
	return v
}

// markFault is why a mark is not written, without its path.
func markFault(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err.Error()
	}
	return err.Error()
}

// zoneFault names the time zone of this program, and what is wrong with it, nil = nothing.
func zoneFault() (name string, fault *ready.Trouble) {
	name, why := device.Zone()
	if why != "" {
		fault = &ready.Trouble{Cause: ready.Zone, Detail: why}
	}
	return name, fault
}

// undelivered keeps those the outbox cannot deliver to.
func (f facts) undelivered(before []view.Service, at time.Time) (list []view.Service) {
	for _, s := range f.services() {
		if !s.Down && !s.Refused {
			continue
		}
		now := view.Service{Name: s.Name, Refused: s.Refused, Kinds: s.Kinds, Trouble: view.Trouble{Reason: s.Reason, Since: at}}
		for _, was := range before {
			if was.Name == s.Name && was.Refused == s.Refused {
				now.Since = was.Since
			}
		}
		if client := f.ways[s.Name]; client != nil {
			if t := f.keyed(trouble(client), s.Name); t != nil {
				said := ready.Say(*t, f.place)
				now.Said = &said
			}
		}
		list = append(list, now)
	}
	return list
}

// liveEvery is how often the facts are looked at anew.
const liveEvery = time.Second

// watch keeps the report up to date until ctx ends.
func (f facts) watch(ctx context.Context, log *slog.Logger) error {
	tick := time.NewTicker(liveEvery)
	defer tick.Stop()
	for {
		f.write(nil, log)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// liveFile is the report as it lies in the state directory. It is written where a condition changes. Counters are not in it: they are
// asked, because a file that is replaced with each message of a register wears a box's flash out.
type liveFile struct {
	path string

	mu   sync.Mutex
	last view.Live
}

// write brings the file up to date, with another judgement where there is one.
func (f facts) write(judged *ready.Report, log *slog.Logger) {
	l := f.file
	l.mu.Lock()
	defer l.mu.Unlock()
	now := f.sample(l.last)
	now.Report = l.last.Report
	if judged != nil {
		now.Report = *judged
	}
	was, is, first := conditions(l.last), conditions(now), l.last.At.IsZero()
	was.At, was.Boot = is.At, is.Boot
	if first || !reflect.DeepEqual(was, is) {
		if err := writeLive(l.path, is); err != nil {
			log.Warn("report for status not written", "err", err)
		}
	}
	l.last = now
}

// conditions is a report without what only counts.
func conditions(v view.Live) view.Live {
	v.Lines, v.Keypad, v.Answered = nil, nil, time.Time{}
	if v.Printer != nil && v.Printer.Reason == "" {
		v.Printer = nil
	}
	return v
}

// current is the report as it is now, with the last judgement.
func (f facts) current() view.Live {
	l := f.file
	l.mu.Lock()
	defer l.mu.Unlock()
	now := f.sample(l.last)
	now.Report = l.last.Report
	return now
}
