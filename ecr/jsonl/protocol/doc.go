// Package protocol makes JSON lines an ecr.Protocol: it joins the dialogue of ecr/jsonl with lines
// of bytes on a serial cable or a TCP connection.
//
// A line is one JSON object, "*" and its checksum in four hexadecimal digits, and a newline. The
// checksum is CRC-16/CCITT-FALSE over the bytes of the object. A cable requires it unless it is
// configured otherwise. On TCP it may be left out; the terminal sends it to a register that sends it.
//
// It guarantees
//   - A damaged line is not delivered. It is answered with the error "damaged".
//   - A line has at most 64 KiB and arrives within a bound: on TCP the connection ends otherwise.
//   - A first byte that begins no message ends a TCP connection without an answer. HTTP, TLS and
//     WebSocket begin with one.
//   - A terminal that hears itself (a loopback plug, an echo) does not answer itself.
//
// It imports ecr, ecr/jsonl and the standard library.
package protocol
