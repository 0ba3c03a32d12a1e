package room

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"time"

	"posagent/schemes/wire"
	"posagent/store"
)

const (
	piece = 128 << 10 // bytes
	// Unclaimed is how long the pieces of an upload wait for the thing they were sent with, should
	// the process end in between.
	Unclaimed = time.Hour
)

// Upload stores size bytes in pieces, so that an upload never stands in memory as a whole. keep
// stores one piece, each in a commit of its own. It fails with short where open's reader ends early.
func (r *Room) Upload(ctx context.Context, open func() (io.ReadCloser, error), size int64, short error, keep func(tx store.Tx, seq int64, data []byte, now time.Time) error) error {
	src, err := open()
	if err != nil {
		return err
	}
	defer src.Close()
	buf := make([]byte, min(size, piece))
	for seq := int64(0); size > 0; seq++ {
		n, err := io.ReadFull(src, buf[:min(size, piece)])
		if err != nil {
			return short
		}
		size -= int64(n)
		if err := r.DB.Write(ctx, func(tx store.Tx) error { return keep(tx, seq, buf[:n], r.Now()) }); err != nil {
			return err
		}
	}
	return nil
}

// Claimed holds what the thing that an upload was sent with has claimed against the upload's size. A clock that jumped, or that of another
// process, may have taken pieces for left ones and dropped them: then the error is wire.Unavailable, and the request is to be sent again.
func Claimed(res sql.Result, size int64) error {
	n, err := res.RowsAffected()
	switch {
	case err != nil:
		return fmt.Errorf("claim an upload: %w", err)
	case n != (size+piece-1)/piece:
		return wire.Errorf(wire.Unavailable, "", "an upload was dropped before it was claimed (is the clock right?): send the request again")
	}
	return nil
}
