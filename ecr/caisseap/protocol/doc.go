// Package protocol makes Caisse-AP an ecr.Protocol: it joins the dialogue of ecr/caisseap with a TCP
// connection.
//
// It guarantees
//   - A connection carries one request and one answer, and the answer leaves in one write.
//   - Send returns nil only if the register was there before the answer, TCP acknowledged all of it,
//     and the register then closed within 5 s without a reset.
//   - A connection whose first bytes begin no message is closed without an answer. What comes is
//     bounded in size and time.
//
// It imports ecr, ecr/caisseap, golang.org/x/sys/unix and the standard library.
package protocol
