// Package protocol makes ECR17 an ecr.Protocol: it joins the dialogue of ecr/ecr17 with frames on a
// serial cable or a TCP connection.
//
// It guarantees
//   - A damaged frame is not delivered. It is answered NAK.
//   - Send returns nil for an application message only if the register's ACK came behind it. NAK has
//     it sent again, three times at most. Silence does not: on TCP the connection ends then, so that
//     what was not acknowledged is no answer to a later request.
//   - A byte between two frames that begins none ends a TCP connection without an answer. What comes
//     is bounded in size and time.
//
// It imports ecr, ecr/ecr17 and the standard library.
package protocol
