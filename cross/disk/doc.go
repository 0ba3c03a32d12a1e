// Package disk is the campaign on the terminal's disk: every write, sync and open of a sale fails once, a few times, or until
// space returns, with ENOSPC, EIO or EROFS; and a real file system runs full.
//
// Whatever the disk did, a register was told approved if and only if the books have one net payment and the journal,
// opened again, has the sale; and once the disk works the next sale is approved without anybody's help.
//
// The same faults strike while local clients write through the front and its outbox: payments, tokens, links and what is done to their
// transactions, every kind the operation table stores for them, each on what was made before it by the id that its client was told:
// while they are accepted, sent, settled and folded into the file, and while the next version of the program changes the tables over
// writes that wait.
// The bank behind loses every third answer. Each acknowledged write is there when the file is opened again, and has one effect;
// nothing is in doubt.
//
// It drives the product through cross/stack, the front over its store alone, and must not be imported.
package disk
