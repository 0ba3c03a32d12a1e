package doctor

import (
	"slices"
	"strings"

	"posagent/agent/doctor/exam"
)

// Checks is the table. A check stands behind all that it depends on.
func Checks() []Check {
	list := slices.Concat(configChecks(), clockChecks(), diskChecks(), keyChecks(), journalChecks(), networkChecks(), backendChecks(),
		instanceChecks(), lineChecks(), guardChecks(), runChecks(), queueChecks(), boxChecks(), printerChecks(), listChecks())
	english := exam.Texts(englishText)
	for i := range list {
		list[i].Text = english[list[i].ID]
	}
	return list
}

// Find returns a check by its id.
func Find(id string) (Check, bool) {
	list := Checks()
	if i := slices.IndexFunc(list, func(c Check) bool { return c.ID == id }); i >= 0 {
		return list[i], true
	}
	return Check{}, false
}

// noAccess is the check that fails where an account may not read the state directory.
const noAccess = "PA-DSK-001"

// OfStranger returns the checks as an account makes them that may not read the state directory: what it
// sees of the rest is not what the terminal sees, so that all of them wait for that one.
func OfStranger(list []Check) []Check {
	var first, rest []Check
	for _, c := range list {
		if c.ID == noAccess {
			c.After, first = nil, append(first, c)
			continue
		}
		c.After = []string{noAccess}
		rest = append(rest, c)
	}
	return append(first, rest...)
}

// ofItself are the numbers of the checks that the running terminal makes of itself while a person
// waits for a page, by group. They ask nothing of the network, write nothing, and read neither the
// device key nor the whole journal.
const ofItself = `
CFG 001 002 003 004 005 006 007 008 009 010 011
CLK 001 002 004
DSK 001 002 003 004 006
KEY 003
DB 005 006 007 009
SYS 005 006 007 008 009
SER 001 002 003 004 006 007 008
DSP 001
SEC 001 002 003 004
UPS 008
QUE 001 002 003 004 005 006 007 008
PRN 001`

// OfItself returns the checks that the running terminal can make of itself, in their order. Each
// depends on those of them alone.
func OfItself() []Check {
	chosen := numbered(ofItself)
	return only(func(id string) bool { return chosen[id] })
}

// remembered are the numbers of the checks that ask the network, write, or read the whole journal. The
// status screen tells what the last examination found.
const remembered = `
CLK 003
DSK 005
KEY 005
DB 004 008
NET 001 002 003 004 005 006 007 008 009 010 011 012
UPS 001 002 003 004 005 006 007 009`

// told are the numbers of the checks for whose facts the status screen has lines of its own.
const told = `
DB 006 007
QUE 001 002 003 004 006 007 008`

// AtStatus returns the checks that the status screen makes of a terminal that is ready: all that are
// neither Remembered nor told there. A new check is one of them.
func AtStatus() []Check {
	others := numbered(remembered + told)
	return only(func(id string) bool { return !others[id] })
}

// Remembered returns the checks of whose last result the status screen tells.
func Remembered() []Check {
	chosen := numbered(remembered)
	return only(func(id string) bool { return chosen[id] })
}

// AsksTheBackend says that a check is about the way to the backend, or about its answers.
func AsksTheBackend(c Check) bool { return c.Group() == "NET" || c.Group() == "UPS" }

// numbered reads a list of groups with their numbers.
func numbered(text string) map[string]bool {
	ids := map[string]bool{}
	for line := range strings.SplitSeq(text, "\n") {
		fields := strings.Fields(line)
		for i := 1; i < len(fields); i++ {
			ids["PA-"+fields[0]+"-"+fields[i]] = true
		}
	}
	return ids
}

// only returns the chosen checks in their order. Each depends on those of them alone.
func only(chosen func(id string) bool) []Check {
	other := func(id string) bool { return !chosen(id) }
	list := slices.DeleteFunc(Checks(), func(c Check) bool { return other(c.ID) })
	for i := range list {
		list[i].After = slices.DeleteFunc(slices.Clone(list[i].After), other)
	}
	return list
}
