// Package qr turns a payload into a QR code, and checks EMV payloads before they are shown.
//
// It owns the choice of error level and size and the four renderings: half-blocks for a console,
// PNG, SVG, and the matrix for other devices. It also owns the check of EMV merchant-presented
// codes (S1 2.5, triggerParams.Qr.type "1").
//
// It guarantees:
//   - New computes the matrix once; every rendering draws from it.
//   - A Code never changes after New and is safe for concurrent use.
//   - Every rendering has the quiet zone of four modules, dark on light. In the tests an
//     independent decoder reads each back byte for byte.
//   - New refuses a payload that cannot be shown readably with ErrTooLong. It never draws one too
//     small.
//
// It is the only importer of github.com/skip2/go-qrcode. It must not import any room but
// schemes/money.
package qr
