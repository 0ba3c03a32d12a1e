// Package pages writes the terminal's page for people as HTML: READY or why not, the sales of the
// day, what waits, alerts, methods, register lines and the audit log.
//
// Files: terminal.go is the page and door.go what is shown before a token was entered; figures.go
// are its tables, words.go its texts, html.go writes the tags and sheet.go has the look and the
// policy.
//
// It guarantees:
//   - Each text and each attribute is escaped. Tags are constants of this program; an unexported
//     string type keeps other texts out.
//   - A page loads nothing and runs no script. Policy allows its own sheet and forms to itself, and
//     nothing else.
//   - A page is whole without a script, in English and in German, from a width of 320 px on.
//   - Nothing on it changes the terminal. Where something can be done it names the command.
//
// It must not import the local port, a service's client, the store, nor html/template, which
// switches off the linker's dead-code elimination.
package pages
