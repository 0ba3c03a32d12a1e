package salesapi

import (
	"context"
	"time"

	"posagent/schemes/wire"
)

// takenWithin bounds how long who asks for a sale by its key waits for requests with that key that are
// being taken.
const takenWithin = 10 * time.Second

// allTaken waits until each request with a key that is here has begun its sale or was refused: before
// that nobody knows that it begins none. wire.Unavailable.
func (t *Till) allTaken(ctx context.Context, key string) error {
	timer := time.NewTimer(takenWithin)
	defer timer.Stop()
	for _, over := range t.takings.Open(line(ctx), key) {
		select {
		case <-over:
			continue
		case <-timer.C:
		case <-ctx.Done():
		case <-t.done:
		}
		return &wire.Error{Code: wire.Unavailable, Msg: "a request with this key is being taken just now: ask again", RetryAfter: retryAfter}
	}
	return nil
}
