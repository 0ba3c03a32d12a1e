// Package login is what a person may do in a browser: the login by the terminal's PIN, its
// sessions, and the deeds of the page behind them.
//
// Files: pin.go is the PIN and what is stored of it; login.go looks at one and locks; known.go
// tells visitors apart; sessions.go are the browsers that showed it; console.go serves them, deeds.go does what their forms ask for,
// and answers.go writes the pages.
//
// It guarantees:
//   - Without a PIN that a person has set there is no session. Without a session nothing is shown,
//     and nothing is done.
//   - A try at the PIN is counted durably before the PIN is looked at. After five wrong ones in a
//     row from one address no PIN is looked at from there for a minute, then for twice as long after
//     each further one, up to an hour, over restarts too; after fifty from any likewise from all.
//     A browser in which the PIN was entered before has a lock of its own.
//   - No GET does anything. A deed needs a POST from the page's own form, with the session's path,
//     its cookie, and a word that is good once.
//   - A deed is the verb of the command line, with its refusals. The audit log names its actor
//     "person page" in the same commit.
//   - A decision and a release are about the operation as their page showed it, and an
//     acknowledgement about the alert that was read: what has gone on since is refused.
//   - A session ends by itself, by its button, with the program, and when the PIN is changed.
//
// It deletes nothing, begins no sale, and decides an operation in doubt only with a reason, on a
// page of its own. It must not import the local port, the control socket, the store or the
// configuration.
package login
