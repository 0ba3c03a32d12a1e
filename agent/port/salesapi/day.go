package salesapi

import (
	"errors"
	"net/http"
	"time"

	"posagent/agent/view"
	"posagent/ecr"
	"posagent/schemes/wire"
)

// dayWithin bounds the answer to an end of day: the checkout settles what is open for a minute.
const dayWithin = time.Minute + writeWithin

// day closes the day, or shows the one that was closed last. Its sums are of every register and client,
// and closing it settles their sales too, so that it takes a client that reaches all of them.
func (t *Till) day(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := wire.Everything(ctx, "day", "close or read the day of the whole terminal"); err != nil {
		return err
	}
	if r.Method != http.MethodPost {
		totals, err := t.o.Desk.ClosedBy(ctx, ecr.Asker{})
		if errors.Is(err, ecr.ErrNone) {
			return wire.Errorf(wire.NotFound, "", "no day was closed yet")
		}
		return dayAnswer(w, totals, err)
	}
	if _, err := read[nothing](r, true); err != nil {
		return err
	}
	key, err := keyOf(r)
	if err != nil {
		return err
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(dayWithin)) // what cannot be written fails later
	totals, err := t.o.Desk.CloseFor(written(ctx), ecr.Asker{Line: line(ctx), ID: key})
	return dayAnswer(w, totals, err)
}

func dayAnswer(w http.ResponseWriter, totals ecr.Totals, err error) error {
	if err == nil {
		_ = wire.WriteJSON(w, http.StatusOK, wire.JSONType, view.ClosedDayOf(totals)) // a lost connection has no reader
	}
	return err
}
