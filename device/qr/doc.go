// Package qr turns a payload into a QR code that customers' phones read, and checks EMV payloads before they are shown.
//
// It owns the choice of error level and size, the four renderings (half-blocks for a console, PNG, SVG, the raw matrix for
// a framebuffer or a printer) and the check of EMV merchant-presented codes (S1 2.5, triggerParams.Qr.type "1").
// It is the only importer of github.com/skip2/go-qrcode and imports no other room.
//
// Guarantees:
//
//   - one encode per Code: New computes the matrix once, every rendering draws from it;
//   - a Code never changes after New and is safe for concurrent use;
//   - every rendering carries the quiet zone of four modules, dark on light, and is read back byte for byte by an
//     independent decoder in the tests;
//   - what cannot be shown readably is refused by New with ErrTooLong, never drawn too small.
//
// # Decisions
//
// 2026-11-21: Level Auto takes M as long as the code stays within Options.MaxModules and version 10 (213 bytes), and L
// beyond: a screen does not get scratched, so larger modules help a phone more than more redundancy. An explicit level is kept.
//
// 2026-11-21: a payload has at most 1024 bytes (version 23 at L, 109 modules). EMV codes end at 512, wallet links are
// far shorter, and a longer one could not be scanned from a small display.
//
// 2026-11-21: lengths in EMV data count characters; as some issuers count bytes, a payload with characters
// outside ASCII whose structure does not hold is read once more by bytes. The CRC is always over the bytes, and decides.
//
// 2026-11-21: a CRC in lower-case hex is accepted, unknown and reserved tags are passed over; a tag given twice, a missing
// mandatory tag, anything after the CRC, or an amount that is no amount make the code broken.
package qr
