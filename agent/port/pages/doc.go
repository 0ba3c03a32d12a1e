// Package pages writes the terminal's pages for people as HTML: READY or why not, the sales of the
// day, what waits, alerts, methods, register lines, checks, the audit log, events, and the forms of
// what a person may do.
//
// Files: terminal.go is the page and door.go what is shown before a PIN or a token was entered;
// act.go has the forms of deeds and their pages, events.go the page of events. figures.go are the
// tables, words.go the texts, html.go writes the tags and sheet.go has the look and the policy.
//
// It guarantees:
//   - Each text and each attribute is escaped. Tags are constants of this program; an unexported
//     string type keeps other texts out.
//   - A page loads nothing and runs no script. Policy allows its own sheet and forms to itself, and
//     nothing else.
//   - A page is whole without a script, in English and in German, from a width of 320 px on.
//   - A form of a deed is there only where its caller says that a person is logged in (Acts), and
//     carries that page's word. Everywhere else the page names the command.
//
// It must not import the local port, a service's client, the store, nor html/template, which
// switches off the linker's dead-code elimination.
package pages
