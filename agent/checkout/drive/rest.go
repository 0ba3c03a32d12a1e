package drive

import (
	"context"

	"posagent/agent/checkout/drive/journal"
	"posagent/store"
)

// Rest lets no sale and no end of day begin any more, where none is open, and returns true. Where one
// is, it changes nothing and returns false. It is for a program that is about to end.
func (d *Drive) Rest(ctx context.Context) (bool, error) {
	d.desk.Lock()
	defer d.desk.Unlock()
	if d.isClosing() {
		return false, nil
	}
	open := 0
	err := d.db.Read(ctx, func(r store.Reader) (err error) { open, err = journal.Unsettled(r); return err })
	if err != nil || open > 0 {
		return false, err
	}
	d.resting = true
	return true, nil
}
