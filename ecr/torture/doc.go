// Package torture is a register that tests any terminal from its public protocol alone.
//
// Files: torture.go is the engine and the scorecard; rows.go is the table of what is done, rows_lost.go
// the rows that lose something. wire.go is a connection that can be cut, doubled and slowed. What a
// register says in each protocol is ecr/till's.
//
// It guarantees:
//   - A row fails only for what the terminal said or counted: never for a connection that this side
//     could not make.
//   - What could not be brought about is "not seen", and never "passed".
//   - The same seed does the same to the same terminal.
//
// It must not import a protocol: ecr/till has them.
package torture
