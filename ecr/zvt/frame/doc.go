// Package frame carries APDUs over a line: blocks with a checksum and one-byte acknowledgements on a serial line,
// bare APDUs back to back on TCP.
//
// It owns block syntax (EncodeBlock, DecodeBlock, Scanner: pure, fed with bytes and times) and the two transports
// (Link for serial, TCP). It does not look into an APDU beyond its header: LEN to cut a stream, CLASS to tell a
// reply from a command, and a message from what is none. It imports ecr/zvt/apdu (for the cutting) and the
// standard library; never device, store or anything of the agent.
//
// Guarantees:
//   - A block is delivered only if its stuffing, its checksum and its length byte agree, and then exactly once,
//     however often the peer repeats it because our acknowledgement was lost.
//   - On TCP the first byte that begins no message closes the line; nothing after it is read.
//   - No length on the wire is trusted: memory per line is bounded by MaxAPDU and the queue.
//   - After any garbage the receiver is in step again at the next 10 02, and at the latest when the line has been
//     quiet for T1.
//   - Send returns nil only after the peer's link acknowledgement (serial), or after the write (TCP).
//   - Two sides that start to send at the same moment both get through.
//
// # What is a repetition
//
// The protocol has no sequence numbers. A received block that is byte for byte the previous one is a repetition
// (acknowledged, not delivered) as long as the peer cannot have taken its next step:
//   - a reply (80, 84) or a terminal's message (class 04, 06 0F, 06 1E, 06 Dx): while we have sent no new block since
//     its first arrival; two equal print lines, each answered, are two lines;
//   - a register's command: while nothing else came in between, for at most 2.5 x T2 after its last (of three sendings the
//     second may be lost) and 4.5 x T2 after its first arrival, and not after we refused it (84 xx, link-acknowledged):
//     then the same command is a new try.
//
// For a repeated command our answer, if there was one, is sent once more.
//
// Decisions (2026-11-21)
//
// The time bound on repeated commands is ours: without it a register that died in the middle of a dialogue and
// starts again with the same bytes would be taken for its own echo for ever.
//
// A reply repeated because its acknowledgement was lost, arriving after we have already sent our next block, cannot
// be told from the reply to that block. No receiver can do better without sequence numbers.
//
// ACK and NAK bytes are taken as such wherever no block is being received; only while the rest of a broken block is
// drained are they ignored, because text may contain them.
//
// When the queue of received APDUs is full, a block is not acknowledged at all; the peer's repetition comes later.
package frame
