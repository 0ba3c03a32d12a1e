// Package display shows the customer what to pay, the code to scan, how long it is valid and how
// the sale ended.
//
// It owns the screens: a console in text (console.go), a picture file, PNG or SVG (file.go), and
// the panel of a framebuffer (framebuffer.go). The checkout passes a View and learns only whether
// it was drawn. What a View says is device/display/scene, where it stands is layout, how it is
// drawn is paint. It imports these, framebuffer and device/qr, and no other room.
//
// It guarantees:
//   - A View replaces the whole previous one. A View without a code takes the old code off the
//     screen.
//   - A code is never drawn at or after View.Until: Run, or any later Show, removes it. When Run
//     ends, panel and file say that the terminal is not ready, and show nothing after that.
//   - Every screen says the same words, in the language of the View.
//   - Text of the backend cannot move a cursor, set a colour, reorder a line, open a tag or leave
//     its place. Control characters, escape sequences and direction overrides are removed, XML is
//     escaped, lengths are bounded.
//   - A background colour of the backend is used only as #rgb or #rrggbb (S1 2.5, bgcolor). It is
//     never used behind the code, which stays black on white.
//   - A picture file is replaced in one step: a reader sees the old or the new picture.
//   - A panel that goes away is an error of Show or Refresh, and is drawn again once it is back.
//   - The screen shows SANDBOX if View.Sandbox is set.
package display
