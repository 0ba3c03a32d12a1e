package salesapi

import (
	"context"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout/drive/journal"
	"posagent/ecr"
	"posagent/schemes/wire"
	"posagent/store/storetest"
)

// empty is a desk that has no sale.
type empty struct{ Desk }

func (empty) Find(context.Context, string, string) (ecr.Sale, error) { return ecr.Sale{}, ecr.ErrNone }

// Who asks for a sale by a key is answered when no request with that key of that client is being taken
// any more, and told to ask again where that lasts.
func TestAskingWaitsForWhatIsBeingTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	synctest.Test(t, func(t *testing.T) {
		db := storetest.OpenAt(t, path, journal.Schema()...)
		defer db.Close()
		x := New(Options{Desk: empty{}, DB: db})
		ask := func(who, key string) chan error {
			answered := make(chan error, 1)
			r := httptest.NewRequest("GET", "/?key="+key, nil)
			r = r.WithContext(wire.WithCaller(r.Context(), wire.Caller{Name: who}))
			go func() { answered <- x.named(httptest.NewRecorder(), r, r.URL.Query(), "") }()
			synctest.Wait()
			return answered
		}
		alpha := wire.WithCaller(t.Context(), wire.Caller{Name: "alpha"})
		first, second := x.takings.Take(line(alpha), "k1"), x.takings.Take(line(alpha), "k1")
		asked := ask("alpha", "k1")
		for _, other := range []chan error{ask("alpha", "k2"), ask("beta", "k1")} {
			require.Equal(t, wire.NotFound, wire.CodeOf(<-other), "another key, another client")
		}
		first()
		synctest.Wait()
		require.Empty(t, asked)
		second()
		require.Equal(t, wire.NotFound, wire.CodeOf(<-asked))

		first = x.takings.Take(line(alpha), "k1")
		asked = ask("alpha", "k1")
		time.Sleep(takenWithin)
		require.Equal(t, wire.Unavailable, wire.CodeOf(<-asked))
		first()
		require.Equal(t, wire.NotFound, wire.CodeOf(<-ask("alpha", "k1")))
		require.Empty(t, x.takings.Open(line(alpha), ""))
	})
}

// A client that ends its connection while its request is judged has nothing begun: it may have asked by the key since, and was told that
// nothing will be done under it.
func TestAClientThatHasGoneBeginsNothing(t *testing.T) {
	db := storetest.Open(t, journal.Schema()...)
	desk := &counting{}
	x := New(Options{Desk: desk, DB: db})
	for _, gone := range []bool{true, false} {
		ctx, leave := context.WithCancel(t.Context())
		_, err := x.start(ctx, ecr.Request{Kind: ecr.Payment, Sequence: "k1", Amount: 1250}, "", func() error {
			if gone {
				leave()
			}
			return nil
		})
		leave()
		if gone {
			require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
		}
		require.Equal(t, !gone, desk.begun == 1)
	}
}

// counting is a desk that counts what it is asked to begin.
type counting struct {
	Desk
	begun int
}

func (d *counting) Begin(context.Context, ecr.Request) (ecr.Sale, error) {
	d.begun++
	return ecr.Sale{}, &ecr.Refusal{Code: ecr.Busy}
}
