// Package store is the contract between the rooms that own tables and the engine below them. It
// also has everything that is the same above every engine. It knows bytes, never money.
//
// It owns the contract (DB, Store, Journal, Tx, Reader, Step, the errors), the sealing of values
// and the MACs of rows (Keyring), secrets, floors (the number below which rows may have been
// purged), and the format of a backup (bundle). Package marks says where a journal ends. Each
// engine is a package of its own: sqlite. Every engine passes storetest. Three files name an
// engine: agent/journal.go, cmd/posagent/engine.go and schemes/backend/engine.go.
//
// # What it guarantees
//
// A Write that returned nil survives kill -9 and power loss. A Write that returned an error left
// nothing behind, with two exceptions: after ErrIO its effects may turn up until the store has
// recovered, and after ErrCommitUnknown they are there or not. Writes are serial, and a Read sees
// one snapshot.
//
// A sealed value is read under the wrapped data key of its row alone. A row's MAC shows an edit
// from outside. Sealing and MACs use ordinary SQL. A new engine needs to implement only
// transactions and rows.
//
// # What a closure may do
//
// It runs statements on its Tx, takes numbers from it (NumberTable), and sets its results anew in each run: an engine may run it again.
// It does not block. An effect that follows a commit belongs after the return of Write.
//
// It must not import agent, device, ecr, schemes or an engine.
package store
