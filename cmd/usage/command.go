package usage

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Command is a verb that a program runs. C is what the verb is given: its flags, its arguments and where it writes.
type Command[C any] struct {
	Verb
	Options  func(C, *flag.FlagSet)         // registers the verb's own flags, may be nil
	Run      func(context.Context, C) error // nil = it has sub-verbs alone
	Commands []Command[C]                   // behind its name
}

// Lift makes a command of a program that gives its verbs more than this one needs.
func Lift[A, B any](c Command[A], of func(B) A) Command[B] {
	lifted := Command[B]{Verb: c.Verb}
	if c.Options != nil {
		lifted.Options = func(b B, fs *flag.FlagSet) { c.Options(of(b), fs) }
	}
	if c.Run != nil {
		lifted.Run = func(ctx context.Context, b B) error { return c.Run(ctx, of(b)) }
	}
	for _, sub := range c.Commands {
		lifted.Commands = append(lifted.Commands, Lift(sub, of))
	}
	return lifted
}

// Shell finds the verb that somebody has typed, and runs it.
type Shell[C any] struct {
	Name     string
	Usual    string // the verb that is meant where flags alone are typed, "" = none
	Commands []Command[C]
	New      func() C                                      // for one run of a verb
	Every    func(C, *flag.FlagSet, Verb)                  // registers the flags of every verb
	Given    func(c C, v Verb, path string, rest []string) // takes the arguments, before the verb runs
	Overview func(io.Writer)
	Out, Err io.Writer
}

// Described are the rows of a table as a reader of the help sees them.
func (s Shell[C]) Described() []Verb { return s.described(s.Commands) }

func (s Shell[C]) described(list []Command[C]) (rows []Verb) {
	for _, c := range list {
		rows = append(rows, s.row(c))
	}
	return rows
}

func (s Shell[C]) row(c Command[C]) Verb {
	v := c.Verb
	v.Sub = s.described(c.Commands)
	if c.Run != nil {
		v.Flags = func(fs *flag.FlagSet) { s.register(s.New(), c, fs) }
	}
	return v
}

func (s Shell[C]) register(to C, c Command[C], fs *flag.FlagSet) {
	s.Every(to, fs, c.Verb)
	if c.Options != nil {
		c.Options(to, fs)
	}
}

// Do runs the verb that args name. It fails with ExitUsage where there is none, or where it does not take what was typed.
func (s Shell[C]) Do(ctx context.Context, args []string) error {
	switch {
	case len(args) == 0:
		s.Overview(s.Err)
		return Fail(ExitUsage, "which verb?")
	case len(args) == 1 && slices.Contains([]string{"help", "--help", "-h"}, args[0]):
		s.Overview(s.Out)
		return nil
	case args[0] == "help":
		args = append(slices.Clone(args[1:]), "--help")
	case args[0] == "--version":
		args = append([]string{"version"}, args[1:]...)
	case s.Usual != "" && strings.HasPrefix(args[0], "-"):
		args = append([]string{s.Usual}, args...)
	}
	path, list := s.Name, s.Commands
	for {
		i := slices.IndexFunc(list, func(c Command[C]) bool { return c.Name == args[0] })
		if i < 0 {
			hint := ""
			if near := Nearest(args[0], harmless(s.described(list))); near != "" {
				hint = fmt.Sprintf(": did you mean %q?", near)
			}
			return Fail(ExitUsage, "%sno verb %q%s (%s --help lists them)", s.said(path), args[0], hint, path)
		}
		c := list[i]
		path, args = path+" "+c.Name, args[1:]
		switch asks := len(args) > 0 && (args[0] == "--help" || args[0] == "-h"); {
		case c.Commands == nil, c.Run != nil && !asks && (len(args) == 0 || strings.HasPrefix(args[0], "-")):
			return s.run(ctx, c, path, args)
		case len(args) == 0:
			Help(s.Err, path, s.row(c))
			return Fail(ExitUsage, "%swhich of %s?", s.said(path), strings.Join(Names(s.described(c.Commands)), ", "))
		case asks:
			Help(s.Out, path, s.row(c))
			return nil
		}
		list = c.Commands
	}
}

// run reads the flags and arguments behind path, and runs the verb with them.
func (s Shell[C]) run(ctx context.Context, c Command[C], path string, args []string) error {
	call := s.New()
	fs := flag.NewFlagSet(path, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	s.register(call, c, fs)
	rest, _, err := Parse(fs, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		Help(s.Out, path, s.row(c))
		return nil
	case err != nil:
		return Fail(ExitUsage, "%s%s (%s --help shows how)", s.said(path), strings.Replace(err.Error(), "for flag -", "for flag --", 1), path)
	case c.Args == "" && len(rest) > 0:
		return Fail(ExitUsage, "%stakes no argument %q (%s --help shows how)", s.said(path), rest[0], path)
	}
	s.Given(call, c.Verb, path, rest)
	return c.Run(ctx, call)
}

// said begins an error about a verb: who prints it puts the program's name before it.
func (s Shell[C]) said(path string) string {
	if verb, is := strings.CutPrefix(path, s.Name+" "); is {
		return verb + ": "
	}
	return ""
}

// harmless are the names of the verbs that a suggestion may lead to.
func harmless(list []Verb) []string {
	return Names(slices.DeleteFunc(slices.Clone(list), func(v Verb) bool { return v.Destroys }))
}
