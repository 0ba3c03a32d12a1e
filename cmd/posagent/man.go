package main

import (
	"context"
	"strings"
)

func manCommand() command {
	return command{
		name: "man", short: "print the manual page, made from the table of verbs",
		examples: []string{"posagent man > posagent.1; man ./posagent.1", "posagent man > /usr/share/man/man1/posagent.1"},
		json:     []string{"posagent.man/1"},
		run: func(_ context.Context, c *call) error {
			var page strings.Builder
			usageOf(c.table).Manual(&page)
			return printText(c, "posagent.man/1", page.String())
		},
	}
}

// manualAbout and manualMore are what the table does not say, in the language of man.
const manualAbout = `.B posagent run
is the terminal. It prints
.B ready
when a register may ask for a sale, and
.B not ready:
with the cause and what to type as long as it may not. The first line of
.B posagent status
says the same.
`

const manualMore = `.SH ENVIRONMENT
POSAGENT_CONFIG and POSAGENT_STATE stand for \-\-config and \-\-state. POSAGENT_SECTION_KEY stands for a key of the
configuration, POSAGENT_SECTION_KEY_FILE for the file of a secret.
.SH FILES
.TP
` + defaultConfig + `
the configuration; posagent config example prints one
.TP
` + defaultState + `
the state directory
.SH SEE ALSO
.BR posagent\-update (1)
`
