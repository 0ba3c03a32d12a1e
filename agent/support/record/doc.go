// Package record lets a person follow what a running terminal logs, at every level, for a while,
// and what it needs of the box meanwhile.
//
// It guarantees:
//   - A terminal that nobody records logs as before: the level below which it is silent stays.
//   - Logging never waits for a reader. What a reader is too slow for is counted, and told.
//   - A reader holds at most 1 MiB, and there are at most four.
//
// A line may hold what its caller put into it: the caller of Follow takes out what must not be
// seen.
//
// It must not import any other package of the module: it knows no room that logs.
package record
