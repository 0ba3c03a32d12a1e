// Package disk is the campaign on the terminal's disk. Each write, sync and open of a sale fails
// once, several times, or until space returns, with ENOSPC, EIO or EROFS. A real file system runs
// full too.
//
// It guarantees, whatever the disk did:
//   - A register was told approved exactly if the books have one net payment and the reopened
//     journal has the sale.
//   - When the disk works again, the next sale is approved without help.
//   - Each acknowledged write of a local client is in the journal after a restart and has one
//     effect. Nothing is in doubt.
//
// The same faults meet local clients' writes of each kind that the operation table stores: while
// they are accepted, sent, settled and checkpointed, and while the next version of the program
// changes the tables. The backend behind it loses every third answer.
//
// It drives the product through cross/stack, and the front over its store alone. It must not be
// imported.
package disk
