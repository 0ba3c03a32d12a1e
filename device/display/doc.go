// Package display shows the customer what to pay, the code to scan, how long it is valid and how the sale ended.
//
// It owns the screens: a console in half-blocks and a picture file (PNG or SVG) for a viewer or a page. It imports device/qr and
// no other room; the checkout says what to show through View and learns only whether it was drawn.
//
// Guarantees:
//
//   - a View replaces all of the one before: one without a code takes the old code off the screen;
//   - a code is never drawn at or after View.Until, whatever the caller does: Run, or any later Show, takes it off (MONEY B.16);
//   - text from the backend can move no cursor, set no colour, reorder no line and open no tag: control characters, escape
//     sequences and direction overrides are removed, XML is escaped, lengths are bounded;
//   - a background colour from the backend is used only when it is #rgb or #rrggbb (S1 2.5, bgcolor) and never lies under
//     the code, which stays black on white;
//   - a picture file is replaced in one step: a reader sees the old or the new picture, never half of one;
//   - SANDBOX stands on the screen whenever the View says so.
//
// # Decisions
//
// 2026-11-21: View.Until is compared with Now as Go times are, so a Until made from time.Now follows the monotonic clock and no jump
// of the wall clock keeps a code alive. The time of day is printed only when the clock is set (2024 or later).
//
// 2026-11-21: a picture file is not synced to flash: it changes often and means nothing after a power cut. Show View{} at start to
// remove a picture left behind. Best kept on a tmpfs.
//
// 2026-11-22: every rendering carries banner, method, amount, code and state. The text of a PNG is drawn with the bitmap font
// Inconsolata of golang.org/x/image (SIL Open Font License), enlarged by whole pixels; what the font lacks is drawn as a box.
package display
