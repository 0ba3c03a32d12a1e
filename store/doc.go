// Package store is the contract between the rooms that own tables and the engine below them, and what is the same above
// every engine. It knows bytes, never money.
//
// It owns the contract (DB, Store, Journal, Tx, Reader, Step, the errors), the sealing of values and the MACs of rows
// (Keyring), secrets, floors, and the format of a backup (bundle). Package marks beside it says where a journal ends. Each engine is a
// package of its own: sqlite. Only the
// code that assembles a program names an engine. Every engine passes storetest.
//
// # What it guarantees
//
// A Write that returned nil survives kill -9 and power loss. A Write that returned an error left nothing behind, with
// two exceptions: after ErrIO its effects may turn up until the store has recovered, and after ErrCommitUnknown they are
// there or not. Writes are serial, and a Read sees one snapshot.
//
// A sealed value is read under the wrapped data key of its row alone. A row's MAC shows an edit from outside. Plain SQL
// does for both, so that a new engine brings rows only.
//
// # What a closure may do
//
// It runs statements on its Tx, and sets its results anew in each run: an engine may run it again. It does not block,
// and what should follow a commit follows the return of Write.
//
// It must not import agent, device, ecr, schemes or an engine.
package store
