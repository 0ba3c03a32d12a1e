package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"posagent/agent/doctor/exam"
	"posagent/agent/support/bundle"
	"posagent/schemes/fleet"
)

func recordCommand() command {
	return command{
		name: "record", args: "[TIME] [-- COMMAND...]", short: "record what happens while you reproduce a fault, into one file without secrets",
		long: "It records for TIME, for as long as COMMAND runs, or until both have ended. Ctrl-C ends it, and what was recorded is kept.\n" +
			"Of the running terminal it has: the log at every level, the names and lengths of the registers' messages, method, route, reply and\n" +
			"time of each request to the backend, each change of a sale or an operation, and figures of memory, files and the journal's log.\n" +
			"doctor and status are asked before and after. Amounts, passwords, card numbers, bodies and headers are in none of it. Of COMMAND it\n" +
			"has the exit code and what it printed, secrets masked. It works without the running terminal, too, and then says what is missing.\n" +
			"Where the file lies: posagent support bundle --help. Exit: that of COMMAND, else 0.",
		json:     []string{"posagent.record/1"},
		examples: []string{"posagent support record 60s", "posagent support record -- posagent register pay 12.50 --line /dev/ttyUSB1", "posagent support record 2m --json -- curl -s http://127.0.0.1:8480/readyz"},
		flags: func(fs *flag.FlagSet) any {
			o := &supportOptions{}
			fs.StringVar(&o.out, "out", "", "write this `file` instead")
			fs.BoolVar(&o.noLog, "no-log", false, "leave the system's log out; the terminal's own is recorded all the same")
			return o
		},
		run: supportRecord,
	}
}

// longestRecording bounds TIME.
const longestRecording = time.Hour

// recordArgs reads TIME, 0 = none, and COMMAND.
func recordArgs(c *call) (span time.Duration, command []string, err error) {
	times := c.args
	if c.before >= 0 {
		times, command = c.args[:c.before], c.args[c.before:]
	}
	switch {
	case len(times) > 1:
		return 0, nil, fail(exitUsage, "%s: one TIME, and the command behind -- (posagent %s 60s -- COMMAND)", c.path, c.path)
	case len(times) == 0 && len(command) == 0:
		return 0, nil, fail(exitUsage, "%s: for how long? posagent %s 60s, or posagent %s -- COMMAND", c.path, c.path, c.path)
	case len(times) == 1:
		span, err = time.ParseDuration(times[0])
		if err != nil || span < time.Second || span > longestRecording {
			return 0, nil, fail(exitUsage, "%s: %q is no time between 1s and 1h, like 60s or 2m", c.path, times[0])
		}
	}
	return span, command, nil
}

// recordView is what a recording came to (posagent.record/1).
type recordView struct {
	Schema      string         `json:"schema"`
	Began       time.Time      `json:"began"`
	Ended       time.Time      `json:"ended"`
	Interrupted bool           `json:"interrupted"`
	Missing     []string       `json:"missing"` // what could not be recorded, and when it could not
	Lines       map[string]int `json:"lines"`   // of each part
	LeftOut     map[string]int `json:"leftOut"` // lines for which there was no room
	Before      []string       `json:"failedBefore"`
	After       []string       `json:"failedAfter"` // checks of doctor
	Command     *ranView       `json:"command"`     // null = none was given
}

// recorded is the whole answer.
type recorded struct {
	recordView
	Marker string         `json:"marker"`
	File   string         `json:"file"`
	Files  []bundle.Entry `json:"files"`
}

func supportRecord(ctx context.Context, c *call) error {
	o := c.opts.(*supportOptions)
	span, argv, err := recordArgs(c)
	if err != nil {
		return err
	}
	secrets, unread := supportSecrets(c)
	secrets = append(secrets, secretArgs(argv)...)
	clean := bundle.NewCleaner(secrets)
	v := recordView{Schema: "posagent.record/1", Missing: []string{}}
	whole := context.WithoutCancel(ctx) // what was recorded is kept
	parts := []bundle.Part{verbPart(whole, c, "version.json", []string{"version"}), verbPart(whole, c, "config.json", []string{"config", "show"})}
	before := verbPart(whole, c, "before/doctor.json", []string{"doctor"})
	v.Before = failedIn(before.Data)
	parts = append(parts, before, verbPart(whole, c, "before/status.json", []string{"status"}))

	t := newTape(c)
	v.Began = time.Now().UTC()
	var out ran
	v.Interrupted, out = t.record(ctx, span, argv, clean)
	v.Ended = time.Now().UTC()

	after := verbPart(whole, c, "after/doctor.json", []string{"doctor"})
	v.After = failedIn(after.Data)
	parts = append(parts, after)
	for _, p := range [][]string{{"status"}, {"sale", "list", "--limit", "20"}, {"ops", "list", "--limit", "50"}} {
		parts = append(parts, verbPart(whole, c, "after/"+strings.Join(p[:min(len(p), 2)], "-")+".json", p))
	}
	parts = append(parts, findings(after.Data))
	parts = append(parts, t.parts()...)
	if !o.noLog && unread == nil {
		parts = append(parts, supportLog(whole, fmt.Sprintf("@%d", v.Began.Unix())))
	} else if !o.noLog {
		t.miss("the configuration cannot be read, so its secrets are not known: the system's log is left out")
	}
	if len(argv) > 0 {
		v.Command = &out.view
	}
	if len(argv) > 0 && unread != nil {
		t.miss("the configuration cannot be read, so its secrets are not known: what the command printed is left out")
	} else if len(argv) > 0 {
		parts = append(parts,
			bundle.Part{Name: "command/stdout.txt", How: "what the command printed", Data: out.stdout.bytes()},
			bundle.Part{Name: "command/stderr.txt", How: "what the command said", Data: out.stderr.bytes()})
	}
	v.Missing, v.Lines, v.LeftOut = append(v.Missing, t.missing...), t.lines, t.left
	var summary bytes.Buffer
	if err := printJSON(&summary, v); err != nil {
		return err
	}
	parts = append([]bundle.Part{{Name: "record.json", How: "posagent " + c.path, Data: summary.Bytes()}}, parts...)
	return keepRecording(c, o, recorded{recordView: v}, clean, secrets, parts)
}

// keepRecording writes the archive, and says where it is.
func keepRecording(c *call, o *supportOptions, v recorded, clean *bundle.Cleaner, secrets []string, parts []bundle.Part) error {
	var archive bytes.Buffer
	m, err := bundle.Write(&archive, time.Now(), version, secrets, parts)
	if err != nil {
		return fail(exitFailed, "%s: %v", c.path, err)
	}
	v.Marker, v.Files = m.Marker, m.Files
	if v.File, err = keepBundle(c, o.out, m.Marker, archive.Bytes()); err != nil {
		return fail(exitFailed, "%s: %v (--out FILE writes it elsewhere)", c.path, err)
	}
	if c.json {
		var text bytes.Buffer
		if err = printJSON(&text, v); err == nil {
			_, err = c.out.Write(clean.Data(text.Bytes()))
		}
	} else {
		fmt.Fprintf(c.out, "%s\n%s: %d files, %d KiB\n", v.Marker, v.File, len(v.Files)+1, archive.Len()>>10+1)
		fmt.Fprintf(c.out, "%.0f s: %s\n", v.Ended.Sub(v.Began).Seconds(), v.counted())
		fmt.Fprintln(c.out, "look inside: tar -tzf", v.File)
	}
	for _, why := range v.Missing {
		fmt.Fprintln(c.err, "not recorded:", shown(clean.Text(why)))
	}
	if err == nil && v.Command != nil && v.Command.Exit != exitOK {
		err = exitWith(v.Command.Exit, errors.New(""))
	}
	return err
}

// counted says how much was recorded.
func (v recordView) counted() string {
	return fmt.Sprintf("%d log lines, %d messages of registers, %d requests to the backend, %d events", v.Lines[ofLog], v.Lines[ofRegister], v.Lines[ofRequests], v.Lines[ofEvents])
}

// failedIn are the ids of the checks that failed in an examination.
func failedIn(examined []byte) []string {
	var v struct{ Checks []exam.Result }
	list := []string{}
	if json.Unmarshal(examined, &v) != nil {
		return list
	}
	for _, r := range v.Checks {
		if r.Status == exam.Fail {
			list = append(list, r.ID)
		}
	}
	return list
}

// secretArgs are the secrets in the words of a command: one-time codes, in every form, and what stands behind the name of a secret.
func secretArgs(argv []string) (list []string) {
	names := bundle.NewCleaner(nil)
	for i, arg := range argv {
		name, value, with := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if strings.HasPrefix(arg, "-") && names.Hides(name) {
			if !with && i+1 < len(argv) {
				value = argv[i+1]
			}
			list = append(list, value)
		}
		words := strings.FieldsFunc(arg, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`'"=;`, r) })
		for _, word := range append(words, arg) {
			if code, err := fleet.ParseCode(word); err == nil {
				list = append(list, word, code.Reveal(), fleet.ShowCode(code))
			}
			if ticket, err := fleet.ParseTicket(word); err == nil {
				list = append(list, ticket.Code.Reveal(), fleet.ShowCode(ticket.Code))
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
