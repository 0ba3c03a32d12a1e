package room

import (
	"context"

	"posagent/store"
)

// Timed is a thing to which something happens by time alone.
type Timed[T any] struct {
	Find    func(store.Reader) (T, error)
	Due     func(store.Reader, T) (bool, error) // something is due by now
	Advance func(store.Tx, T) error             // lets everything happen that is due by now
}

// Touch finds a thing and uses it as it stands now: in a snapshot where nothing is due, else in a
// commit, after what is due. It fails with the error of any of them; then nothing is stored.
func Touch[T any](ctx context.Context, db store.DB, t Timed[T], use func(store.Reader, T) error) error {
	late := false
	err := db.Read(ctx, func(r store.Reader) error {
		x, err := t.Find(r)
		if err == nil {
			late, err = t.Due(r, x)
		}
		if err != nil || late {
			return err
		}
		return use(r, x)
	})
	if err != nil || !late {
		return err
	}
	return db.Write(ctx, func(tx store.Tx) error {
		x, err := t.Find(tx)
		if err == nil {
			err = t.Advance(tx, x)
		}
		if err != nil {
			return err
		}
		return use(tx, x)
	})
}
