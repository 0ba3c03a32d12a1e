package sqlite

import (
	"context"
	"sync/atomic"

	"posagent/store"
)

// request is one caller's part of a batch.
type request struct {
	by    context.Context
	fn    func(store.Tx) error
	state atomic.Int32
	done  chan error // holds one result
}

const (
	queued int32 = iota
	taken
	cancelled
)

// late is the result of a request the writer may have left behind when it ended.
func (r *request) late() error {
	select {
	case err := <-r.done:
		return err
	default:
		return store.ErrClosed
	}
}
