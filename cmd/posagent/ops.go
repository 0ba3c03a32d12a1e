package main

import (
	"flag"
	"time"

	"posagent/cmd/usage"
)

func opsCommand() command {
	return command{
		name: "ops", short: "what is owed to the backend: look, send now, hold, decide, reconcile",
		long: "list, show and report read the journal beside the terminal, or without it. The others ask the running terminal: exit 4 when\n" +
			"it does not run, 6 when it refuses. KEY is a key, a local id, or the beginning or end of a key.",
		examples: []string{"posagent ops list --open", "posagent ops show KEY", "posagent ops send --all", "posagent ops report"},
		sub: []command{
			{name: "list", reads: true, short: "operations in the order they were accepted", flags: opsFlags("list"), run: opsList,
				json:     []string{"posagent.operations/1"},
				examples: []string{"posagent ops list --open", "posagent ops list --in doubt", "posagent ops list --kind aapay.reversal --json"}},
			{name: "show", reads: true, args: "KEY", short: "one operation as a timeline in plain words, and what to type next", flags: opsFlags("show"), run: opsShow,
				json:     []string{"posagent.operation/1"},
				examples: []string{"posagent ops show KEY"}},
			{name: "send", args: "[KEY]", short: "send now, without waiting for the next try, and watch", flags: opsFlags("send"), run: opsSend,
				long:     "A bar on a terminal, one line per change elsewhere. Exit 7 when something still waits after --wait without a change.",
				json:     []string{"posagent.ops.send/1"},
				examples: []string{"posagent ops send KEY", "posagent ops send --all", "posagent ops send --all --wait 2m"}},
			{name: "hold", args: "[KEY]", short: "set aside until it is released", flags: opsFlags("hold"), run: opsHold,
				json:     []string{"posagent.ops.changed/1"},
				examples: []string{"posagent ops hold KEY --reason \"customer disputes it\"", "posagent ops hold --all --reason \"restored from a backup\""}},
			{name: "release", args: "[KEY]", short: "let what is held go on", flags: opsFlags("release"), run: opsRelease,
				json:     []string{"posagent.ops.changed/1"},
				examples: []string{"posagent ops release KEY", "posagent ops release --all"}},
			{name: "resolve", args: "KEY", destroys: true, short: "decide by hand what became of one in doubt or held", flags: opsFlags("resolve"), run: opsResolve,
				long: proof, json: []string{"posagent.ops.changed/1"},
				examples: []string{"posagent ops resolve KEY --done --note \"portal shows capture 4711 at 12:03, M. Berg\"",
					"posagent ops resolve KEY --failed --note \"not in the portal, support case 88\""}},
			{name: "own", args: "KEY CLIENT", short: "give an operation, and what it is about, to a local client", run: opsOwn,
				long:     "CLIENT is the id of a client of [port.clients], or main for the terminal's own token. What was done to the same thing goes along.",
				json:     []string{"posagent.ops.changed/1"},
				examples: []string{"posagent ops own KEY kiosk", "posagent ops own KEY main"}},
			{name: "ack", args: "KEY", short: "acknowledge an alert of a sale or an operation, once it is put right", flags: opsFlags("ack"), run: opsAck,
				long:     "KEY is that of the sale or the operation, as posagent status shows it. It names who is short of the amount, and what to do first.",
				json:     []string{"posagent.ops.changed/1"},
				examples: []string{"posagent ops ack KEY"}},
			{name: "report", short: "reconciliation: what was stored, and what became of it, with sums", run: opsReport,
				json:     []string{"posagent.ops.report/1"},
				examples: []string{"posagent ops report", "posagent ops report --json"}},
		},
	}
}

// opsLimit is how many operations are listed where nothing else narrows the list.
const opsLimit = 100

// opsFlags registers the flags of one verb of ops.
func opsFlags(which string) func(fs *flag.FlagSet) any {
	return func(fs *flag.FlagSet) any {
		o := &opsOptions{}
		switch which {
		case "list":
			fs.StringVar(&o.state, "in", "", "only those in this `state`: pending, sent, done, failed, expired, doubt, held")
			fs.StringVar(&o.filter.Kind, "kind", "", "only this `kind` (posagent ops report names them)")
			fs.BoolVar(&o.filter.Open, "open", false, "only what is not at its end")
			fs.Int64Var(&o.filter.After, "after", 0, "only those behind this `number`")
			fs.IntVar(&o.filter.Limit, "limit", opsLimit, "only the oldest `number`; with --open all, unless it is named")
		case "send":
			fs.BoolVar(&o.all, "all", false, "everything that waits")
			usage.SpanVar(fs, &o.wait, "wait", 15*time.Second, "how long to go on watching while nothing moves; 0 = do not watch")
		case "hold":
			fs.BoolVar(&o.all, "all", false, "everything that waits")
			fs.StringVar(&o.reason, "reason", "", "`text`: why, for whoever finds it held")
		case "release":
			fs.BoolVar(&o.all, "all", false, "everything that is held")
		case "resolve":
			fs.BoolVar(&o.done, "done", false, "it had its effect: the backend's books show it")
			fs.BoolVar(&o.failed, "failed", false, "it had no effect: the backend's books do not show it, and never will")
			fs.StringVar(&o.note, "note", "", "`text`: the proof, where it was looked up, by whom, what stood there")
		}
		return o
	}
}
