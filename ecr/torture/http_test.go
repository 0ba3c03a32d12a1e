package torture_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/ecr/ecrtest/desk"
	"posagent/ecr/till"
	"posagent/ecr/torture"
	"posagent/schemes/money"
)

// overHTTP is a terminal that sells over HTTP as agent/port/salesapi/README.md has it, over a shop's desk. What a sale says of itself is short.
func overHTTP(ctx context.Context, s *shop, ln net.Listener) error {
	srv := &http.Server{Handler: web{s}}
	defer context.AfterFunc(ctx, func() { _ = srv.Close() })()
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return ctx.Err()
}

type web struct{ *shop }

// said is a sale as it is written.
type said struct {
	ID      string     `json:"id"`
	Key     string     `json:"key"`
	State   string     `json:"state"`
	Kind    string     `json:"kind"`
	Result  ecr.Result `json:"result"` // in lists
	Outcome ecr.Result `json:"outcome,omitempty"`
	Amount  int64      `json:"amount"`
	Receipt int        `json:"receipt,omitempty"`
}

func write(w http.ResponseWriter, status int, v any) error {
	data, _ := json.Marshal(v) // plain data
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if _, err := w.Write(data); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}

// ServeHTTP implements http.Handler.
func (z web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	line := map[string]string{"Bearer alpha-token-0123456789": "http/alpha", "Bearer beta-token-0123456789": "http/beta"}[r.Header.Get("Authorization")]
	q := r.URL.Query()
	id, aborts := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/agent/v1/sales/"), "/abort")
	switch {
	case line == "":
		_ = write(w, http.StatusUnauthorized, "no token")
	case r.URL.Path == "/agent/v1/status":
		_ = write(w, http.StatusOK, map[string]bool{"sandbox": z.fault != "live"})
	case aborts:
		if err := z.Abort(r.Context(), id); err != nil {
			_ = write(w, http.StatusUnprocessableEntity, "too late")
			return
		}
		_ = write(w, http.StatusAccepted, said{ID: id, State: "running"})
	case r.Method == http.MethodPost:
		z.sell(w, r, line, q.Get("wait") != "")
	case q.Get("key") != "":
		sale, err := z.Find(r.Context(), line, q.Get("key"))
		if err != nil {
			_ = write(w, http.StatusNotFound, "nothing was done, and nothing will be")
			return
		}
		z.tell(w, r, sale, q.Get("key"))
	default:
		z.list(w, line)
	}
}

// sell begins a sale; one that waits hears its end.
func (z web) sell(w http.ResponseWriter, r *http.Request, line string, waits bool) {
	var body struct{ Amount money.Minor }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Amount <= 0 {
		_ = write(w, http.StatusBadRequest, "no body")
		return
	}
	begin, key := z.Begin, r.Header.Get("Idempotency-Key")
	if waits {
		begin = z.Desk.Begin // it was begun before
	}
	sale, err := begin(r.Context(), ecr.Request{Kind: ecr.Payment, Line: line, Sequence: key, Amount: body.Amount})
	var no *ecr.Refusal
	switch {
	case errors.As(err, &no) && no.Code == ecr.Busy:
		_ = write(w, http.StatusConflict, no.Text)
		return
	case err != nil:
		_ = write(w, http.StatusUnprocessableEntity, "another body")
		return
	}
	if !waits {
		select {
		case out := <-sale.Outcome:
			z.told(w, out, key)
		default:
			_ = write(w, http.StatusAccepted, said{ID: sale.ID, Key: key, State: "running", Amount: int64(body.Amount)})
			go func() { <-sale.Outcome }()
		}
		return
	}
	z.tell(w, r, sale, key)
}

// tell waits for the outcome and tells it.
func (z web) tell(w http.ResponseWriter, r *http.Request, sale ecr.Sale, key string) {
	select {
	case out := <-sale.Outcome:
		z.told(w, out, key)
	case <-r.Context().Done():
		go func() {
			out := <-sale.Outcome
			_, _ = z.Delivered(context.Background(), out.Sale, ecr.Lost) // the desk of a test does not fail
		}()
	}
}

func (z web) told(w http.ResponseWriter, out ecr.Outcome, key string) {
	how := ecr.Told
	if write(w, http.StatusOK, said{ID: out.Sale, Key: key, State: "ended", Outcome: out.Result, Amount: int64(out.Amount), Receipt: out.Receipt}) != nil {
		how = ecr.Lost
	}
	_, _ = z.Delivered(context.Background(), out.Sale, how)
}

// list has the newest first, and what was charged once more before them.
func (z web) list(w http.ResponseWriter, line string) {
	list := []said{}
	z.mu.Lock()
	for n := range z.again {
		list = append(list, said{ID: fmt.Sprint("again", n), Kind: "payment", Result: ecr.Approved, Amount: 9900})
	}
	z.mu.Unlock()
	z.Mu.Lock()
	for i := len(z.Sales) - 1; i >= 0; i-- {
		if s := z.Sales[i]; s.Request.Line == line && !s.Open {
			list = append(list, said{ID: s.ID, Kind: "payment", Result: s.Outcome.Result, Amount: int64(s.Outcome.Amount)})
		}
	}
	z.Mu.Unlock()
	_ = write(w, http.StatusOK, map[string]any{"sales": list})
}

// TestALiveHTTPTerminalIsLeftAlone: sales over HTTP can say that they are for tests. A terminal that does not is asked for nothing.
func TestALiveHTTPTerminalIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, speaks := protocolOf(t, "http")
		ctx, stop := context.WithCancel(t.Context())
		s, connect, ended := open(ctx, speaks, "live")
		_, err := torture.Run(t.Context(), torture.Options{Protocol: p, Amount: desk.StaysOpen, Wait: time.Minute, Connect: connect})
		require.ErrorIs(t, err, torture.ErrNotATest)
		require.Zero(t, s.begun())

		stranger := settings
		stranger.Tokens = []till.Secret{"token-of-a-stranger-01"}
		_, err = torture.Run(t.Context(), torture.Options{Protocol: made(t, "http", stranger), Amount: desk.StaysOpen, Wait: time.Minute, Connect: connect, Local: true})
		require.ErrorContains(t, err, "does not know the token")
		require.NotContains(t, err.Error(), "stranger")
		require.Zero(t, s.begun())
		stop()
		require.ErrorIs(t, <-ended, context.Canceled)
	})
}
