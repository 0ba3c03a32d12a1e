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
CFG 001 002 003 004 005 006 007 008 009 010
CLK 001 002
DSK 001 002 003 004
KEY 003
DB 005 006 007 009
SYS 005 006 007 008 009
SER 001 002 003 004 006 007 008
DSP 001
SEC 001 002 003 004
UPS 008
QUE 001 002 003 004 005 006 007
PRN 001`

// OfItself returns the checks that the running terminal can make of itself, in their order. Each
// depends on those of them alone.
func OfItself() []Check {
	chosen := map[string]bool{}
	for line := range strings.SplitSeq(ofItself, "\n") {
		fields := strings.Fields(line)
		for i := 1; i < len(fields); i++ {
			chosen["PA-"+fields[0]+"-"+fields[i]] = true
		}
	}
	other := func(id string) bool { return !chosen[id] }
	list := slices.DeleteFunc(Checks(), func(c Check) bool { return other(c.ID) })
	for i := range list {
		list[i].After = slices.DeleteFunc(slices.Clone(list[i].After), other)
	}
	return list
}
