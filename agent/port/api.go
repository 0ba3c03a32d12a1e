package port

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"posagent/agent/outbox"
	"posagent/agent/view"
	"posagent/schemes/wire"
)

// maxStreams is how many listen to events at a time; they hold their connections.
const maxStreams = 16

// maxListens is how many of them one client with a name has: it must not take all.
const maxListens = 4

// api is what the port serves.
type api struct {
	o        Options
	conns    *limiter
	mounts   []mount
	accounts []account // the first is the one without a name
	streams  chan struct{}
	ended    chan struct{} // closed when the port stops: streams end
	work     context.Context
	cut      context.CancelFunc // ends the calls in flight

	described func() ([]byte, error) // the OpenAPI document
}

func newAPI(o Options, conns *limiter) *api {
	a := &api{o: o, conns: conns, streams: make(chan struct{}, maxStreams), ended: make(chan struct{})}
	a.work, a.cut = context.WithCancel(context.Background())
	a.open()
	a.mounts = a.table()
	a.described = sync.OnceValues(a.describe)
	return a
}

// housePrefix is where the terminal shows itself.
const housePrefix = "/agent/v1/"

// maxList is how many things a page of a list has.
const maxList = 200

// house is what the terminal shows of itself.
func (a *api) house() mount {
	h := a.o.House
	calmly := func(h http.HandlerFunc) http.HandlerFunc {
		return a.known(a.problem, func(c *account, w http.ResponseWriter, r *http.Request) {
			c.paced(w, r, a.problem, c.leisurely(a.problem, h))
		}).ServeHTTP
	}
	show := func(read func(r *http.Request) (any, error)) http.HandlerFunc {
		return calmly(func(w http.ResponseWriter, r *http.Request) {
			err := wire.Allow(r.Context(), "port", wire.MayRead)
			var v any
			if err == nil {
				v, err = read(r)
			}
			if err != nil {
				a.problem(w, r, wire.AsError("port", err))
				return
			}
			_ = wire.WriteJSON(w, http.StatusOK, jsonBody, v) // a lost connection has no reader
		})
	}
	return mount{
		Group: houseGroup(), at: []string{housePrefix},
		handler: a.authorized(a.problem, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			allow := ""
			if r.Method != http.MethodGet && r.Method != http.MethodHead {
				allow = http.MethodGet
			}
			wire.WriteProblemNoRoute(w, r, allow)
		})),
		own: map[string]http.HandlerFunc{
			housePrefix + "status": show(func(r *http.Request) (any, error) { return h.Status(r.Context()) }),
			housePrefix + "sales": show(func(r *http.Request) (any, error) {
				n, err := number(r.URL.Query(), "limit", 50, 1, maxList)
				if err != nil {
					return nil, err
				}
				return h.Sales(r.Context(), int(n))
			}),
			housePrefix + "sales/{id}": show(func(r *http.Request) (any, error) { return h.Sale(r.Context(), r.PathValue("id")) }),
			housePrefix + "methods":    show(func(r *http.Request) (any, error) { return h.Methods(r.Context()) }),
			housePrefix + "operations": show(func(r *http.Request) (any, error) {
				f, err := filter(r.URL.Query())
				if err != nil {
					return nil, err
				}
				return h.Operations(r.Context(), f)
			}),
			housePrefix + "operations/{key}": show(func(r *http.Request) (any, error) { return h.Operation(r.Context(), r.PathValue("key")) }),
			housePrefix + "events": a.known(a.problem, func(c *account, w http.ResponseWriter, r *http.Request) {
				a.events(c, w, r.WithContext(wire.WithCaller(r.Context(), c.caller)))
			}).ServeHTTP,
			"/metrics": calmly(a.metrics),
		}}
}

// number reads a number of the query.
func number(q url.Values, name string, otherwise, least, most int64) (int64, error) {
	if len(q[name]) == 0 {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(q[name][0], 10, 64)
	if err != nil || len(q[name]) > 1 || n < least || n > most {
		return 0, wire.Errorf(wire.Invalid, "", "%s: want a number from %d to %d", name, least, most)
	}
	return n, nil
}

func filter(q url.Values) (f outbox.Filter, err error) {
	f = outbox.Filter{Kind: q.Get("kind"), State: outbox.State(strings.ToUpper(q.Get("state"))), Open: q.Get("open") == "true"}
	states := []outbox.State{"", outbox.Pending, outbox.Sent, outbox.Done, outbox.Failed, outbox.Expired, outbox.Doubt, outbox.Held}
	if !slices.Contains(states, f.State) {
		return f, wire.Errorf(wire.Invalid, "", "state: no such state")
	}
	if open := q.Get("open"); open != "" && open != "true" && open != "false" {
		return f, wire.Errorf(wire.Invalid, "", "open: want true or false")
	}
	limit, err := number(q, "limit", 100, 1, maxList)
	if err == nil {
		f.Limit = int(limit)
		f.After, err = number(q, "after", 0, 0, 1<<62)
	}
	return f, err
}

// The pace of a stream.
const (
	heartbeat   = 15 * time.Second // between two signs of life
	writeWithin = 10 * time.Second
)

// events streams what arrives. Last-Event-ID names the last one the caller has; without it everything kept is sent.
func (a *api) events(c *account, w http.ResponseWriter, r *http.Request) {
	var from view.Cursor
	if last := r.Header.Values("Last-Event-ID"); len(last) > 0 {
		var err error
		if from, err = view.ParseCursor(last[0]); err != nil || len(last) > 1 {
			a.problem(w, r, wire.Errorf(wire.Invalid, "port", "Last-Event-ID: want the id of an event"))
			return
		}
	}
	if r.Method != http.MethodGet {
		wire.WriteProblemNoRoute(w, r, http.MethodGet)
		return
	}
	if err := wire.Allow(r.Context(), "port", wire.MayRead); err != nil {
		a.problem(w, r, wire.AsError("port", err))
		return
	}
	newest, err := a.o.House.Newest(r.Context())
	if err == nil && (from.Inbox > newest.Inbox || from.Log > newest.Log) {
		_ = wire.WriteJSON(w, http.StatusConflict, problemBody, map[string]any{ // a lost connection has no reader
			"type": "urn:problem:ahead", "title": "Ahead of this terminal", "status": http.StatusConflict, "instance": r.URL.Path,
			"detail": fmt.Sprintf("Last-Event-ID %s is ahead of this terminal's events, the newest is %s: another journal gave it, or one that was restored since; "+
				"read without Last-Event-ID", from, newest)})
		return
	}
	if err != nil {
		a.problem(w, r, wire.AsError("port", err))
		return
	}
	for _, places := range []chan struct{}{c.listens, a.streams} {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		default:
			a.problem(w, r, &wire.Error{Code: wire.TooMany, Op: "port", Msg: "too many listen already", RetryAfter: 5 * time.Second})
			return
		}
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		select {
		case <-a.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	conn := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	text := ": posagent\n\n"
	for next := a.o.House.EventsOf(wire.CallerOf(r.Context()), from); ; {
		_ = conn.SetWriteDeadline(time.Now().Add(writeWithin)) // what cannot be written fails below
		if _, err := w.Write([]byte(text)); err != nil || conn.Flush() != nil {
			return
		}
		wait, done := context.WithTimeout(ctx, heartbeat)
		e, err := next(wait)
		late := wait.Err()
		done()
		switch {
		case err == nil:
			data, err := json.Marshal(e)
			if err != nil {
				a.o.Log.Error("event not sent", "id", e.ID, "err", err)
				return
			}
			text = fmt.Sprintf("id: %s\nevent: %s\ndata: %s\n\n", e.Resume, strings.NewReplacer("\r", "", "\n", "").Replace(e.Event), data)
		case ctx.Err() != nil:
			return
		case errors.Is(late, context.DeadlineExceeded):
			text = ":\n\n"
		default:
			a.o.Log.Error("events not read", "err", err)
			return
		}
	}
}

// metrics writes the figures in the text form monitors read.
func (a *api) metrics(w http.ResponseWriter, r *http.Request) {
	err := wire.Allow(r.Context(), "port", wire.MayRead)
	if err == nil {
		err = wire.Everything(r.Context(), "port", "read the figures of all clients")
	}
	figures := ""
	if err == nil {
		figures, err = a.o.House.Metrics(r.Context())
	}
	if err != nil {
		a.problem(w, r, wire.AsError("port", err))
		return
	}
	b := figures + "# TYPE posagent_port_connections gauge\nposagent_port_connections " + strconv.Itoa(len(a.conns.slots)) + "\n"
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write([]byte(b)) // a lost connection has no reader
}
