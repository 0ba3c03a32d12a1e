package sessions

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/books"
	"posagent/schemes/backend/books/journal"
	"posagent/schemes/backend/deliver"
	"posagent/schemes/backend/pages/form"
	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/hosted"
	"posagent/schemes/hosted/hostedtest"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

const public = "http://gate.example:8490"

// world is a room of sessions with a clock of its own.
type world struct {
	*Sessions
	t    *testing.T
	db   store.Store
	path string
	ms   atomic.Int64
	post *box
}

// box keeps what was emitted.
type box struct {
	hooks map[string][]deliver.Hook
	mail  []deliver.Message
}

var _ Emitter = (*box)(nil)

func (b *box) Check(url string) error { return (&deliver.Deliver{}).Check(url) }

func (b *box) Register(_ store.Tx, subject string, hooks []deliver.Hook) error {
	b.hooks[subject] = hooks
	return nil
}

func (b *box) Emit(_ store.Tx, m deliver.Message) (int, error) {
	b.mail = append(b.mail, m)
	return 1, nil
}

// told lists the types and results that were told since the last time.
func (w *world) told() (list []string) {
	for _, m := range w.post.mail {
		n, err := hosted.DecodeNotice(m.Body)
		require.NoError(w.t, err)
		require.Equal(w.t, m.ID, n.EventID)
		require.Equal(w.t, deliver.Mark, n.SecurityToken.Reveal(), "the token is not in the stored body")
		list = append(list, n.Operation.OperationType+" "+n.Operation.OperationResult)
	}
	w.post.mail = nil
	return list
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, path: filepath.Join(t.TempDir(), "backend.db"), post: &box{hooks: map[string][]deliver.Hook{}}}
	w.ms.Store(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC).UnixMilli())
	w.open()
	t.Cleanup(func() { require.NoError(t, w.db.Close()) })
	return w
}

func (w *world) open() {
	w.t.Helper()
	var err error
	w.db, err = sqlite.Open(w.t.Context(), sqlite.Options{
		Path: w.path, Steps: slices.Concat(journal.Schema(), form.Schema(), room.Schema(), Schema()), Wrapper: storetest.Wrapper{}, Synchronous: "OFF",
	})
	require.NoError(w.t, err)
	w.Sessions, err = New(Options{
		Options: room.Options{
			DB: w.db, PublicURL: public + "/", Merchant: "Corner Shop", Now: func() time.Time { return time.UnixMilli(w.ms.Load()) },
		},
		Deliver: w.post,
	})
	require.NoError(w.t, err)
}

// pass lets time go by, with one look at what is due.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	w.ms.Add(d.Milliseconds())
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
	list := scenario.Cards()
	i := slices.IndexFunc(list, func(c scenario.Card) bool { return c.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return wire.NewPAN(list[i].PAN)
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
	require.NoError(w.t, w.db.Read(w.t.Context(), func(r store.Reader) error {
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
	files, err := filepath.Glob(w.path + "*")
	require.NoError(w.t, err)
	require.NotEmpty(w.t, files)
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(w.t, err)
		for _, s := range secrets {
			require.False(w.t, bytes.Contains(data, []byte(s)), "%s in %s", s, filepath.Base(f))
		}
	}
}

func raw(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return strings.TrimSpace(string(data))
}
