package control

import (
	"context"
	"net/http"
	"slices"
	"time"

	"posagent/agent/ready"
	"posagent/schemes/wire"
)

// Health is how a running terminal is (posagent.health/1).
type Health struct {
	Schema   string        `json:"schema"`
	Version  string        `json:"version"`
	PID      int           `json:"pid"`
	Ready    bool          `json:"ready"`    // a register may ask for a sale
	Answered bool          `json:"answered"` // the backend has answered since the start
	Causes   []ready.Cause `json:"causes"`   // of everything that does not work
	// Passing are those of them that end by themselves: the network or the backend is away. They say nothing of the program.
	Passing []ready.Cause `json:"passing,omitempty"`
}

// NewHealth is the health of a terminal in which everything works.
func NewHealth(version string, pid int) Health {
	return Health{Schema: "posagent.health/1", Version: version, PID: pid, Causes: []ready.Cause{}}
}

// Add adds a cause once.
func (h *Health) Add(c ready.Cause) {
	if !slices.Contains(h.Causes, c) {
		h.Causes = append(h.Causes, c)
		if c.Passes() || c == ready.Asking {
			h.Passing = append(h.Passing, c)
		}
	}
}

// healthWithin is what the terminal's loops have to take another turn.
const healthWithin = 10 * time.Second

// health answers once each loop has taken another turn; a terminal that stands still fails.
func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), healthWithin)
	defer cancel()
	h, err := s.o.Health(ctx)
	if err != nil {
		_ = wire.WriteJSON(w, http.StatusServiceUnavailable, "application/json", answer{Code: wire.Unavailable, Message: err.Error()})
		return
	}
	_ = wire.WriteJSON(w, http.StatusOK, "application/json", h) // a lost connection has no reader
}
