// Package apdu is the ZVT message layer: one APDU is CLASS INSTR LEN DATA, and DATA is a few positional bytes
// followed by fields (BMPs), one of which (BMP 06) holds a tree of BER data objects.
//
// It owns the tables (commands, BMPs, tags, result codes, character sets), the codec, typed getters and builders,
// and the readable tree behind `posagent register decode`. It knows nothing of lines, blocks, timers or sales.
//
// Guarantees:
//   - Decode accepts exactly one APDU whose lengths all agree; everything else is a typed error that names the
//     byte offset and the field path. It never panics and never allocates more than the input warrants.
//   - Encode(Decode(x)) == x for every x that Decode accepts: field order and length forms are kept.
//   - A message built by hand is encoded canonically, or Encode refuses it: no value is cut or padded silently.
//   - Card data never leaves through Describe: the card number shows its first six and last four digits at most.
//
// It imports the standard library only.
//
// Decisions (2026-11-21)
//
// Positional bytes. Several commands start with bytes that have no tag (password, config byte, currency code,
// receipt numbers, status). Registers leave them out. Each command lists the ways its data may be cut, in order of
// preference; the first cut after which the rest reads as BMPs wins. If none does, the error of the first is told.
//
// Registration. Without a currency code the next byte may be BMP 03 or 06, which is also how some currency codes
// begin. 06 is read as the TLV container if everything then fits, 03 as the service byte if its value is 00..03;
// otherwise the two bytes are a currency code.
//
// Completion 06 0F. The answer to a status enquiry starts with an untagged status byte, optionally after an LLLVAR
// version. Data that begins with F is read that way first (no completion carries a display BMP); all other data is
// read as BMPs first.
//
// Intermediate status 04 FF. With a container the timeout byte is mandatory; a container right after the status byte
// is therefore refused instead of guessed at.
//
// Replies. The data of 80 00 may be a key or digits (answer to 06 E1/E2): where it does not read as BMPs it is kept
// in Raw, except that a container (first byte 06) must be well-formed. The same holds for 84 xx.
//
// Unknown BMPs are an error of their own type because the terminal answers them with 84 83 00. BMPs that are in the
// table but of no use to us are decoded and left to the caller to ignore.
package apdu
