// Package apdu is the ZVT message layer: one APDU is CLASS INSTR LEN DATA, and DATA is a few
// positional bytes followed by fields (BMPs), one of which (BMP 06) holds a tree of BER data
// objects.
//
// It owns the tables (commands, BMPs, tags, result codes, character sets), the codec, typed getters
// and builders, and the readable tree behind `posagent register decode`. It knows nothing of lines,
// blocks, timers or sales.
//
// Files: command.go and message.go are a message with its getters, build.go makes one. layout.go cuts
// the data of each command, bmp.go and names.go are the other tables. decode.go reads with reader.go,
// encode.go writes; describe.go is the readable tree.
//
// Guarantees:
//   - Decode accepts exactly one APDU whose lengths all agree; everything else is a typed error
//     that names the byte offset and the field path. It never panics and never allocates more than
//     the input warrants.
//   - Encode(Decode(x)) == x for every x that Decode accepts: field order and length forms are
//     kept.
//   - A message built by hand is encoded canonically, or Encode refuses it: no value is cut or
//     padded silently.
//   - Card data never leaves through Describe: the card number shows its first six and last four
//     digits at most.
//
// It imports the standard library only.
package apdu
