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
package qr
