// Package layout places a scene on a screen of any size: where each text, the code and each bar
// stands, and how large it is.
//
// It owns the rules of the look. It draws nothing; device/display/paint draws what it places.
//
// It guarantees, from 240 x 320 and 320 x 240 pixels up:
//   - The amount is the largest text. Its em is at least AmountShare per cent of the shorter side,
//     also for 999,999,999.99 with its currency. It is never cut, and no line breaks its number.
//   - A label of 40 characters is never cut, nor are nine of them to choose from. Other texts of a
//     backend end with … where these or the code need the room; then they are left out, the
//     method's note first.
//   - The code is the largest whose modules are whole pixels, with its quiet zone, in black on
//     white. It is never drawn with modules of less than MinModule pixels, and never where the
//     amount has no room: Place returns ErrTooSmall.
//   - Elements do not overlap, except for rectangles, which hold others whole.
//   - Ink has a contrast of 4.5 or more on what it stands on, whatever the method's colour is.
//
// It has no clock and does no I/O. It imports scene, glyph and device/qr, and no other room.
package layout
