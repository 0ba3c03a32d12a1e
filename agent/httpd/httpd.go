package httpd

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// grace is how long requests in flight have when a server stops.
const grace = 3 * time.Second

// Until serves until ctx ends, then finishes what is in flight within 3 s. It calls cut before it closes what is still in flight then.
// It returns what Serve returned, once nothing is in flight.
func Until(ctx context.Context, srv *http.Server, ln net.Listener, cut func()) error {
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(over)
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		if srv.Shutdown(limit) != nil {
			cut()
			srv.Close()
		}
	})
	err := srv.Serve(ln)
	if !stop() {
		<-over // what is in flight still reads the store
	}
	return err
}

// Stream is a stream of what happens, of one type, to one reader.
type Stream[T any] struct {
	Type   string          // of the content
	First  string          // says that the stream has begun
	Alive  string          // a sign of life
	Beat   time.Duration   // between two signs of life
	Within time.Duration   // how long a write may take
	Ended  <-chan struct{} // closed when the server stops
	Log    *slog.Logger

	// Text words one of them, whose JSON is data.
	Text func(one T, data []byte) string
}

// Send sends what next gives until the reader leaves, or does not read, the server stops, or next fails.
func (s Stream[T]) Send(w http.ResponseWriter, r *http.Request, next func(ctx context.Context) (T, error)) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		select {
		case <-s.Ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	conn := http.NewResponseController(w)
	w.Header().Set("Content-Type", s.Type)
	for text := s.First; ; {
		_ = conn.SetWriteDeadline(time.Now().Add(s.Within)) // what cannot be written fails below
		if _, err := w.Write([]byte(text)); err != nil || conn.Flush() != nil {
			return
		}
		wait, done := context.WithTimeout(ctx, s.Beat)
		one, err := next(wait)
		late := wait.Err()
		done()
		switch {
		case err == nil:
			data, err := json.Marshal(one)
			if err != nil {
				s.Log.Error("not sent to a reader of a stream", "err", err)
				return
			}
			text = s.Text(one, data)
		case ctx.Err() != nil:
			return
		case errors.Is(late, context.DeadlineExceeded):
			text = s.Alive
		default:
			s.Log.Error("a stream was not read", "err", err)
			return
		}
	}
}
