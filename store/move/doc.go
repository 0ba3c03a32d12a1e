// Package move copies books from one engine of the store to another, whole or not at all.
//
// It owns two marks in store_meta: the books that are copied say where to (they are not opened for work
// from then on), and the copy says that it is not complete until it was compared, and how far it is.
//
// It guarantees:
//   - Stopped at any moment and begun again, it goes on where it was, and at that place only.
//   - The copy is opened for work only after each table was counted and compared row by row, by digest,
//     in both.
//   - At no moment do both take work.
//   - Sealed values stay sealed: their keys are copied wrapped, so the copy needs the same key.
//   - Some pages of rows of one table are in memory, whatever the books have.
//
// Files: move.go (the marks and the order of the work), tables.go (which tables, in which order), rows.go
// (pages of rows), digest.go.
//
// The caller keeps others out of both while it works. It must not import an engine.
package move
