// Package backend has the verbs of a backend: it serves, shows its books and its deliveries, and enrols
// terminals.
//
// It owns their table (Verbs), what they print, and the file that names a running backend's address. Two
// programs have them: posagent, whose backend keeps its books in a file, and posagent-backend, whose
// backend keeps them in a database that others share. Each gives a Call what differs: its name, its
// configuration, its directory, its engine.
//
// Files: verbs.go has the table; serve.go, hooks.go and fleet*.go what the verbs do; doctor*.go finds
// what is wrong, by checks whose texts stand in doctor.txt.
//
// It guarantees:
//   - A hint names the program that printed it.
//   - What only reads changes nothing, and works beside a running backend.
//   - A secret is printed once, where it is made: the code of a terminal, with its ticket.
//
// It must not import an engine of the store, nor anything of the terminal but its configuration and
// what runs the checks of its doctor.
package backend
