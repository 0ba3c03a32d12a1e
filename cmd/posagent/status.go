package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"posagent/agent"
	"posagent/agent/checkout"
	"posagent/agent/doctor"
	"posagent/agent/doctor/exam"
	"posagent/agent/gateway"
	"posagent/agent/lifecycle/enrol"
	"posagent/agent/outbox"
	"posagent/agent/ready"
	"posagent/agent/records/deletedrows"
	"posagent/agent/view"
	"posagent/cmd/usage"
	"posagent/device/file"
	"posagent/schemes/money"
	"posagent/store"
)

func statusCommand() command {
	return command{
		name: "status", reads: true, short: "one screen: may a register ask for a sale, what is open, what to type next",
		long: "The first line is READY, or NOT READY with the cause and what to type. Exit 0: ready; 1: not ready; 4: the terminal does not run;\n" +
			"3 and 9: the configuration or the journal cannot be read. It reads the journal beside the running terminal, or without it.",
		json:     []string{"posagent.status/1", "posagent.check/1"},
		examples: []string{"posagent status", "posagent status --check     # the first line alone", "posagent status --json"},
		flags: func(fs *flag.FlagSet) any {
			o := &statusOptions{}
			fs.BoolVar(&o.check, "check", false, "print the first line alone")
			return o
		},
		run: showStatus,
	}
}

type statusOptions struct{ check bool }

// statusView is the screen, printed here.
type statusView struct {
	view.Status
	Enrolment *enrol.Summary `json:"enrolment,omitempty"` // nil = never enrolled
	OnTrial   bool           `json:"onTrial,omitempty"`   // an update may still take this program back
}

func showStatus(ctx context.Context, c *call) error {
	check := c.opts.(*statusOptions).check
	if forbidden(c) {
		v := statusView{Status: view.NewStatus(view.Status{Version: version})}
		t := ready.Trouble{Cause: ready.NoAccess, Where: c.stateDir(), Detail: accountName(ownerOf(c.stateDir()))}
		v.Judged(ready.Not(t, ready.Place{Flags: c.flags()}))
		return errors.Join(v.show(c, check), exitWith(exitFailed, errors.New("")))
	}
	cfg, err := loadConfig(c)
	if err != nil {
		v := statusView{Status: view.NewStatus(view.Status{Version: version})}
		why := ready.Trouble{Cause: ready.Config}
		if errors.Is(err, enrol.ErrDamaged) {
			why = ready.Trouble{Cause: ready.NoRecord, Detail: unreadBecause(err)}
		}
		v.Judged(ready.Not(why, placeOf(c)))
		return errors.Join(v.show(c, true), err)
	}
	v := statusView{Status: view.NewStatus(view.Status{Version: version})}
	if s, err := enrolment(c).Summary(); err == nil && (s.Enrolled || s.State != enrol.Fresh) {
		v.Enrolment = &s
	}
	v.OnTrial = onTrial()
	named := configPath(c) != "" || len(cfg.Origin()) > 0
	if named {
		v.Status = view.NewStatus(aboutTerminal(cfg, cfg.Sandbox()))
		if unenrolled(c, cfg) {
			v.Terminal = "" // the default is the sandbox's
		}
	}
	if v.PID, v.Running, err = runningPID(c); err != nil {
		return fail(exitFailed, "%v", err)
	}
	if v.Running {
		v.running(c)
	}
	if v.Running && v.NotReady != nil && v.NotReady.Cause == ready.Displaced { // what lies there now is not what it works on
		return errors.Join(v.show(c, check), exitWith(exitFailed, errors.New("")))
	}
	_, err = os.Stat(agentDB(c))
	if errors.Is(err, os.ErrPermission) {
		return storeError(err)
	}
	there, afresh := err == nil, false
	if !there {
		_, marked := os.Stat(store.MarkPath(agentDB(c)))
		if gone := lookAt(c); marked == nil || errors.Is(gone, store.ErrCut) {
			afresh = errors.Is(gone, os.ErrNotExist) // the mark says that a verb has ended the journal
			there = !afresh
		}
	}
	waits := !v.Running && unenrolled(c, cfg)
	if !v.Running {
		cause, detail := ready.Stopped, ""
		if afresh {
			detail = "and none has run here since the reset"
		}
		switch {
		case !named && !there && !afresh:
			cause = ready.NoConfig
		case waits:
			cause, v.Sandbox = ready.Unenrolled, false
		}
		why := ready.Trouble{Cause: cause, Detail: detail}
		if afresh && cause == ready.Stopped && cfg.Sandbox() {
			why.Remedy = "posagent enroll{flags} CODE --url URL makes the box a terminal; {run} starts a SANDBOX"
		}
		if s, err := enrolment(c).Summary(); waits && err == nil && s.State != enrol.Fresh && !s.Enrolled {
			why = ready.Trouble{Cause: ready.Enrolling, Where: s.URL}
		}
		if taken := takenByAnother(c, cfg); named && cause == ready.Stopped && !afresh && taken != nil {
			why = *taken
		}
		v.Judged(ready.Not(why, placeOf(c)))
	}
	if there {
		if err := v.load(ctx, c, cfg.Paylinks.Method, named); err != nil && c.cut == nil {
			why, _, _ := strings.Cut(err.Error(), " (")
			t := ready.Trouble{Cause: ready.Journal, Where: c.stateDir(), Detail: why}
			if readOnly, _ := file.ReadOnly(c.stateDir()); readOnly && !errors.Is(err, store.ErrDamaged) { // whatever the engine says of it
				t, err = ready.Trouble{Cause: ready.ReadOnly, Where: c.stateDir()}, storeError(fmt.Errorf("%s: %w", c.stateDir(), unix.EROFS))
			}
			v.Judged(ready.Not(t, placeOf(c)))
			return errors.Join(v.show(c, true), err)
		}
	}
	if c.cut != nil {
		t, _ := barredBy(c.stateDir(), c.cut)
		v.Judged(ready.Not(t, placeOf(c)))
		return errors.Join(v.show(c, check), cutError(c.cut))
	}
	if there && !v.Running { // the next start needs the key
		if t, barred := barredBy(c.stateDir(), cmp.Or(c.locked, keyMissing(c))); barred {
			v.Judged(ready.Not(t, placeOf(c)))
			return errors.Join(v.show(c, check), exitWith(exitDamaged, errors.New("")))
		}
	}
	v.Advise()
	if v.Ready && !check {
		v.examine(ctx, c)
	}
	if err := v.show(c, check); err != nil {
		return err
	}
	switch {
	case waits && named:
		return exitWith(exitNoDaemon, fmt.Errorf("the terminal does not run on %s, and is not enrolled (posagent enroll%s CODE --url URL)", c.stateDir(), c.flags()))
	case !v.Running && v.NotReady != nil && v.NotReady.Cause == ready.Stopped && afresh && cfg.Sandbox():
		return exitWith(exitNoDaemon, fmt.Errorf("the terminal does not run on %s", c.stateDir())) // the first line says what to type
	case !v.Running:
		return exitWith(exitNoDaemon, fmt.Errorf("the terminal does not run on %s (start it: %s)", c.stateDir(), c.start()))
	case !v.Ready:
		return exitWith(exitFailed, errors.New(""))
	}
	return nil
}

// running adds what the running terminal says of itself. Until it has, it is starting: an older run may have left a report.
func (v *statusView) running(c *call) {
	live, told := says(c, v.PID)
	if !told {
		v.Judged(ready.Not(ready.Trouble{Cause: ready.Starting}, placeOf(c)))
		return
	}
	defer func() { v.Judged(live.Report) }()
	if live.At.IsZero() { // it could not write its report
		return
	}
	v.Live, v.Sandbox = live, live.Sandbox
	v.Terminal, v.Backend, v.Serial, v.TCP = live.Names.Terminal, live.Names.Backend, live.Names.Serial, live.Names.TCP
	v.Patience, v.Sellers = live.Names.Patience, live.Names.Sellers
}

// examine adds what doctor would call a failure: what is wrong on the box is no secret of the verb that
// looks for it. A terminal that is not ready has named its cause.
func (v *statusView) examine(ctx context.Context, c *call) {
	f := gather(ctx, c)
	defer f.close()
	for _, r := range exam.Examine(ctx, doctor.AtStatus(), f.facts, exam.Usual()) {
		if r.Status == exam.Fail {
			seen := cmp.Or(r.Evidence["seen"], fmt.Sprintf("%q is not so", r.Title))
			v.Failed(ready.Cause(r.Evidence["cause"]), seen, fmt.Sprintf("%s (%s; posagent explain %s)", r.Remedy.Text, r.Remedy.Command, r.ID))
		}
	}
	path := filepath.Join(c.stateDir(), heldName)
	looked, err := os.Stat(path)
	if err != nil {
		return
	}
	held := exam.ReadHeld(path)
	for _, check := range doctor.Remembered() {
		h := held[check.ID]
		if h.Status != exam.Fail || doctor.AsksTheBackend(check) && v.MethodsFetched != nil && v.MethodsFetched.After(looked.ModTime()) {
			continue // the backend has answered since
		}
		v.Failed("", fmt.Sprintf("posagent doctor found at %s: it is not so that %s", h.Since.Local().Format("2006-01-02 15:04"), check.Title),
			fmt.Sprintf("posagent doctor%s looks again, and says what to type (%s)", c.flags(), check.ID))
	}
}

// begun says how far an enrolment has come.
var begun = map[enrol.State]string{
	enrol.Keyed: "no certificate received yet", enrol.Issued: "certificate and configuration received", enrol.Configured: "configuration tried, not confirmed",
}

// show prints the screen, or its first line.
func (v *statusView) show(c *call, check bool) error {
	switch {
	case c.json && check:
		return printJSON(c.out, checkView{"posagent.check/1", v.First, v.Report})
	case c.json:
		return printJSON(c.out, v)
	case check:
		fmt.Fprintln(c.out, v.First)
	default:
		v.print(c)
	}
	return nil
}

// checkView is the first line of the screen (posagent.check/1).
type checkView struct {
	Schema string `json:"schema"`
	First  string `json:"first"`
	ready.Report
}

func (v *statusView) load(ctx context.Context, c *call, own, named bool) error {
	db, err := readAgent(c)
	if err != nil {
		return err
	}
	defer db.Close()
	h := db.Health(ctx)
	v.Disk(h)
	return storeError(db.Read(ctx, func(r store.Reader) error {
		if !named && !v.Running {
			if v.Journal, err = agent.Bound(r); err != nil {
				return err
			}
		}
		if err := v.Read(r, own); err != nil {
			return err
		}
		missing, err := deletedrows.Read(r)
		v.Removed(missing)
		return err
	}))
}

func (v *statusView) print(c *call) {
	state := "stopped"
	if v.Running {
		state = fmt.Sprintf("running (process %d)", v.PID)
	}
	if v.Sandbox {
		state += "  SANDBOX - no real money"
	}
	row := func(name, format string, args ...any) {
		fmt.Fprintf(c.out, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	fmt.Fprintln(c.out, v.First)
	switch {
	case v.Terminal != "":
		row("terminal", "%s  %s", v.Terminal, state)
	case v.Journal != "":
		row("terminal", "%s  %s", state, v.Journal)
	default:
		row("terminal", "%s", state)
	}
	switch {
	case v.Backend != "" && !v.Live.Answered.IsZero():
		row("backend", "%s, has answered %s ago", v.Backend, v.Live.At.Sub(v.Live.Answered).Round(time.Second))
	case v.Backend != "":
		row("backend", "%s", v.Backend)
	case v.Sandbox:
		row("backend", "embedded")
	}
	for _, l := range []string{v.Serial, v.TCP} {
		if l != "" {
			row("register", "%s", l)
		}
	}
	for _, l := range v.Live.Lines {
		row("", "%s", l)
	}
	if v.Sellers > 0 {
		row("register", "HTTP, %d local program(s)", v.Sellers)
	}
	if e := v.Enrolment; e != nil && e.InUse {
		row("enrolled", "revision %d of a bundle, good until %s; not confirmed yet: connect the network", e.Revision, usage.LocalTime(e.Bundle))
	} else if e != nil && e.Enrolled {
		row("enrolled", "revision %d, certificate until %s", e.Revision, usage.LocalTime(e.Certificate))
		if e.Refused > e.Revision {
			row("", "! revision %d was given up (posagent config diff %d %d%s)", e.Refused, e.Revision, e.Refused, c.flags())
		}
	} else if e != nil {
		row("enrolled", "not yet, begun at %s: %s", e.URL, begun[e.State])
	}
	if v.OnTrial {
		row("program", "%s is on trial (posagent update --status)", version)
	}
	if v.Patience != "" && v.Serial+v.TCP != "" {
		row("patience", "%s, longer for a register that acknowledges 04 FF", v.Patience)
	}
	switch {
	case v.MethodsFetched == nil:
		row("methods", "never fetched")
	default:
		row("methods", "%d, fetched %s", v.Methods, ago(*v.MethodsFetched))
	}
	row("sales", "%s", v.openSales())
	for _, s := range v.Open {
		row("", "%s %10s %s  %s", s.ID, amountText(money.Minor(s.Amount), s.Currency), s.Currency, s.Phase+watched(s.Phase))
	}
	if p := v.Live.Printer; p != nil {
		row("printer", "%s", p)
	}
	if k := v.Live.Keypad; k != nil {
		row("keypad", "%s", k)
	}
	if r := v.Reconciled; r != nil {
		row("reconcile", "%s", r.Text)
	}
	row("operations", "%s", v.owed())
	for _, o := range v.Operations {
		if outbox.State(o.State) == outbox.Failed && gateway.IsUndo(o.Kind) {
			continue // attempts; the sale has its line, or an alert
		}
		row("", "%d %s %s%s", o.Count, o.Kind, o.State, o.Total())
	}
	if v.FileBytes > 0 {
		row("disk", "%d KiB used, %d MiB free", v.FileBytes>>10, v.FreeBytes>>20)
	}
	row("version", "%s", v.Version)
	for _, a := range v.Attention {
		fmt.Fprintf(c.out, "\n! %s", a)
	}
	if len(v.Attention) > 0 {
		fmt.Fprintln(c.out)
	}
}

// ago says how long ago something was. What is still to come by the clock has no age.
func ago(at time.Time) string {
	age := time.Since(at).Round(time.Second)
	if age < 0 {
		return at.Local().Format("2006-01-02 15:04") + ", which is still to come: the clock was set back"
	}
	return age.String() + " ago"
}

// watched says what still happens to a sale of which the register has its final answer; "" = the register waits.
func watched(phase string) string {
	switch checkout.Phase(phase) {
	case checkout.Declined:
		return ", watched until it can no longer change"
	case checkout.Confirmed:
		return ", watched until the backend has settled it"
	}
	return ""
}

// openSales counts the sales that are open, and those that are only watched.
func (v *statusView) openSales() string {
	open, over := 0, 0
	for _, s := range v.Open {
		if watched(s.Phase) != "" {
			over++
		} else {
			open++
		}
	}
	text := fmt.Sprintf("%d open", open)
	if over > 0 {
		text += fmt.Sprintf(", %d over at the register and watched", over)
	}
	return text
}

// owed says how many operations are not at their end.
func (v *statusView) owed() string {
	var waiting, person, ended int64
	for _, o := range v.Operations {
		switch outbox.State(o.State) {
		case outbox.Pending, outbox.Sent:
			waiting += o.Count
		case outbox.Doubt, outbox.Held:
			person += o.Count
		default:
			ended += o.Count
		}
	}
	text := fmt.Sprintf("%d pending", waiting)
	if person > 0 {
		text += fmt.Sprintf(", %d in doubt or held", person)
	}
	if n := len(v.Alerts); n > 0 {
		text += fmt.Sprintf(", %d to acknowledge", n)
	}
	return text + fmt.Sprintf(", %d ended", ended)
}
