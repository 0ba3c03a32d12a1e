// Package caisseap is the terminal's side of Caisse-AP over IP, the French register protocol
// ("Concert V3"): its messages, and an ecr.Dialogue for one request.
//
// Files: message.go has the fields and the codec, request.go reads a request, answer.go writes the
// answer, dialogue.go is the state machine and table.go its table.
//
// It guarantees
//   - A request is taken only if each field is whole, known by its length, and there once.
//   - The answer echoes the request's own fields, has at most 1024 bytes of ASCII and nothing behind.
//   - AE 10 is sent only for an approval of exactly the amount asked for, as the desk journalled
//     it, within the register's patience, and never to a register that has left.
//   - The desk is told once what became of an outcome. Told means that the transport's Send
//     returned nil: all bytes were acknowledged by TCP, then the register closed.
//   - An approval that AE 01 went out for is undone.
//
// It imports ecr, schemes/money and the standard library; never os or net. Package protocol below
// it has the connection.
package caisseap
