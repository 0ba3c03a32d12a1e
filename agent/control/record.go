package control

import (
	"context"
	"errors"
	"net/http"
	"time"

	"posagent/agent/httpd"
	"posagent/agent/support/record"
	"posagent/schemes/wire"
)

// Recording is what a person may record of the terminal. All fields are required.
type Recording struct {
	Of      *record.Recorder
	Figures func(ctx context.Context) record.Figures
	// Clean takes the terminal's own secrets out of a line of JSON, which stays one.
	Clean func(line []byte) []byte
}

// figuresEvery is how often a recording is told the figures.
const figuresEvery = time.Second

// record streams what the terminal logs from now on, at every level, and its figures, in the form of events.
func (s *Server) record(w http.ResponseWriter, r *http.Request) {
	o := s.o.Record
	reader, err := o.Of.Follow()
	if err != nil {
		_ = wire.WriteJSON(w, http.StatusTooManyRequests, "application/json", answer{Code: wire.TooMany, Message: err.Error()})
		return
	}
	defer reader.Close()
	due := time.Now()
	next := func(ctx context.Context) (it record.Item, err error) {
		if wait := time.Until(due); wait > 0 {
			soon, cancel := context.WithTimeout(ctx, wait)
			it, err = reader.Next(soon)
			cancel()
			if err == nil || !errors.Is(soon.Err(), context.DeadlineExceeded) || ctx.Err() != nil {
				return it, err
			}
		}
		due = time.Now().Add(figuresEvery)
		f := o.Figures(ctx)
		return record.Item{Figures: &f}, nil
	}
	httpd.Stream[record.Item]{
		Type: "application/x-ndjson", First: "\n", Alive: "\n", Beat: beat, Within: 2 * beat, Ended: s.ended, Log: s.o.Log,
		Text: func(_ record.Item, data []byte) string { return string(o.Clean(data)) + "\n" },
	}.Send(w, r, next)
}
