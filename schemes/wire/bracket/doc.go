// Package bracket reads and writes forms in bracket notation: name[0], name[key][sub] (S1 4.1), as application/x-www-form-urlencoded,
// as a query, and as multipart/form-data with files.
//
// Guarantees:
//   - A Form keeps the pairs in the order sent, decoded once, so that a signature can be worked out over them again.
//   - What two readers could understand differently is refused: broken percent signs, text that is not UTF-8, a name given twice, a name that is both
//     a text and an object, brackets that do not match.
//   - Number of pairs, length of names and depth are bounded (Limits); an index is a key like any other and reserves nothing.
//   - Parse(f.Encode()) and the tree of what an Object becomes are what they were (property tests).
//   - A multipart file is never in memory as a whole, and leaves nothing on the disk when the process dies.
//
// It imports schemes/wire and the standard library, and must not import a service.
//
// Decisions:
//
// 2026-11-21: both + and %20 read as a space; %20 is written, because the service this notation is for keeps a + as it stands.
//
// 2026-11-21: name[] gets the next free index, and its object says so (Auto): a service may have to pass over such lists.
//
// 2026-11-21: a name is refused that has no head, an unclosed bracket or text after the last one. PHP
// mends such names, each in its own way.
package bracket
