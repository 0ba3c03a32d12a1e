// Package paint draws a page that device/display/layout has placed: as dots, and as SVG.
//
// It guarantees:
//   - Nothing of an element is drawn outside its box, whatever its text is. So a text of a backend
//     cannot reach into the code, the amount or the banner.
//   - Dots and SVG have the same outlines at the same places. No font of a viewer changes an SVG.
//   - A Painter draws into one picture for ever, and allocates nothing once it knows the letters.
//
// It imports layout and glyph, and no other room.
package paint
