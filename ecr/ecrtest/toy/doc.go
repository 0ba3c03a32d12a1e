// Package toy is a small register protocol of text lines, for tests alone. It shows what a protocol
// is made of: a pure dialogue, frames, and one ecr.Protocol. ecrtest holds it to what every
// protocol must do.
//
// Each message is a line that ends with a full stop. A register says "till NAME", "pay ID CENTS",
// "last", "abort", "close" and "ack"; ID is - where it has none. The terminal says "approved
// CENTS", "declined", "aborted", "busy", "refused", "none", "late", "stopping" and "total COUNT
// CENTS". An outcome is told when it is acknowledged with "ack" within 30 s. The same ID again is
// the same request. It imports ecr and the standard library.
package toy
