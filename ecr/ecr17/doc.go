// Package ecr17 is the terminal's side of ECR17 ("Protocollo 17"), the Italian register protocol:
// its messages, and an ecr.Dialogue for one connection or cable.
//
// Files: frame.go has the frames and their check byte, request.go reads a request, answer.go writes
// the answers, paper.go lays receipts out, dialogue.go is the state machine, ask.go begins what is
// asked for, tell.go tells its end, table.go is the table.
//
// It guarantees
//   - A request is acknowledged once the desk has stored it, or not at all: a NAK means that nothing
//     was done, and what the desk accepts after a NAK is undone.
//   - A result is sent once, within the register's patience. An approval that comes later is undone.
//   - Told means that the transport's Send returned nil: the register has sent its ACK.
//   - G answers the register that asks, by its id, for its last request alone. A result that it has
//     acknowledged is repeated for 3 minutes. Where the terminal cannot say, it answers NAK, or not at all.
//   - The same bytes again, before the result was acknowledged, begin nothing.
//
// It imports ecr, ecr/receipt, schemes/money and the standard library; never os or net. Package
// protocol below it has the line.
package ecr17
