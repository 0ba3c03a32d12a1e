// Package frame carries APDUs over a line: blocks with a checksum and one-byte acknowledgements on
// a serial line, bare APDUs back to back on TCP.
//
// It owns block syntax (EncodeBlock, DecodeBlock, Scanner: pure, fed with bytes and times) and the
// two transports (Link for serial, TCP). It reads only the header of an APDU: LEN cuts a stream,
// and CLASS tells a reply from a command and a message from garbage. It imports ecr, ecr/zvt/apdu
// (for the cutting) and the standard library.
//
// It guarantees
//   - A block is delivered only if its stuffing, its checksum and its length byte agree. It is then
//     delivered once, however often the peer repeats it because our acknowledgement was lost
//     (DECISIONS.md: what is a repetition).
//   - On TCP the first byte that begins no message closes the line; nothing after it is read.
//   - No length on the wire is trusted: memory per line is bounded by MaxAPDU and the queue.
//   - After any garbage the receiver is in step again at the next 10 02, and at the latest when the
//     line has been quiet for T1.
//   - Send returns nil only after the peer's link acknowledgement (serial), or after the write
//     (TCP).
//   - If both sides start to send at the same moment, both messages arrive.
package frame
