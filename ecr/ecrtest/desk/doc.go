// Package desk is a small desk for tests of register lines: it keeps sales, totals and what a line
// must remember in memory, and the amount of a sale chooses how it ends.
//
// It guarantees what the comments of ecr.Desk say but for durability: one sale at a time, a request
// id that is asked again joins its sale, and an approval that its line has not heard is undone by
// the line's next sale. It imports ecr and the standard library.
package desk
