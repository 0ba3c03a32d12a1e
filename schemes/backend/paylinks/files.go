package paylinks

import (
	"context"
	"fmt"
	"time"

	"posagent/schemes/backend/room"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
)

// upload stores the contents of a request's files before its link; the link's own commit claims them.
func (s *Links) upload(ctx context.Context, list []paylinks.Attachment) ([]file, error) {
	var out []file
	for _, a := range list {
		f := file{Name: a.Name, Size: a.Size, Upload: room.Name(16)}
		if err := s.store(ctx, f, a); err != nil {
			return nil, fmt.Errorf("store attachment: %w", err)
		}
		out = append(out, f)
	}
	return out, nil
}

func (s *Links) store(ctx context.Context, f file, a paylinks.Attachment) error {
	short := wire.Errorf(wire.Invalid, opCreate, "attachments: shorter than said")
	return s.Upload(ctx, a.Open, f.Size, short, func(tx store.Tx, seq int64, data []byte, now time.Time) error {
		if _, err := tx.Exec(`DELETE FROM links_file WHERE link IS NULL AND at_ms < ?`, now.Add(-room.Unclaimed).UnixMilli()); err != nil {
			return err
		}
		_, err := tx.Exec(`INSERT INTO links_file (upload, seq, data, at_ms) VALUES (?, ?, ?, ?)`, f.Upload, seq, data, now.UnixMilli())
		return err
	})
}

// claim gives a new link its files.
func claim(tx store.Tx, l *link, list []file) error {
	for _, f := range list {
		pieces, err := tx.Exec(`UPDATE links_file SET link = ? WHERE upload = ?`, l.ID, f.Upload)
		if err == nil {
			err = room.Claimed(pieces, f.Size)
		}
		if err != nil {
			return fmt.Errorf("claim attachment: %w", err)
		}
	}
	return nil
}
