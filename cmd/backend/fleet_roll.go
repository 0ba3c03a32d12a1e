package backend

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"

	"posagent/agent/config"
	"posagent/cmd/usage"
	"posagent/schemes/backend"
	"posagent/schemes/fleet"
	"posagent/schemes/wire"
)

// rollOptions are the flags of `fleet roll start`.
type rollOptions struct {
	stages        string
	enough        int
	soak, silence time.Duration
}

const rollJSON = "posagent.fleet.roll/1"

func rollVerbs(flags func(names ...string) func(*Call, *flag.FlagSet)) usage.Command[*Call] {
	verb := func(name, short, long string, move fleet.Move, example string) usage.Command[*Call] {
		return usage.Command[*Call]{
			Verb:    usage.Verb{Name: name, Args: "ID", Short: short, Long: long, JSON: []string{rollJSON}, Examples: []string{example}},
			Options: flags("backend"), Run: func(ctx context.Context, c *Call) error { return rollMove(ctx, c, move) },
		}
	}
	return usage.Command[*Call]{Verb: usage.Verb{
		Name: "roll", Short: "give settings to all terminals, one stage after the other, and take them back",
		Long: "A stage begins when enough of the one before work with the settings and were healthy for a time. It pauses by itself once at least\n" +
			"two terminals, and more than 5 % of those that tried, refuse the settings, go back from them, or fall silent with them;\n" +
			"or where a stage has none left to wait for, and too few are healthy.",
		Examples: []string{"PROGRAM fleet roll start offline.max_count=50 WHERE", "PROGRAM fleet roll list WHERE", "PROGRAM fleet roll back ID WHERE"},
	}, Commands: []usage.Command[*Call]{
		{
			Verb: usage.Verb{
				Name: "start", Args: "KEY=VALUE...", Short: "begin a roll-out of settings; one is open at a time",
				Long: "The terminals are those that are enrolled now. Each roll-out puts them in another order. A secret, a register line and what a terminal\n" +
					"is called are no settings of all: fleet configure gives them to one.",
				JSON: []string{rollJSON},
				Examples: []string{
					"PROGRAM fleet roll start offline.max_count=50 methods.poll=3s WHERE",
					"PROGRAM fleet roll start methods.caller=winter WHERE",
					"PROGRAM fleet roll start upstream.base=https://b.example --stages 5,100 --soak 2h --backend https://fleet.example --json",
				},
			}, Options: func(c *Call, fs *flag.FlagSet) {
				flags("backend")(c, fs)
				fs.StringVar(&c.roll.stages, "stages", "1,10,50,100", "`percent` of the terminals in each stage, the last one 100")
				fs.IntVar(&c.roll.enough, "enough", 90, "`percent` of a stage that have to be healthy before the next one begins")
				usage.SpanVar(fs, &c.roll.soak, "soak", 30*time.Minute, "how long a terminal has to report health with the settings, 1m to 30d")
				usage.SpanVar(fs, &c.roll.silence, "silence", time.Hour, "how long a terminal that took the settings may not report, 5m to 30d")
			}, Run: rollStart,
		},
		{
			Verb: usage.Verb{
				Name: "list", Short: "the newest twenty roll-outs; read-only, also while the backend does not run", JSON: []string{rollJSON},
				Long:     "fleet list shows the terminals: the revision that each has and is to have, and why it refuses one.",
				Examples: []string{"PROGRAM fleet roll list WHERE", "PROGRAM fleet roll list --backend https://fleet.example --json"},
			}, Options: flags("backend"), Run: rollList,
		},
		verb("pause", "give the settings to no other terminal", "Terminals that have the settings keep them.", fleet.Pause, "PROGRAM fleet roll pause ID WHERE"),
		verb("resume", "go on; what has failed does not count any more", "", fleet.Resume, "PROGRAM fleet roll resume ID WHERE"),
		verb("back", "give each terminal what it had before, as a newer revision", "What was configured since stays.", fleet.TakeBack, "PROGRAM fleet roll back ID WHERE"),
	}}
}

// settingsOf reads the settings of a command line.
func settingsOf(c *Call) ([]fleet.Setting, error) {
	if len(c.Args) == 0 {
		return nil, usage.Fail(usage.ExitUsage, "%s: want at least one KEY=VALUE, as in offline.max_count=50", c.Path)
	}
	list, text := []fleet.Setting{}, ""
	for _, arg := range c.Args {
		key, value, ok := strings.Cut(arg, "=")
		if !ok {
			return nil, usage.Fail(usage.ExitUsage, "%s: %q: want KEY=VALUE, as in offline.max_count=50", c.Path, arg)
		}
		literal, err := config.Literal(key, value)
		if err == nil {
			if why := fleet.Fleetwide(key); why != "" {
				err = fmt.Errorf("%s", why)
			}
		}
		if err != nil {
			return nil, usage.Fail(usage.ExitUsage, "%s: %s: %w", c.Path, key, err)
		}
		list = append(list, fleet.Setting{Key: key, Value: literal})
		text, _ = fleet.Apply(text, list[len(list)-1:])
	}
	return list, checkGiven("KEY=VALUE", []byte(text))
}

func rollStart(ctx context.Context, c *Call) error {
	o := c.roll
	list, err := settingsOf(c)
	if err != nil {
		return err
	}
	req := fleet.StartRequest{Settings: list, Enough: int32(min(max(o.enough, -1), 101)), SoakSeconds: spanSeconds(o.soak), SilenceSeconds: spanSeconds(o.silence)}
	for s := range strings.SplitSeq(o.stages, ",") {
		n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(s), "%"), 10, 32)
		if err != nil {
			return usage.Fail(usage.ExitUsage, "%s: --stages %s: want numbers like 1,10,50,100", c.Path, o.stages)
		}
		req.Stages = append(req.Stages, int32(n))
	}
	return rollAsk(ctx, c, func(ctx context.Context, client *fleet.Client) (fleet.Roll, error) {
		return client.Start(ctx, wire.NewKey(), req)
	})
}

// spanSeconds is a length in seconds; -1, which the service refuses, for one that is none.
func spanSeconds(d time.Duration) int32 {
	if d < time.Second || d > fleet.MaxTTL*time.Second {
		return -1
	}
	return int32(d / time.Second)
}

func rollMove(ctx context.Context, c *Call, move fleet.Move) error {
	if len(c.Args) != 1 {
		return usage.Fail(usage.ExitUsage, "%s: want one id (%s fleet roll list prints them)", c.Path, c.Program)
	}
	return rollAsk(ctx, c, func(ctx context.Context, client *fleet.Client) (fleet.Roll, error) {
		return client.Move(ctx, wire.NewKey(), fleet.MoveRequest{ID: c.Args[0], Move: move})
	})
}

// rollAsk asks a running backend, and prints the roll-out that it answers with.
func rollAsk(ctx context.Context, c *Call, ask func(context.Context, *fleet.Client) (fleet.Roll, error)) error {
	ctx, cancel := context.WithTimeout(ctx, fleetWait)
	defer cancel()
	client, err := fleetAt(ctx, c)
	if err != nil {
		return err
	}
	got, err := ask(ctx, client)
	switch {
	case err == nil:
		return printRolls(c, []fleet.Roll{got})
	case wire.CodeOf(err) == wire.NotFound:
		return usage.Fail(usage.ExitFailed, "%w (%s fleet roll list prints the ids)", err, c.Program)
	case wire.ReasonOf(err) == fleet.RollOpen || wire.ReasonOf(err) == fleet.RollEnded:
		return usage.Fail(usage.ExitRefused, "%w (%s fleet roll list shows it)", err, c.Program)
	}
	return c.fleetFailed(err)
}

func rollList(ctx context.Context, c *Call) error {
	if c.fleet.backend == "" {
		dir, _, err := c.dir()
		if err != nil {
			return err
		}
		list, err := backend.ReadRolls(ctx, c.at(dir))
		if err != nil {
			return c.unread(err)
		}
		return printRolls(c, list)
	}
	ctx, cancel := context.WithTimeout(ctx, fleetWait)
	defer cancel()
	client, err := fleetAt(ctx, c)
	if err != nil {
		return err
	}
	got, err := client.Rolls(ctx)
	if err != nil {
		return c.fleetFailed(err)
	}
	return printRolls(c, got.Rolls)
}

func printRolls(c *Call, list []fleet.Roll) error {
	if c.JSON {
		return usage.PrintJSON(c.Out, struct {
			Schema string       `json:"schema"`
			Rolls  []fleet.Roll `json:"rolls"`
		}{rollJSON, list})
	}
	fmt.Fprintf(c.Out, "%-16s %-7s %-10s %6s %6s %6s %7s %6s %6s %6s  %s\n", "ID", "STATE", "STAGE", "BOXES", "GIVEN", "TAKEN", "HEALTHY", "FAILED", "SILENT", "BACK", "SETTINGS")
	for _, r := range list {
		what := make([]string, len(r.Settings))
		for i, s := range r.Settings {
			what[i] = s.Key + "=" + s.Value
		}
		note := ""
		if r.Reason != "" {
			note = "  (" + r.Reason + ")"
		}
		fmt.Fprintf(c.Out, "%-16s %-7s %-10s %6d %6d %6d %7d %6d %6d %6d  %s%s\n", r.ID, r.State, fmt.Sprintf("%d/%d %d%%", r.Stage, len(r.Stages), r.Stages[r.Stage-1]),
			r.Boxes, r.Given, r.Taken, r.Healthy, r.Failed, r.Silent, r.Back, strings.Join(what, " "), note)
	}
	return nil
}
