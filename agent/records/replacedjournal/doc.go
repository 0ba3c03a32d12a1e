// Package replacedjournal answers requests for a record that this journal does not have, and that a lost
// journal may have made.
//
// A journal that was accepted after a cut, restored from a backup, or begun anew after a loss
// lacks the last entries of the lost journal. "Not found" would then be taken for "never
// happened", and the caller would repeat the write.
//
// It guarantees that every room uses the same words under one condition, store.LostIn. In such a
// journal a missing name is wire.UnknownOutcome, with the date and the remedy. In any other
// journal it is wire.NotFound.
//
// It must not import a room of the terminal. It never asks the backend: a room that can do so asks
// first.
package replacedjournal
