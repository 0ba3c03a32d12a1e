package backend

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"posagent/schemes/backend/webhooks"
	"posagent/schemes/wire"
	"posagent/store"
)

// HooksPrefix is where what was sent to others' endpoints is administered, with the credentials of the services; in a fleet with the
// operator's token alone, since what is sent is that of many merchants:
//
//	GET  /backend/v1/hooks          the newest thousand deliveries with their attempts
//	GET  /backend/v1/hooks/dead     those that were given up
//	POST /backend/v1/hooks/replay   {"id":"…"} one event again, or {"since":"2026-11-21T00:00:00Z"} all dead ones; 200 {"replayed":n}
//	POST /backend/v1/hooks/resume   {"url":"…"} ends the pause of an endpoint; 200 {"resumed":true}
const HooksPrefix = "/backend/v1/hooks"

// ReadHooks lists deliveries of the backend in a place, the newest first; state "" means all. It changes nothing and works
// beside a running backend.
func ReadHooks(ctx context.Context, p Place, state string) (list []webhooks.Delivery, err error) {
	db, err := p.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("read hooks: %w", err)
	}
	defer db.Close()
	err = db.Read(ctx, func(r store.Reader) error {
		list, err = webhooks.Read(r, webhooks.Filter{State: state})
		return err
	})
	return list, err
}

func hooks(d *webhooks.Deliver, log *slog.Logger) http.Handler {
	const op, kind = "backend.hooks", "application/json"
	mux := http.NewServeMux()
	handle := func(pattern string, do func(ctx context.Context, body []byte) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			body, err := wire.ReadBody(r, 16<<10)
			if err == nil && r.Method == http.MethodPost {
				_, err = wire.CheckJSON(r.Header.Get("Content-Type"))
			}
			var answer any
			if err == nil {
				answer, err = do(r.Context(), body)
			}
			if err != nil {
				wire.WriteFault(w, log, kind, wire.AsError(op, err))
				return
			}
			_ = wire.WriteJSON(w, http.StatusOK, kind, answer) // a lost connection has no reader
		})
	}
	handle("GET "+HooksPrefix, func(ctx context.Context, _ []byte) (any, error) { return d.List(ctx, webhooks.Filter{}) })
	handle("GET "+HooksPrefix+"/dead", func(ctx context.Context, _ []byte) (any, error) { return d.Dead(ctx) })
	handle("POST "+HooksPrefix+"/replay", func(ctx context.Context, body []byte) (any, error) {
		var ask struct {
			ID    string `json:"id,omitempty"`
			Since string `json:"since,omitempty"`
		}
		if err := wire.Decode(body, &ask); err != nil {
			return nil, err
		}
		n, err := 0, error(wire.Errorf(wire.Invalid, op, "want either an id or since, a time like 2026-11-21T00:00:00Z"))
		since, bad := time.Parse(time.RFC3339, ask.Since)
		switch {
		case ask.ID != "" && ask.Since == "":
			n, err = d.ReplayOne(ctx, ask.ID)
		case ask.ID == "" && bad == nil:
			n, err = d.ReplaySince(ctx, since)
		}
		return map[string]int{"replayed": n}, err
	})
	handle("POST "+HooksPrefix+"/resume", func(ctx context.Context, body []byte) (any, error) {
		var ask struct {
			URL string `json:"url"`
		}
		if err := wire.Decode(body, &ask); err != nil {
			return nil, err
		}
		if err := d.Check(ask.URL); err != nil {
			return nil, wire.Errorf(wire.Invalid, op, "url: %v", err)
		}
		return map[string]bool{"resumed": true}, d.Resume(ctx, ask.URL)
	})
	return mux
}
