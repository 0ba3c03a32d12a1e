package hosted

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/books"
	"posagent/schemes/backend/books/journal"
	"posagent/schemes/backend/room/roomtest"
	"posagent/schemes/backend/webhooks"
	"posagent/schemes/hosted"
	"posagent/schemes/hosted/hostedtest"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

const public = "http://gate.example:8490"

// world is Sessions on a site of its own.
type world struct {
	*Sessions
	*roomtest.Site
	t *testing.T
}

// told lists the types and results that were told since the last time.
func (w *world) told() (list []string) {
	for _, m := range w.Mail.Take() {
		n, err := hosted.DecodeNotice(m.Body)
		require.NoError(w.t, err)
		require.Equal(w.t, m.ID, n.EventID)
		require.Equal(w.t, webhooks.Mark, n.SecurityToken.Reveal(), "the token is not in the stored body")
		list = append(list, n.Operation.OperationType+" "+n.Operation.OperationResult)
	}
	return list
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Site: roomtest.New(t, time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC), Schema()), t: t}
	var err error
	w.Sessions, err = New(Options{Options: w.Options(public+"/", "Corner Shop"), Deliver: &w.Mail})
	require.NoError(t, err)
	return w
}

// pass lets time go by, with one look at what is due.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	w.Pass(d)
	_, err := w.sweep(w.t.Context())
	require.NoError(w.t, err)
}

// request is a good request that wants to be notified.
func request() hosted.BuildRequest {
	req := hostedtest.Good()
	req.PaymentSession.NotificationURL = "https://shop.example/notify"
	return req
}

func explicit() hosted.BuildRequest {
	req := request()
	req.PaymentSession.CaptureType = hosted.Explicit
	return req
}

func (w *world) built(req hosted.BuildRequest) string {
	w.t.Helper()
	b, err := w.Build(w.t.Context(), "", req)
	require.NoError(w.t, err)
	return b.SessionID
}

func pan(t *testing.T, name string) wire.PAN {
	t.Helper()
	return wire.NewPAN(roomtest.PAN(t, name))
}

// finalized builds, fills in and finalizes.
func (w *world) finalized(req hosted.BuildRequest, card string) (string, hosted.SessionState, error) {
	w.t.Helper()
	id := w.built(req)
	require.NoError(w.t, w.Fill(w.t.Context(), id, pan(w.t, card), 2031, 6))
	s, err := w.Finalize(w.t.Context(), wire.NewKey(), id, "")
	return id, s, err
}

func (w *world) paid(req hosted.BuildRequest, card string) hosted.Operation {
	w.t.Helper()
	_, s, err := w.finalized(req, card)
	require.NoError(w.t, err)
	require.Equal(w.t, hosted.Complete, s.State)
	return *s.Operation
}

// accounts are the sums of all postings; they are zero together.
func (w *world) accounts() map[books.Account]money.Minor {
	w.t.Helper()
	sums := map[books.Account]money.Minor{}
	require.NoError(w.t, w.DB.Read(w.t.Context(), func(r store.Reader) error {
		all, err := journal.ByTxn(r, Service)
		for _, posts := range all {
			require.Zero(w.t, books.Sum(posts))
			for _, p := range posts {
				if sums[p.Account] += p.Amount; sums[p.Account] == 0 {
					delete(sums, p.Account)
				}
			}
		}
		return err
	}))
	return sums
}

func refused(t *testing.T, reason string, err error) {
	t.Helper()
	require.ErrorIs(t, err, &wire.Error{Code: wire.Conflict, Reason: reason})
}

// clean looks for texts in everything the store has on the disk.
func (w *world) clean(secrets ...string) {
	w.t.Helper()
	text := w.Text()
	for _, s := range secrets {
		require.False(w.t, strings.Contains(text, s), s)
	}
}

func raw(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return strings.TrimSpace(string(data))
}
