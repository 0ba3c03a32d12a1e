// Package glyph is the letters of the screen: how wide they are, how they look.
//
// It owns the two faces, Go Regular and Go Bold, with the letters of the ten languages of
// device/display/scene. A letter that they lack is drawn as a box.
//
// It guarantees:
//   - One outline per letter and size, for the picture of dots and for the SVG alike.
//   - Sizes are whole pixels (of the em); letters stand on whole pixels, so a letter looks the same
//     wherever it stands.
//   - What it remembers is bounded, however many letters and sizes a backend's texts have.
//
// The faces are by Bigelow & Holmes, from golang.org/x/image/font/gofont, under the BSD licence that
// lies beside them: copyright (c) 2016 Bigelow & Holmes Inc., all rights reserved. They are kept as
// device/display/glyph/outline writes them.
//
// It is the only importer of golang.org/x/image. It imports device/display/glyph/outline, and no other room.
package glyph
