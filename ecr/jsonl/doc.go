// Package jsonl is the terminal's side of the register protocol JSON lines: one JSON object a line,
// for a till that has no library. It is an ecr.Dialogue, a pure state machine. README.md is the
// protocol for a till developer; schema.json describes every message.
//
// Files: table.go says what it does with each message in each phase. parse.go and message.go read
// messages, answer.go and paper.go write lines, dialogue.go takes events, begin.go begins what a
// register asks for, outcome.go tells how it ended.
//
// It guarantees
//   - The id of a request is the desk's Sequence: the same id is the same sale, also while it runs
//     and after a restart.
//   - "accepted" is said after the desk has made the sale durable. An approval is said as the desk
//     journalled it, and counts as told only by an ack of its id on the same connection. The desk is
//     told once what became of each telling.
//   - A message that is not clear begins nothing: duplicate keys, keys in another case, null,
//     numbers that are not whole or out of range, control characters, bytes after the object.
//   - "refused" is said of an id only if no sale has it, unless the body is another one. "not_found"
//     is said on TCP after a second look.
//   - Each till that hello names is a line of its own.
//
// It imports ecr, ecr/receipt, schemes/money and the standard library; never os, net or
// database/sql. Package protocol below it joins it with lines of bytes; till is a register.
package jsonl
