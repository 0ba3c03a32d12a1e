// Package display shows the customer what to pay, the code to scan, how long it is valid and how
// the sale ended.
//
// It owns the screens: a console in half-blocks (console.go), and a picture file, PNG or SVG
// (file.go). A framebuffer does not exist yet; it would be another Screen here. The checkout
// passes a View and learns only whether it was drawn. It imports device/qr and no other room.
//
// It guarantees:
//   - A View replaces the whole previous one. A View without a code takes the old code off the
//     screen.
//   - A code is never drawn at or after View.Until: Run, or any later Show, removes it.
//   - Text of the backend cannot move a cursor, set a colour, reorder a line or open a tag. Control
//     characters, escape sequences and direction overrides are removed, XML is escaped, lengths are
//     bounded.
//   - A background colour of the backend is used only as #rgb or #rrggbb (S1 2.5, bgcolor). It is
//     never used behind the code, which stays black on white.
//   - A picture file is replaced in one step: a reader sees the old or the new picture.
//   - The screen shows SANDBOX if View.Sandbox is set.
package display
