// Package outline is a face of letters as lines: the outline and the width of each.
//
// It owns the form in which a face stands in the program, which Write makes and Parse reads: the
// fonts as they are published, without names, tables and hints. A published font needs a reader that
// is larger than its letters.
//
// It guarantees:
//   - A face has the outlines and widths that were written, in whole units of the em.
//   - Bytes that are no face are an error of Parse, and nothing else.
//   - A letter is found without taking memory.
//
// It must not import any room.
package outline
