// Package scenario is the table of what the embedded backend does for which amount or consumer, as data, and the
// two engines that play a row: Script says what the wallet does when, Perform spoils an HTTP reply.
//
// It guarantees that the same row does the same thing every time and that no row moves money by itself: rows only
// pick words and moments, the books decide. An amount or consumer no row names is approved.
//
// It knows no service and no store; it must not import schemes/<svc>, store or a sibling room.
package scenario
