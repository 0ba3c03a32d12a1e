// Package till is a register of every protocol behind one interface: a sale, the question how it
// ended, an abort, the sums. `posagent register` and `posagent torture` ask through it.
//
// Files: till.go is the interface and the table; zvt.go, jsonl.go, ecr17.go, caisseap.go, nexo.go
// and http.go are a row each. place.go is where a terminal is, and which certificate it may have.
//
// It guarantees:
//   - An error says that a question has no answer: nothing is known of the sale then.
//   - Settings print no secret.
//
// It must not import a dialogue of the terminal: it shares codecs only.
package till
