package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"posagent/agent/config"
	"posagent/agent/control"
	"posagent/agent/offline"
	"posagent/agent/outbox"
	"posagent/agent/view"
	"posagent/schemes/wire"
	"posagent/store"
)

type opsOptions struct {
	filter       outbox.Filter
	state        string
	all          bool
	reason, note string
	done, failed bool
	wait         time.Duration
}

func opsFlags(which string) func(fs *flag.FlagSet) any {
	return func(fs *flag.FlagSet) any {
		o := &opsOptions{}
		switch which {
		case "list":
			fs.StringVar(&o.state, "in", "", "only those in this `state`: pending, sent, done, failed, expired, doubt, held")
			fs.StringVar(&o.filter.Kind, "kind", "", "only this `kind` (posagent ops report names them)")
			fs.BoolVar(&o.filter.Open, "open", false, "only what is not at its end")
			fs.Int64Var(&o.filter.After, "after", 0, "only those behind this `number`")
			fs.IntVar(&o.filter.Limit, "limit", 100, "how many")
		case "send":
			fs.BoolVar(&o.all, "all", false, "everything that waits")
			fs.DurationVar(&o.wait, "wait", 15*time.Second, "how long to go on watching while nothing moves; 0 = do not watch")
		case "hold":
			fs.BoolVar(&o.all, "all", false, "everything that waits")
			fs.StringVar(&o.reason, "reason", "", "why, for whoever finds it held")
		case "release":
			fs.BoolVar(&o.all, "all", false, "everything that is held")
		case "resolve":
			fs.BoolVar(&o.done, "done", false, "it had its effect: the backend's books show it")
			fs.BoolVar(&o.failed, "failed", false, "it had no effect: the backend's books do not show it, and never will")
			fs.StringVar(&o.note, "note", "", "the proof: where it was looked up, by whom, what stood there")
		}
		return o
	}
}

// proof is what a person has to have seen before an operation is resolved.
const proof = "Proof is what the backend's own books say: look there for the amount, the time and the key, not at the receipt or the\n" +
	"customer's word. --done = the books show it. --failed = they do not, and no attempt is under way that could still arrive.\n" +
	"A wrong --failed charges twice when it is asked for again; a wrong --done loses the money. The note is kept."

func opsCommand() command {
	return command{
		name: "ops", short: "what is owed to the backend: look, send now, hold, decide, reconcile",
		long: "list, show and report read the journal beside the terminal, or without it. The others ask the running terminal: exit 4 when\n" +
			"it does not run, 6 when it refuses. KEY is a key, a local id, or the beginning or end of a key.",
		examples: []string{"posagent ops list --open", "posagent ops show KEY", "posagent ops send --all", "posagent ops report"},
		sub: []command{
			{name: "list", short: "operations in the order they were accepted", flags: opsFlags("list"), run: opsList,
				examples: []string{"posagent ops list --open", "posagent ops list --in doubt", "posagent ops list --kind aapay.reversal --json"}},
			{name: "show", args: "KEY", short: "one operation as a timeline in plain words, and what to type next", flags: opsFlags("show"), run: opsShow,
				examples: []string{"posagent ops show KEY"}},
			{name: "send", args: "[KEY]", short: "send now, without waiting for the next try, and watch", flags: opsFlags("send"), run: opsSend,
				long:     "A bar on a terminal, one line per change elsewhere. Exit 7 when something still waits after --wait without a change.",
				examples: []string{"posagent ops send KEY", "posagent ops send --all", "posagent ops send --all --wait 2m"}},
			{name: "hold", args: "[KEY]", short: "set aside until it is released", flags: opsFlags("hold"), run: opsHold,
				examples: []string{"posagent ops hold KEY --reason \"customer disputes it\"", "posagent ops hold --all --reason \"restored from a backup\""}},
			{name: "release", args: "[KEY]", short: "let what is held go on", flags: opsFlags("release"), run: opsRelease,
				examples: []string{"posagent ops release KEY", "posagent ops release --all"}},
			{name: "resolve", args: "KEY", short: "decide by hand what became of one in doubt or held", flags: opsFlags("resolve"), run: opsResolve,
				long: proof, examples: []string{"posagent ops resolve KEY --done --note \"portal shows capture 4711 at 12:03, M. Berg\"",
					"posagent ops resolve KEY --failed --note \"not in the portal, support case 88\""}},
			{name: "own", args: "KEY CLIENT", short: "give an operation, and what it is about, to a local client", run: opsOwn,
				long:     "CLIENT is the id of a client of [port.clients], or main for the terminal's own token. What was done to the same thing goes along.",
				examples: []string{"posagent ops own KEY kiosk", "posagent ops own KEY main"}},
			{name: "ack", args: "KEY", short: "acknowledge that one came to nothing after its client was told it was stored", flags: opsFlags("ack"), run: opsAck,
				long:     "posagent status shows it until then. Tell whoever waits for the payment first: nothing was paid.",
				examples: []string{"posagent ops ack KEY"}},
			{name: "report", short: "reconciliation: what was stored, and what became of it, with sums", run: opsReport,
				examples: []string{"posagent ops report", "posagent ops report --json"}},
		},
	}
}

// readOps reads from the journal beside the terminal.
func readOps(ctx context.Context, c *call, fn func(r store.Reader) error) error {
	db, err := readAgent(c)
	if err != nil {
		return err
	}
	defer db.Close()
	err = db.Read(ctx, fn)
	var coded *exit
	if errors.As(err, &coded) {
		return err
	}
	if errors.Is(err, outbox.ErrUnknown) {
		return notHere(ctx, db, view.NoOperation, "no such operation (posagent ops list%s shows them)", c.flags())
	}
	return storeError(err)
}

// lookedThrough is how many operations are looked at for a part of a key.
const lookedThrough = 10_000

// findOp finds an operation by its key, its local id, or the beginning or the end of its key.
func findOp(r store.Reader, name string) (wire.Key, error) {
	key, err := view.FindOperation(r, offline.Find, wire.Caller{}, name)
	if !errors.Is(err, outbox.ErrUnknown) || len(name) < 4 {
		return key, err
	}
	list, err := outbox.LookAll(r, outbox.Filter{Limit: lookedThrough})
	if err != nil {
		return "", err
	}
	n := 0
	for _, op := range list {
		if k := string(op.Key); strings.HasPrefix(k, name) || strings.HasSuffix(k, name) {
			key, n = op.Key, n+1
		}
	}
	switch n {
	case 0:
		return "", outbox.ErrUnknown
	case 1:
		return key, nil
	}
	return "", fail(exitUsage, "%q is the beginning or the end of %d operations: give more of it", name, n)
}

// oneOp is the operation that a verb names.
func oneOp(ctx context.Context, c *call) (key wire.Key, err error) {
	if len(c.args) != 1 {
		return "", fail(exitUsage, "%s: which operation? (posagent ops list%s)", c.path, c.flags())
	}
	err = readOps(ctx, c, func(r store.Reader) error { key, err = findOp(r, c.args[0]); return err })
	return key, err
}

func opsList(ctx context.Context, c *call) error {
	o := c.opts.(*opsOptions)
	switch o.filter.State = outbox.State(strings.ToUpper(o.state)); o.filter.State {
	case "", outbox.Pending, outbox.Sent, outbox.Done, outbox.Failed, outbox.Expired, outbox.Doubt, outbox.Held:
	default:
		return fail(exitUsage, "%s: no state %q: pending, sent, done, failed, expired, doubt or held", c.path, o.state)
	}
	if o.filter.Limit < 1 {
		return tooFew(c)
	}
	var v view.Operations
	err := readOps(ctx, c, func(r store.Reader) (err error) { v, err = view.ReadOperations(r, o.filter, offline.IDs); return err })
	if err != nil {
		return err
	}
	if c.json {
		return printJSON(c.out, v)
	}
	fmt.Fprintf(c.out, "%5s %-36s %-22s %-8s %13s %-4s %5s %-9s %s\n", "NO", "KEY", "KIND", "STATE", "AMOUNT", "", "TRIES", "NEXT TRY", "NOTE")
	for _, op := range v.Operations {
		next := "-"
		switch {
		case op.NextTry.After(time.Now()):
			next = op.NextTry.Local().Format(time.TimeOnly)
		case !op.NextTry.IsZero():
			next = "due"
		}
		fmt.Fprintf(c.out, "%5d %-36s %-22s %-8s %13s %-4s %5d %-9s %s\n", op.ID, op.Key, op.Kind, op.State, opAmount(op.Amount, op.Currency), op.Currency,
			op.Attempts, next, op.Note)
	}
	if len(v.Operations) == o.filter.Limit {
		fmt.Fprintf(c.err, "more: posagent ops list --after %d%s\n", v.Operations[len(v.Operations)-1].ID, c.flags())
	}
	return nil
}

func opsShow(ctx context.Context, c *call) error {
	if len(c.args) != 1 {
		return fail(exitUsage, "%s: which operation? (posagent ops list%s)", c.path, c.flags())
	}
	var v view.OneOperation
	err := readOps(ctx, c, func(r store.Reader) error {
		key, err := findOp(r, c.args[0])
		if err == nil {
			v, err = view.ReadOperation(r, key, offline.IDs)
		}
		return err
	})
	if err != nil {
		return err
	}
	if c.json {
		return printJSON(c.out, v)
	}
	op := v.Operation
	fmt.Fprintf(c.out, "%s of %s %s: %s\n", op.Kind, opAmount(op.Amount, op.Currency), op.Currency, op.Says)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(c.out, "%-10s %s\n", name, value)
		}
	}
	row("key", string(op.Key))
	row("local id", op.LocalID)
	row("backend's", op.BackendID)
	row("note", op.Note)
	if op.Attempts > 0 {
		row("attempts", fmt.Sprint(op.Attempts))
	}
	for _, e := range v.Timeline {
		mark := " "
		if e.Loud {
			mark = "!"
		}
		fmt.Fprintf(c.out, "%s %s %s\n", e.At.Local().Format("2006-01-02 15:04:05"), mark, e.Text)
	}
	row("next", op.Next)
	switch {
	case op.NextTry.After(time.Now()):
		row("next try", op.NextTry.Local().Format("2006-01-02 15:04:05")+", at the earliest")
	case !op.NextTry.IsZero():
		row("next try", "as soon as the backend answers again")
	}
	if op.Type != "" {
		row("type", op.Type+c.flags())
	}
	return nil
}

// refused gives what the terminal answers to a verb its exit code and its remedy.
func refused(c *call, err error) error {
	var e *wire.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, control.ErrNoDaemon):
		return fail(exitNoDaemon, "the terminal does not run on %s (start it: posagent run%s)", c.stateDir(), c.flags())
	case errors.Is(err, os.ErrPermission):
		return fail(exitFailed, "%v (run as the owner of the state directory)", err)
	case errors.As(err, &e) && e.Code == wire.Conflict:
		return fail(exitRefused, "%s: refused: %s (posagent ops show%s says how it stands)", c.path, e.Msg, c.flags())
	case errors.As(err, &e) && e.Msg != "":
		return fail(exitFailed, "%s: %s", c.path, e.Msg)
	}
	return err
}

// opsChanged is what a verb has done (posagent.ops.changed/1).
type opsChanged struct {
	Schema string   `json:"schema"`
	Verb   string   `json:"verb"`
	Key    wire.Key `json:"key,omitempty"` // "" = all
	Count  int      `json:"count"`
}

// changed prints what a verb has done.
func (c *call) changed(word string, key wire.Key, count int) error {
	if c.json {
		return printJSON(c.out, opsChanged{"posagent.ops.changed/1", c.cmd.name, key, count})
	}
	what := string(key)
	if key == "" {
		what = fmt.Sprintf("%d operation(s)", count)
	}
	fmt.Fprintf(c.out, "%s %s\n", what, word)
	return nil
}

// target is the operation that a verb names, or all of them.
func target(ctx context.Context, c *call, all bool) (wire.Key, error) {
	if all {
		if len(c.args) > 0 {
			return "", fail(exitUsage, "%s: KEY or --all, not both", c.path)
		}
		return "", nil
	}
	if len(c.args) == 0 {
		return "", fail(exitUsage, "%s: which operation? KEY, or --all (posagent ops list%s)", c.path, c.flags())
	}
	return oneOp(ctx, c)
}

func opsHold(ctx context.Context, c *call) error {
	o := c.opts.(*opsOptions)
	if o.reason == "" {
		return fail(exitUsage, "%s: why? --reason \"…\" is what the next person reads", c.path)
	}
	key, err := target(ctx, c, o.all)
	if err != nil {
		return err
	}
	to, n := control.Client{Path: controlSocket(c)}, 1
	if o.all {
		n, err = to.HoldAll(ctx, o.reason)
	} else {
		err = to.Hold(ctx, key, o.reason)
	}
	if err != nil {
		return refused(c, err)
	}
	return c.changed("held", key, n)
}

func opsAck(ctx context.Context, c *call) error {
	if len(c.args) != 1 {
		return fail(exitUsage, "%s: which operation? (posagent status%s names them)", c.path, c.flags())
	}
	key := wire.Key(c.args[0])
	err := readOps(ctx, c, func(r store.Reader) error {
		found, err := findOp(r, c.args[0])
		if errors.Is(err, outbox.ErrUnknown) { // purged: its alert is still there
			return nil
		}
		key = found
		return err
	})
	if err != nil {
		return err
	}
	to := control.Client{Path: controlSocket(c)}
	if err := to.Acknowledge(ctx, key); err != nil {
		return refused(c, err)
	}
	return c.changed("is acknowledged", key, 1)
}

func opsRelease(ctx context.Context, c *call) error {
	o := c.opts.(*opsOptions)
	key, err := target(ctx, c, o.all)
	if err != nil {
		return err
	}
	to, n := control.Client{Path: controlSocket(c)}, 1
	if o.all {
		n, err = to.ReleaseAll(ctx)
	} else {
		err = to.Release(ctx, key)
	}
	if err != nil {
		return refused(c, err)
	}
	return c.changed("released", key, n)
}

func opsOwn(ctx context.Context, c *call) error {
	if len(c.args) != 2 {
		return fail(exitUsage, "%s: which operation, and which client? (posagent ops own KEY CLIENT)", c.path)
	}
	owner := c.args[1]
	c.args = c.args[:1]
	key, err := oneOp(ctx, c)
	if err != nil {
		return err
	}
	to, id := control.Client{Path: controlSocket(c)}, owner
	if owner == config.Main {
		id = ""
	}
	if err := to.Own(ctx, key, id); err != nil {
		return refused(c, err)
	}
	return c.changed("given to "+owner, key, 1)
}

func opsResolve(ctx context.Context, c *call) error {
	o := c.opts.(*opsOptions)
	if o.done == o.failed {
		return fail(exitUsage, "%s: --done or --failed?\n%s", c.path, proof)
	}
	key, err := oneOp(ctx, c)
	if err != nil {
		return err
	}
	if o.note == "" {
		if o.note, err = askProof(c); err != nil {
			return err
		}
	}
	state, word := outbox.Done, "resolved as accepted"
	if o.failed {
		state, word = outbox.Failed, "resolved as declined"
	}
	to := control.Client{Path: controlSocket(c)}
	if err := to.Resolve(ctx, key, state, o.note); err != nil {
		return refused(c, err)
	}
	return c.changed(word, key, 1)
}

// askProof asks the person at a terminal for the note.
func askProof(c *call) (string, error) {
	f, ok := c.in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return "", fail(exitUsage, "%s: --note \"…\" with the proof is wanted\n%s", c.path, proof)
	}
	fmt.Fprintf(c.err, "%s\nProof: ", proof)
	text, err := bufio.NewReader(io.LimitReader(f, 4096)).ReadString('\n')
	if text = strings.TrimSpace(text); text == "" {
		return "", fail(exitUsage, "%s: nothing is resolved without proof", c.path)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return text, nil
}

func opsReport(ctx context.Context, c *call) error {
	var v view.Reconciliation
	err := readOps(ctx, c, func(r store.Reader) (err error) { v, err = view.ReadReport(r); return err })
	if err != nil {
		return err
	}
	if c.json {
		return printJSON(c.out, v)
	}
	columns := []string{"STORED", "WAITING", "SENT", "ACCEPTED", "DECLINED", "EXPIRED", "IN DOUBT", "HELD"}
	fmt.Fprintf(c.out, "%-22s %-4s", "KIND", "")
	for _, name := range columns {
		fmt.Fprintf(c.out, " %17s", name)
	}
	fmt.Fprintln(c.out)
	print := func(name string, l view.Reconciled) {
		fmt.Fprintf(c.out, "%-22s %-4s", name, l.Currency)
		for _, f := range []view.Figure{l.Stored, l.Waiting, l.Sent, l.Accepted, l.Declined, l.Expired, l.InDoubt, l.Held} {
			text := "-"
			if f.Count > 0 {
				text = fmt.Sprintf("%d  %s", f.Count, opAmount(f.Sum, l.Currency))
			}
			fmt.Fprintf(c.out, " %17s", text)
		}
		fmt.Fprintln(c.out)
	}
	for _, l := range v.Lines {
		print(l.Kind, l)
	}
	open := false
	for _, l := range v.Totals {
		print("all", l)
		open = open || l.Open()
	}
	for _, l := range v.Totals {
		if l.Purged.Count > 0 {
			fmt.Fprintf(c.out, "counted above, and deleted after [offline] retention: %d  %s\n", l.Purged.Count, opAmount(l.Purged.Sum, l.Currency))
		}
	}
	if len(v.Lines) == 0 {
		fmt.Fprintln(c.out, "nothing was ever stored")
	} else if open {
		fmt.Fprintf(c.out, "not at its end: posagent ops list --open%s\n", c.flags())
	}
	return nil
}
