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
package display
