package main

import (
	"flag"
	"fmt"
	"io"

	"posagent/cmd/usage"
)

// verb is one row of the table of verbs.
type verb = usage.Command[*call]

// verbs is the table of verbs. Help, manual page and completions are made from it.
func verbs() []verb {
	onBox, atDesk := (*call).boxFlags, (*call).deskFlags
	return append([]verb{
		{Options: onBox, Run: check, Verb: usage.Verb{
			Name: "check", Short: "say what the repository offers for this box, and change nothing", JSON: []string{offerSchema},
			Examples: []string{"posagent-update check", "posagent-update check --from /media/stick --json"},
		}},
		{Options: onBox, Run: takeUpdate, Verb: usage.Verb{
			Name: "update", Short: "take a newer program through its trial, as the timer does", JSON: []string{offerSchema},
			Long: "The terminal is restarted in a moment without a sale. Where it is not as before within the trial, the program before is put back,\n" +
				"and the exit code is 1. An update that was cut off goes on first.",
			Examples: []string{"posagent-update update", "posagent-update update --from /media/stick",
				"posagent-update update --again     # a version that was taken back"},
		}},
		{Options: onBox, Run: resume, Verb: usage.Verb{
			Name: "resume", Short: "go on with an update that was cut off", JSON: []string{"posagent.update-resumed/1"},
			Examples: []string{"posagent-update resume"},
		}},
		{Options: onBox, Run: rollback, Verb: usage.Verb{
			Name: "rollback", Short: "put the program before in place again", JSON: []string{summarySchema},
			Long: "Refused where that program is not there any more, or cannot open the journal. An update that was cut off goes on first: where it\n" +
				"ends well nothing is put back, and the exit code is 6.",
			Examples: []string{"posagent-update rollback --reason 'the printer stays dark'"},
		}},
		{Options: onBox, Run: status, Verb: usage.Verb{
			Name: "status", Short: "say what the last update came to", JSON: []string{summarySchema},
			Examples: []string{"posagent-update status", "posagent-update status --json"},
		}},
		{
			Verb: usage.Verb{
				Name: "repository", Short: "make what the boxes trust, at the desk of the releases",
				Examples: []string{"posagent-update repository refresh --online-key online.key"},
			},
			Commands: []verb{
				{Options: atDesk, Run: repositoryInit, Verb: usage.Verb{
					Name: "init", Short: "make a repository", JSON: []string{repositorySchema},
					Long: "Its file 1.root.json is the root.json of every box. Two keys of the root and two of the programs, which different people keep:\n" +
						"one that is stolen is not enough. It is refused with fewer, and with one key twice: no box would believe it, or one is enough.",
					Examples: []string{
						"posagent-update repository init --root-key root1.key --root-key root2.key --targets-key programs1.key " +
							"--targets-key programs2.key --online-key online.key",
						"openssl genpkey -algorithm ed25519 -out root1.key     # a key",
					},
				}},
				{Options: atDesk, Run: repositoryAdd, Verb: usage.Verb{
					Name: "add", Args: "FILE...", Short: "offer programs in it, or change which part of the boxes is to have them", JSON: []string{repositorySchema},
					Long: "A FILE has the name of the program in the repository, like posagent-armv7. One that is not there is a program that is offered\n" +
						"already: its part of the boxes changes, and 0 stops it. FILE.cdx.json and FILE.copyright, which make cross writes, are offered with it:\n" +
						"what is inside the program, and the licences of that.",
					Examples: []string{
						"posagent-update repository add --version 1.2.0 --percent 10 --targets-key programs1.key --targets-key programs2.key " +
							"--online-key online.key bin/posagent-armv7",
					},
				}},
				{Options: atDesk, Run: repositoryRefresh, Verb: usage.Verb{
					Name: "refresh", Short: "sign anew that this is its newest state", JSON: []string{repositorySchema},
					Long:     "Boxes believe a state for two weeks: let a timer refresh it every week.",
					Examples: []string{"posagent-update repository refresh --online-key online.key"},
				}},
			},
		},
	}, usage.Texts[*call]("posagent.update-", program)...)
}

// The schemas of what verbs print with --json.
const (
	offerSchema      = "posagent.update-offer/1"
	summarySchema    = "posagent.update/1"
	repositorySchema = "posagent.update-repository/1"
)

// shell is how the verbs are called.
func shell(out, talk io.Writer) usage.Shell[*call] {
	return usage.Shell[*call]{
		Name: "posagent-update", Commands: verbs(), Overview: overview, Out: out, Err: talk,
		New: func() *call { return &call{out: out, talk: talk} },
		Every: func(c *call, fs *flag.FlagSet, v usage.Verb) {
			fs.BoolVar(&c.json, "json", false, usage.JSONHelp(v.JSON))
		},
		Given: func(c *call, _ usage.Verb, _ string, rest []string) { c.args = rest },
	}
}

func (c *call) boxFlags(fs *flag.FlagSet)  { c.box.flags(fs) }
func (c *call) deskFlags(fs *flag.FlagSet) { c.desk.flags(fs) }

// program is what this program says of itself.
func program() usage.Program {
	return usage.Program{
		Name: "posagent-update", Version: linked, What: "signed updates of the payment terminal posagent", About: manualAbout, More: manualMore,
		Flags: func(fs *flag.FlagSet) {
			fs.Bool("json", false, "print JSON with a versioned schema; each verb names it")
		},
		First: []string{"help", "--help", "--version"}, Verbs: shell(nil, nil).Described(), Codes: exitCodes(),
	}
}

// exitCodes are the numbers of posagent, with what they mean here. A program that talks to no daemon and is not enrolled has no 4 and 5.
func exitCodes() []usage.Code {
	return []usage.Code{
		{Number: usage.ExitOK, Means: "ok"}, {Number: usage.ExitFailed, Means: "failed, or the new program was taken back"},
		{Number: usage.ExitUsage, Means: "usage"}, {Number: usage.ExitConfig, Means: "config"}, {Number: usage.ExitRefused, Means: "refused"},
		{Number: usage.ExitNoBackend, Means: "repository unreachable"}, {Number: usage.ExitAuth, Means: "repository not trusted"},
		{Number: usage.ExitDamaged, Means: "record damaged"}, {Number: usage.ExitInterrupted, Means: "interrupted"},
	}
}

const manualAbout = `posagent\-update replaces the program of a payment terminal by a newer, signed one, and takes it back where the
terminal is worse with it. It runs as root, from a timer or by hand.
.B posagent update
calls it.
`

const manualMore = `.PP
The numbers are those of posagent. 4, for a terminal that does not run, and 5, for one that is not enrolled, never
come from this program.
.SH FILES
.TP
/etc/posagent/update/root.json
the root of the repository, which this box trusts
.TP
/etc/posagent/update/url
the address of the repository
.TP
/etc/posagent/update/roots.pem
authorities behind that address, in place of those of the system; may be missing
.TP
/var/lib/posagent\-update/record.json
what updates have come to
.SH SEE ALSO
.BR posagent (1)
`

// overview writes what this program is, its verbs and its exit codes.
func overview(w io.Writer) {
	p := program()
	fmt.Fprint(w, "posagent-update replaces the terminal's program by a newer, signed one.\n\n")
	for _, v := range p.Verbs {
		fmt.Fprintf(w, "  posagent-update %-12s %s\n", v.Name, v.Short)
	}
	fmt.Fprint(w, "\nposagent-update VERB --help starts with examples.\n"+p.CodeLine()+"\n")
}
