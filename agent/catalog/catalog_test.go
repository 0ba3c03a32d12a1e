package catalog_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/catalog"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// service is a scripted methods.Service.
type service struct {
	mu    sync.Mutex
	list  []methods.Definition
	err   error
	asked int
	slow  time.Duration
	most  int
	now   int
}

func (s *service) List(ctx context.Context, _ methods.Query) ([]methods.Definition, error) {
	s.mu.Lock()
	s.asked++
	s.now++
	s.most = max(s.most, s.now)
	slow := s.slow
	s.mu.Unlock()
	select {
	case <-time.After(slow):
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now--
	return s.list, s.err
}

func (s *service) set(list []methods.Definition, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list, s.err = list, err
}

func (s *service) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func definition(id int32, name string) methods.Definition {
	return methods.Definition{
		PaymentProviderID: id, Name: name, Label: name, MeanDelay: 10, Trigger: []methods.Trigger{methods.QR},
		TransactionTypes: []methods.TransactionType{methods.Payment, methods.Reversal},
	}
}

var query = methods.Query{BaxID: "1", TerminalID: "2", Lang: "en"}

type rig struct {
	t      *testing.T
	path   string
	svc    *service
	db     store.Journal
	c      *catalog.Catalog
	cancel context.CancelFunc
	done   chan error
	query  methods.Query
	off    time.Duration
}

func (r *rig) start() {
	r.db = storetest.OpenAt(r.t, r.path, catalog.Schema()...)
	r.c = catalog.New(catalog.Options{DB: r.db, Service: r.svc, Query: r.query, Refresh: time.Hour,
		Now: func() time.Time { return time.Now().Add(r.off) }})
	ctx, cancel := context.WithCancel(r.t.Context())
	r.cancel, r.done = cancel, make(chan error, 1)
	c := r.c
	go func() { r.done <- c.Run(ctx) }()
	synctest.Wait()
}

func (r *rig) stop() {
	if r.cancel != nil {
		r.cancel()
		require.NoError(r.t, <-r.done)
		require.NoError(r.t, r.db.Close())
		r.cancel = nil
	}
}

func (r *rig) expect(state catalog.State, names ...string) {
	r.t.Helper()
	defs, fetched, got := r.c.Current()
	require.Equal(r.t, state, got)
	var have []string
	for _, d := range defs {
		have = append(have, d.Name)
	}
	require.Equal(r.t, names, have)
	require.Equal(r.t, state == catalog.Unknown, fetched.IsZero())
}

func bubble(t *testing.T, svc *service, fn func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, path: filepath.Join(t.TempDir(), "a.db"), svc: svc, query: query}
		defer r.stop()
		fn(r)
	})
}

func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

var errDown = wire.Errorf(wire.Unavailable, "t", "down")

func TestFetchedKeptAndRefreshed(t *testing.T) {
	svc := &service{list: []methods.Definition{definition(1, "A"), definition(2, "B")}}
	bubble(t, svc, func(r *rig) {
		r.start()
		pass(time.Second)
		r.expect(catalog.Fresh, "A", "B")
		require.Equal(t, 1, svc.count())
		svc.set([]methods.Definition{definition(3, "C")}, nil)
		pass(61 * time.Minute)
		r.expect(catalog.Fresh, "C")
		pass(24 * time.Hour)
		require.LessOrEqual(t, svc.count(), 36)
	})
}

func TestUsedOfflineAfterARestart(t *testing.T) {
	svc := &service{list: []methods.Definition{definition(1, "A")}}
	bubble(t, svc, func(r *rig) {
		r.start()
		pass(time.Second)
		r.stop()
		pass(time.Minute)
		svc.set(nil, errDown)
		r.start()
		pass(time.Second)
		r.expect(catalog.Fresh, "A")
		require.Equal(t, 1, svc.count(), "still fresh, not asked")
		pass(72 * time.Hour)
		r.expect(catalog.Stale, "A")
		require.LessOrEqual(t, svc.count(), 72*20, "about one in five minutes at most")
		require.Greater(t, svc.count(), 100)
		_, err := r.c.Trouble()
		require.Error(t, err)

		svc.set([]methods.Definition{definition(2, "B")}, nil)
		pass(6 * time.Minute)
		r.expect(catalog.Fresh, "B")
		_, err = r.c.Trouble()
		require.NoError(t, err)
	})
}

// A stored list counts for the very question it was fetched for: another spelling of it would lose the list at an update.
func TestTheStoredQuestionKeepsItsSpelling(t *testing.T) {
	for want, q := range map[string]methods.Query{
		`["1","2",[5,6],"en"]`: {Exclude: []int32{5, 6}}, `["1","2",null,"en"]`: {Caller: "posagent"}, `["1","2",null,"en","winter"]`: {Caller: "winter"},
	} {
		bubble(t, &service{list: []methods.Definition{definition(1, "A")}}, func(r *rig) {
			r.query.Exclude, r.query.Caller = q.Exclude, q.Caller
			r.start()
			pass(time.Second)
			var got string
			require.NoError(r.t, r.db.Read(r.t.Context(), func(rd store.Reader) error {
				return rd.QueryRow(`SELECT query FROM catalog_list`).Scan(&got)
			}))
			require.Equal(r.t, want, got)
		})
	}
}

func TestNoMethods(t *testing.T) {
	svc := &service{list: []methods.Definition{definition(1, "A")}}
	bubble(t, svc, func(r *rig) {
		r.start()
		pass(time.Second)
		svc.set(nil, wire.Errorf(wire.NotFound, "t", "none"))
		require.ErrorIs(t, r.c.RefreshNow(r.t.Context()), &wire.Error{Code: wire.NotFound})
		r.expect(catalog.NoMethods)
		r.stop()
		before := svc.count()
		r.start()
		r.expect(catalog.NoMethods)
		pass(time.Hour)
		asked := svc.count() - before
		require.Greater(t, asked, 10)
		require.Less(t, asked, 20)
		svc.set([]methods.Definition{definition(1, "A")}, nil)
		pass(6 * time.Minute)
		r.expect(catalog.Fresh, "A")
	})
}

func TestABadListDoesNotReplaceAGoodOne(t *testing.T) {
	svc := &service{list: []methods.Definition{definition(1, "A")}}
	bubble(t, svc, func(r *rig) {
		r.start()
		pass(time.Second)
		for _, bad := range [][]methods.Definition{{}, nil, {{}}, {{Name: "X", Trigger: []methods.Trigger{"NONE"}}}} {
			svc.set(bad, nil)
			require.ErrorIs(t, r.c.RefreshNow(r.t.Context()), catalog.ErrBadList)
			r.expect(catalog.Fresh, "A")
		}
		for _, code := range []wire.Code{wire.Unavailable, wire.Unauthorized, wire.Forbidden, wire.Invalid, wire.Internal, wire.TooMany} {
			svc.set(nil, wire.Errorf(code, "t", "no"))
			require.Error(t, r.c.RefreshNow(r.t.Context()))
			r.expect(catalog.Fresh, "A")
		}
		svc.set([]methods.Definition{{}, definition(2, "B"), definition(2, "B2")}, nil)
		require.NoError(t, r.c.RefreshNow(r.t.Context()))
		r.expect(catalog.Fresh, "B")
		problems, err := r.c.Trouble()
		require.NoError(t, err)
		require.Len(t, problems, 2)
	})
}

func TestNothingKnownYet(t *testing.T) {
	svc := &service{err: errDown}
	bubble(t, svc, func(r *rig) {
		r.start()
		pass(10 * time.Minute)
		r.expect(catalog.Unknown)
		require.Less(t, svc.count(), 15)
		svc.set([]methods.Definition{}, nil)
		pass(6 * time.Minute)
		r.expect(catalog.NoMethods)
	})
}

func TestAnAlteredOrForeignListIsNotUsed(t *testing.T) {
	for name, spoil := range map[string]func(r *rig){
		"list": func(r *rig) {
			require.NoError(t, r.db.Write(r.t.Context(), func(tx store.Tx) error {
				_, err := tx.Exec(`UPDATE catalog_list SET list = CAST(REPLACE(CAST(list AS TEXT), 'QR', 'XX') AS BLOB)`)
				return err
			}))
		},
		"age": func(r *rig) {
			require.NoError(t, r.db.Write(r.t.Context(), func(tx store.Tx) error {
				_, err := tx.Exec(`UPDATE catalog_list SET fetched_ms = fetched_ms + 1000000`)
				return err
			}))
		},
		"terminal": func(r *rig) { r.query.TerminalID = "3" },
		"caller":   func(r *rig) { r.query.Caller = "winter" },
	} {
		t.Run(name, func(t *testing.T) {
			svc := &service{list: []methods.Definition{definition(1, "A")}}
			bubble(t, svc, func(r *rig) {
				r.start()
				pass(time.Second)
				spoil(r)
				r.stop()
				svc.set(nil, errDown)
				r.start()
				pass(time.Second)
				r.expect(catalog.Unknown)
			})
		})
	}
}

func TestClockGoesBack(t *testing.T) {
	svc := &service{list: []methods.Definition{definition(1, "A")}}
	bubble(t, svc, func(r *rig) {
		r.start()
		pass(time.Second)
		r.stop()
		r.off = -20 * 365 * 24 * time.Hour
		svc.set(nil, errDown)
		r.start()
		pass(time.Second)
		r.expect(catalog.Stale, "A")
		require.Equal(t, 2, svc.count(), "asked at once")
	})
}

func TestOneQuestionAtATime(t *testing.T) {
	svc := &service{list: []methods.Definition{definition(1, "A")}, slow: time.Second}
	bubble(t, svc, func(r *rig) {
		r.start()
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() { require.NoError(t, r.c.RefreshNow(r.t.Context())) })
		}
		wg.Wait()
		require.Equal(t, 1, svc.most)
	})
}
