// Package scenario is the table of what the embedded backend does for which amount or consumer. Two
// engines play a row: Script gives the wallet's words and their moments, Perform spoils an HTTP
// reply.
//
// It guarantees:
//   - The same row does the same each time.
//   - No row moves money by itself: a row picks words and moments, and the books decide.
//   - An amount or consumer without a row is approved.
//
// It must not import a service, the store or a sibling room.
package scenario
