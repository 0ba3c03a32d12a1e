// Package bracket reads and writes forms in bracket notation: name[0], name[key][sub] (S1 4.1). It
// knows application/x-www-form-urlencoded, queries, and multipart/form-data with files.
//
// It guarantees:
//   - A Form keeps the pairs in the order sent, decoded once, so that a signature can be computed
//     over them again.
//   - It refuses what two readers could understand differently: broken percent signs, text that is
//     not UTF-8, a name given twice, a name that is both a text and an object, brackets that do not
//     match.
//   - Number of pairs, length of names and depth are bounded (Limits). An index is a key like any
//     other and reserves nothing.
//   - Parse(f.Encode()) and the tree of an Object return what they were made from (property tests).
//   - A multipart file is never in memory as a whole, and leaves nothing on the disk when the
//     process dies.
//
// It must not import a service.
package bracket
