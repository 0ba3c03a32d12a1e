package main

import (
	"context"
	_ "embed"
)

// visitPage is the page that a technician takes along: at most 60 lines of 78 columns, in ASCII, so that every printer prints it.
//
//go:embed visit.txt
var visitPage string

func visitCommand() command {
	return command{
		name: "visit", short: "one page for a technician's pocket: from the box to READY",
		long:     "It fits on a sheet of paper: 60 lines of 78 columns. A package also puts it into /usr/share/doc/posagent/visit.txt.",
		json:     []string{"posagent.visit/1"},
		examples: []string{"posagent visit", "posagent visit | lp"},
		run: func(_ context.Context, c *call) error {
			return printText(c, "posagent.visit/1", visitPage)
		},
	}
}
