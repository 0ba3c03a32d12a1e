// Package desk is a small ecr.Desk for tests of register lines. It keeps sales, totals and the
// memory of a line in memory, and the amount of a sale chooses how it ends.
//
// It guarantees what the comments of ecr.Desk say, except durability: one sale at a time; a
// repeated request id joins its sale; the line's next sale undoes an approval that the line did
// not acknowledge. It imports ecr and the standard library.
package desk
