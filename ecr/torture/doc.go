// Package torture is a register that tests any terminal from its public protocol alone.
//
// Files: torture.go is the engine and the scorecard; rows.go is the table of what is done, rows_lost.go
// the rows that lose something. wire.go is a connection that can be cut, doubled and slowed.
// protocol.go says what a protocol can do; zvt.go, jsonl.go, ecr17.go, caisseap.go, nexo.go and http.go
// are the registers of each protocol. place.go is where a terminal is, and which certificate it may
// have.
//
// It guarantees:
//   - A row fails only for what the terminal said or counted: never for a connection that this side
//     could not make.
//   - What could not be brought about is "not seen", and never "passed".
//   - The same seed does the same to the same terminal.
//
// It must not import a dialogue of the terminal: it shares codecs only.
package torture
