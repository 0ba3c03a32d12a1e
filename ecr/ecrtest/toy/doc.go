// Package toy is a small register protocol of text lines, for tests alone. It shows the parts of a
// protocol: a pure dialogue, frames, and one ecr.Protocol. ecrtest tests it like every protocol.
// Copy it to begin a new one.
//
// Each message is a line that ends with a full stop. A register says "till NAME", "pay ID CENTS",
// "last", "abort", "close" and "ack"; ID is "-" if the register has no id. The terminal says
// "approved CENTS", "declined", "aborted", "busy", "refused", "none", "late", "stopping" and
// "total COUNT CENTS". An outcome counts as told if "ack" arrives within 30 s. The same ID again
// is the same request. It imports ecr and the standard library.
package toy
