// Package lost answers for things that this journal does not have and a lost one may have made.
//
// A journal that was accepted after a cut, restored from a backup, or begun anew after a loss takes another's place. What that
// one did last is not in it. "Not found" would then be taken for "never happened", and the caller would do it again.
//
// It guarantees that every room words this alike, and under one condition: store.LostIn. In such a journal a name that it does
// not have is wire.UnknownOutcome, with the date and what to do; in any other it is wire.NotFound.
//
// It must not import a room of the terminal. It asks nobody: a room that can ask the backend does so first.
package lost
