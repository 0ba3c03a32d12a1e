package usage

import (
	"flag"
	"strings"
)

// Program is what a program says of itself.
type Program struct {
	Name    string
	Version string
	What    string              // in a few words, for the heading of the manual
	About   string              // its section DESCRIPTION, in the language of man
	More    string              // the sections behind the exit codes, in the language of man, may be ""
	Flags   func(*flag.FlagSet) // of every verb: the manual has them once
	First   []string            // what may also stand in place of a verb, like --version
	Verbs   []Verb
	Codes   []Code
}

// Verb is one thing that a program does.
type Verb struct {
	Name     string
	Args     string              // what follows the flags, for the line of usage
	Short    string              // one line
	Long     string              // what a reader of the help needs beyond it, may be ""
	Examples []string            // of whole commands
	JSON     []string            // schemas of what --json prints
	Destroys bool                // it gives up what cannot be had back: no suggestion names it
	Flags    func(*flag.FlagSet) // all that it takes; nil = it has sub-verbs alone
	Sub      []Verb
}

// Code is an exit code.
type Code struct {
	Number int
	Means  string
}

// Row is a verb with the words that call it.
type Row struct {
	Path string // "posagent sale show"
	Verb
}

// Rows are all verbs, each one's sub-verbs behind it.
func (p Program) Rows() (list []Row) {
	var walk func(prefix string, verbs []Verb)
	walk = func(prefix string, verbs []Verb) {
		for _, v := range verbs {
			path := prefix + " " + v.Name
			list = append(list, Row{path, v})
			walk(path, v.Sub)
		}
	}
	walk(p.Name, p.Verbs)
	return list
}

// Flag is one flag as a reader sees it.
type Flag struct {
	Name, Value, Help, Default string // Value "" = it takes none
}

// oldSpelling begins the usage of a flag that only works for those who type it.
const oldSpelling = "the old spelling of --"

// Old lets an old spelling of a flag go on working. It means the same, and no help, page or completion
// has it.
func Old(fs *flag.FlagSet, old, name string) { fs.Var(fs.Lookup(name).Value, old, oldSpelling+name) }

// IsOld says that a flag is an old spelling of another.
func IsOld(f *flag.Flag) bool { return strings.HasPrefix(f.Usage, oldSpelling) }

// FlagsOf lists what a function registers, by name. nil registers nothing.
func FlagsOf(register func(*flag.FlagSet)) (list []Flag) {
	if register == nil {
		return nil
	}
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	register(fs)
	fs.VisitAll(func(f *flag.Flag) {
		if IsOld(f) {
			return
		}
		value, help := flag.UnquoteUsage(f)
		if b, is := f.Value.(interface{ IsBoolFlag() bool }); is && b.IsBoolFlag() {
			value = ""
		}
		if _, is := f.Value.(*timespan); is {
			value = "duration"
		}
		list = append(list, Flag{f.Name, value, help, f.DefValue})
	})
	return list
}

// JSONHelp is the help of the flag --json of a verb whose JSON has these schemas.
func JSONHelp(schemas []string) string {
	if len(schemas) == 0 {
		return "changes nothing: this verb prints no JSON"
	}
	return "print JSON: " + strings.Join(schemas, ", ")
}

// Names are the names of verbs.
func Names(list []Verb) (names []string) {
	for _, v := range list {
		names = append(names, v.Name)
	}
	return names
}
