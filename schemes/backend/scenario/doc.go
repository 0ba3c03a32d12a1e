// Package scenario is the table of what the embedded backend does for which amount or consumer.
// Script returns a wallet's states and their times. Perform corrupts an HTTP reply on purpose.
//
// Files: table.go has the rows by amount and consumer, cards.go the test cards, script.go the
// wallets.
//
// It guarantees:
//   - The same row does the same each time.
//   - No row moves money by itself. A row chooses states and times, and the books decide.
//   - An amount or consumer without a row is approved.
//
// It must not import a service, the store or a sibling room.
package scenario
