package port

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"posagent/agent/httpd"
	"posagent/agent/view"
	"posagent/schemes/wire"
)

// The pace of a stream.
const (
	heartbeat   = 15 * time.Second // between two signs of life
	writeWithin = 10 * time.Second
)

// events are the streams of what happens here and what arrives from the backend.
type events struct {
	*auth
	daemon  *view.Daemon
	streams chan struct{}   // places of all clients
	ended   <-chan struct{} // closed when the port stops: streams end
}

// serve streams what arrives. Last-Event-ID names the last one the caller has; without it
// everything that is kept is sent.
func (s *events) serve(c *client, w http.ResponseWriter, r *http.Request) {
	var from view.Cursor
	if last := r.Header.Values("Last-Event-ID"); len(last) > 0 {
		var err error
		if from, err = view.ParseCursor(last[0]); err != nil || len(last) > 1 {
			s.problem(w, r, wire.Errorf(wire.Invalid, "port", "Last-Event-ID: want the id of an event"))
			return
		}
	}
	if r.Method != http.MethodGet {
		wire.WriteProblemNoRoute(w, r, http.MethodGet)
		return
	}
	if err := wire.Allow(r.Context(), "port", wire.MayRead); err != nil {
		s.problem(w, r, wire.AsError("port", err))
		return
	}
	newest, err := s.daemon.Newest(r.Context())
	if err == nil && !from.Knows(newest) {
		_ = wire.WriteJSON(w, http.StatusConflict, problemBody, map[string]any{ // a lost connection has no reader
			"type": "urn:problem:ahead", "title": "Not of this journal", "status": http.StatusConflict, "instance": r.URL.Path,
			"detail": fmt.Sprintf("Last-Event-ID %s is not of this terminal's journal, the newest is %s: another journal gave it, or one that was restored since; "+
				"read without Last-Event-ID, and compare what you have", from, newest)})
		return
	}
	if err != nil {
		s.problem(w, r, wire.AsError("port", err))
		return
	}
	for _, places := range []chan struct{}{c.listens, s.streams} {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		default:
			s.problem(w, r, &wire.Error{Code: wire.TooMany, Op: "port", Msg: "too many listen already", RetryAfter: 5 * time.Second})
			return
		}
	}
	httpd.Stream[view.Event]{
		Type: "text/event-stream", First: ": posagent\n\n", Alive: ":\n\n", Beat: heartbeat, Within: writeWithin, Ended: s.ended, Log: s.log,
		Text: func(e view.Event, data []byte) string {
			return fmt.Sprintf("id: %s\nevent: %s\ndata: %s\n\n", e.Resume, strings.NewReplacer("\r", "", "\n", "").Replace(e.Event), data)
		},
	}.Send(w, r, s.daemon.EventsOf(wire.CallerOf(r.Context()), from))
}
