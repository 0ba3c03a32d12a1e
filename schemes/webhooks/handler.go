package webhooks

import (
	"log/slog"
	"net/http"

	"posagent/schemes/wire"
)

// HandlerOptions adjusts a Handler. The zero value works.
type HandlerOptions struct {
	Log *slog.Logger // gets internal errors; nil drops them
}

// Handler gives svc the events that are sent to it, on whatever path it is mounted. Authentication, Host checks and time
// limits are the caller's. It answers 200 with an empty body when svc has the event.
func Handler(svc Service, opts HandlerOptions) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			wire.WriteMethodNotAllowed(w, ContentType, http.MethodPost)
			return
		}
		e, err := read(r)
		if err == nil {
			err = svc.Receive(r.Context(), e)
		}
		if err != nil {
			wire.WriteFault(w, opts.Log, ContentType, wire.AsError(opReceive, err))
			return
		}
		w.Header().Set("Content-Length", "0")
		w.WriteHeader(http.StatusOK)
	})
}

func read(r *http.Request) (Event, error) {
	if _, err := wire.CheckJSON(r.Header.Get("Content-Type")); err != nil {
		return Event{}, err
	}
	body, err := wire.ReadBody(r, MaxBody)
	if err != nil {
		return Event{}, err
	}
	return Parse(body)
}
