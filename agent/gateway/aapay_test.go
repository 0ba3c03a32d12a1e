package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/schemes/aapay"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

// service is a scripted aapay.Service.
type service struct {
	mu       sync.Mutex
	calls    []string
	keys     []wire.Key
	start    func(n int, plain bool) (aapay.Reply, error)
	status   func(n int, id string) (aapay.Status, error)
	asked    int
	started  int
	requests []aapay.Request
	from     int // it knows of nothing before so many requests have begun
}

func (s *service) initialize(plain bool, key wire.Key, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started++
	name := "idem "
	if plain {
		name = "plain "
	}
	s.calls = append(s.calls, name+string(typ))
	s.keys = append(s.keys, key)
	s.requests = append(s.requests, req)
	return s.start(s.started, plain)
}

// begun is how often anything was begun.
func (s *service) begun() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.started
}

func (s *service) Initialize(_ context.Context, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	return s.initialize(true, "", typ, req)
}

func (s *service) InitializeWithIdempotency(_ context.Context, key wire.Key, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	return s.initialize(false, key, typ, req)
}

func (s *service) Status(_ context.Context, id, method string) (aapay.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	s.calls = append(s.calls, "status "+id+" "+method)
	if s.started < s.from {
		return aapay.Status{}, wire.Errorf(wire.NotFound, "t", "no")
	}
	return s.status(s.asked, id)
}

func reply(status, code int, ppref string) aapay.Reply {
	return aapay.Reply{HTTPStatus: status, Valid: status == 202, Response: &aapay.Response{ResponseCode: code, NAA2ECR: &aapay.NAA2ECR{PPRef: ppref}}}
}

func state(s aapay.State, a aapay.AccountState) aapay.Status {
	return aapay.Status{Valid: true, TransactionID: 77, State: s, AccountState: a}
}

func payload(t *testing.T, change func(*gateway.UndoPayload)) []byte {
	t.Helper()
	p := gateway.UndoPayload{Request: aapay.Request{
		MerchantID: "m", Method: "SWISH_E_COM", PurchaseAmount: &aapay.Amount{CurrencyCode: "EUR", NominalAmount: 1250, TotalAmount: 1250},
		Consumer: &aapay.Consumer{}, TerminalReference: "undo-1", OriginalReference: "sale-1",
	}}
	if change != nil {
		change(&p)
	}
	b, err := json.Marshal(p)
	require.NoError(t, err)
	return b
}

// run drives one undo through a real outbox and store for d of virtual time.
func run(t *testing.T, kind string, svc aapay.Service, change func(*gateway.UndoPayload), d time.Duration, check func(op outbox.Op, got []gateway.UndoResult)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "a.db")
		blank(t, path)
		db, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, Steps: steps(), Wrapper: storetest.Wrapper{}, Ballast: -1, Synchronous: "OFF"})
		require.NoError(t, err)
		defer func() { require.NoError(t, db.Close()) }()
		var got []gateway.UndoResult
		settled := func(_ store.Tx, _ outbox.Op, res gateway.UndoResult) error { got = append(got, res); return nil }
		o := outbox.NewOutbox(outbox.Options{DB: db, Kinds: []outbox.Kind{gateway.Reversal(svc, settled, nil), gateway.Refund(svc, settled, nil)}})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- o.Run(ctx) }()
		n := outbox.New{Key: wire.NewKey(), Kind: kind, Aggregate: "sale-1", Payload: payload(t, change), AmountMin: 1250, Currency: "EUR"}
		require.NoError(t, db.Write(ctx, func(tx store.Tx) error { return o.Accept(tx, n) }))
		o.Wake()
		time.Sleep(d)
		synctest.Wait()
		var op outbox.Op
		require.NoError(t, db.Read(ctx, func(r store.Reader) (err error) { op, err = o.Get(r, n.Key); return err }))
		cancel()
		require.NoError(t, <-done)
		check(op, got)
	})
}

func TestStatusDecides(t *testing.T) {
	for _, tc := range []struct {
		kind  string
		state aapay.State
		acct  aapay.AccountState
		words []string
		want  outbox.State
	}{
		{gateway.KindReversal, aapay.Finalized, aapay.Commit, nil, outbox.Done},
		{gateway.KindReversal, aapay.Reported, aapay.Commit, nil, outbox.Done},
		{gateway.KindReversal, "REVERSED", "", nil, outbox.Done},
		{gateway.KindReversal, "REVERSED", aapay.Rollback, nil, outbox.Failed},
		{gateway.KindReversal, "REFUNDED", "", nil, outbox.Sent},
		{gateway.KindRefund, "REFUNDED", "", nil, outbox.Done},
		{gateway.KindRefund, "STATUS_ACCEPTED", "", []string{"STATUS_ACCEPTED"}, outbox.Done},
		{gateway.KindRefund, "STATUS_ACCEPTED", "", nil, outbox.Sent},
		{gateway.KindRefund, aapay.Reserved, "", []string{"RESERVED"}, outbox.Sent},
		{gateway.KindRefund, aapay.Pending, "", []string{"PENDING"}, outbox.Sent},
		{gateway.KindRefund, aapay.Rejected, "", []string{"REJECTED"}, outbox.Failed},
		{gateway.KindReversal, aapay.Finalized, "", nil, outbox.Sent},
		{gateway.KindReversal, aapay.Finalized, aapay.Rollback, nil, outbox.Failed},
		{gateway.KindReversal, aapay.Rejected, "", nil, outbox.Failed},
		{gateway.KindReversal, aapay.Cancelled, aapay.Rollback, nil, outbox.Failed},
		{gateway.KindReversal, aapay.Failed, "", nil, outbox.Failed},
		{gateway.KindReversal, aapay.Failed, aapay.Commit, nil, outbox.Done},
		{gateway.KindReversal, aapay.TimedOut, "", nil, outbox.Failed},
		{gateway.KindReversal, aapay.TimedOut, aapay.Commit, nil, outbox.Done},
		{gateway.KindReversal, aapay.Stale, aapay.Commit, nil, outbox.Done},
		{gateway.KindReversal, aapay.Stale, "", nil, outbox.Sent},
		{gateway.KindReversal, aapay.Initialized, "", nil, outbox.Sent},
		{gateway.KindReversal, aapay.Authorized, aapay.Commit, nil, outbox.Sent},
		{gateway.KindReversal, "SOMETHING_NEW", "", nil, outbox.Sent},
		{gateway.KindReversal, "", "", nil, outbox.Sent},
	} {
		t.Run(fmt.Sprint(tc.kind, tc.state, tc.acct, tc.words), func(t *testing.T) {
			s := &service{
				start:  func(int, bool) (aapay.Reply, error) { return reply(202, 0, "PP1"), nil },
				status: func(int, string) (aapay.Status, error) { return state(tc.state, tc.acct), nil },
			}
			run(t, tc.kind, s, func(p *gateway.UndoPayload) { p.OKWords = tc.words }, 10*time.Second, func(op outbox.Op, got []gateway.UndoResult) {
				require.Equal(t, tc.want, op.State)
				require.Equal(t, 1, s.started)
				require.Equal(t, "status undo-1 SWISH_E_COM", s.calls[1], "by our own name")
				if tc.want == outbox.Sent {
					require.Empty(t, got)
					return
				}
				require.Len(t, got, 1)
				require.Equal(t, tc.want == outbox.Done, got[0].OK)
				require.Equal(t, tc.state, got[0].State)
				require.Equal(t, "77", got[0].TransactionID)
				require.Equal(t, got[0], gateway.ResultOf(op), "the result stays readable")
			})
		})
	}
}

// A refund that timed out may still commit: it has not failed before its window is over.
func TestATimedOutRefundIsLiveForItsWindow(t *testing.T) {
	for _, tc := range []struct {
		after  time.Duration
		commit bool
		want   outbox.State
	}{{9 * time.Minute, false, outbox.Sent}, {11 * time.Minute, false, outbox.Failed}, {11 * time.Minute, true, outbox.Done}} {
		began := time.Time{}
		s := &service{
			start: func(int, bool) (aapay.Reply, error) { began = time.Now(); return reply(202, 0, "PP1"), nil },
			status: func(int, string) (aapay.Status, error) {
				if tc.commit && time.Since(began) > 5*time.Minute {
					return state(aapay.TimedOut, aapay.Commit), nil
				}
				return state(aapay.TimedOut, ""), nil
			},
		}
		run(t, gateway.KindRefund, s, func(p *gateway.UndoPayload) { p.Window = 10 * time.Minute }, tc.after, func(op outbox.Op, _ []gateway.UndoResult) {
			require.Equal(t, tc.want, op.State)
			require.Equal(t, 1, s.started)
		})
	}
}

func TestReplyDecides(t *testing.T) {
	live := func(int, string) (aapay.Status, error) { return state(aapay.Pending, ""), nil }
	for name, tc := range map[string]struct {
		reply   aapay.Reply
		err     error
		want    outbox.State
		started int // 0 = at least two
		asked   bool
	}{
		"202, 0":                     {reply: reply(202, 0, ""), want: outbox.Sent, started: 1, asked: true},
		"202, pending":               {reply: reply(202, -3, ""), want: outbox.Sent, started: 1, asked: true},
		"202, reject is not final":   {reply: reply(202, -1, ""), want: outbox.Sent, started: 1, asked: true},
		"202, cancel is not final":   {reply: reply(202, -2, ""), want: outbox.Sent, started: 1, asked: true},
		"202, unknown code":          {reply: reply(202, 42, ""), want: outbox.Sent, started: 1, asked: true},
		"202, no response":           {reply: aapay.Reply{HTTPStatus: 202, Valid: true}, want: outbox.Sent, started: 1, asked: true},
		"202, not valid":             {reply: aapay.Reply{HTTPStatus: 202}, want: outbox.Sent, started: 1, asked: true},
		"202, resend":                {reply: reply(202, 1, ""), want: outbox.Sent},
		"201, reject, but it lives":  {reply: reply(201, -1, ""), want: outbox.Sent, started: 1, asked: true},
		"201, cancel, but it lives":  {reply: reply(201, -2, ""), want: outbox.Sent, started: 1, asked: true},
		"201, not valid, but alive":  {reply: aapay.Reply{HTTPStatus: 201}, want: outbox.Sent, started: 1, asked: true},
		"201, says OK":               {reply: reply(201, 0, ""), want: outbox.Sent, started: 1, asked: true},
		"400":                        {err: wire.Errorf(wire.Invalid, "t", "no"), want: outbox.Failed, started: 1},
		"401":                        {err: wire.Errorf(wire.Unauthorized, "t", "no"), want: outbox.Pending},
		"403":                        {err: wire.Errorf(wire.Forbidden, "t", "no"), want: outbox.Pending},
		"404 of somebody else's":     {err: wire.Errorf(wire.UnknownOutcome, "t", "reply 418"), want: outbox.Sent},
		"409":                        {err: wire.Errorf(wire.Conflict, "t", "no"), want: outbox.Failed, started: 1},
		"422":                        {err: wire.Errorf(wire.KeyReused, "t", "no"), want: outbox.Doubt, started: 1},
		"429":                        {err: wire.Errorf(wire.TooMany, "t", "no"), want: outbox.Sent},
		"500":                        {err: wire.Errorf(wire.UnknownOutcome, "t", "reply 500"), want: outbox.Sent},
		"503 before any effect":      {err: wire.Errorf(wire.Unavailable, "t", "no"), want: outbox.Pending},
		"an error that carries none": {err: context.DeadlineExceeded, want: outbox.Sent},
	} {
		t.Run(name, func(t *testing.T) {
			s := &service{start: func(int, bool) (aapay.Reply, error) { return tc.reply, tc.err }, status: live}
			run(t, gateway.KindReversal, s, nil, 10*time.Second, func(op outbox.Op, got []gateway.UndoResult) {
				require.Equal(t, tc.want, op.State, op.Reason)
				if tc.started > 0 {
					require.Equal(t, tc.started, s.started)
				} else {
					require.Greater(t, s.started, 1)
				}
				require.Equal(t, tc.asked, s.asked > 0)
				for _, k := range s.keys {
					require.Equal(t, op.Key, k)
				}
				for _, r := range s.requests {
					require.Equal(t, s.requests[0], r)
				}
				if tc.want == outbox.Failed {
					require.Len(t, got, 1)
					require.False(t, got[0].OK)
					require.False(t, got[0].ByHand)
				}
			})
		})
	}
}

// What the backend has known ends by its own final word alone, on either route: not found for a whole
// window it is in doubt, and never sent again.
func TestField2_M18NotFoundAfter202IsLiveAndThenInDoubt(t *testing.T) {
	for _, plain := range []bool{false, true} {
		first := map[bool]int{true: 2}[plain] // before the plain route is taken, it is asked whether it has arrived
		for name, status := range map[string]func(int, string) (aapay.Status, error){
			"at once":       func(int, string) (aapay.Status, error) { return aapay.Status{}, wire.Errorf(wire.NotFound, "t", "no") },
			"after a state": func(n int, _ string) (aapay.Status, error) { return state(aapay.Pending, ""), gone(n > max(first, 1)) },
		} {
			for _, kind := range []string{gateway.KindReversal, gateway.KindRefund} {
				s := &service{from: first, status: status, start: func(n int, _ bool) (aapay.Reply, error) {
					if plain && n == 1 {
						return aapay.Reply{}, missingRoute(404)
					}
					return reply(202, 0, ""), nil
				}}
				run(t, kind, s, func(p *gateway.UndoPayload) { p.Window = time.Minute }, time.Hour, func(op outbox.Op, got []gateway.UndoResult) {
					require.Equal(t, outbox.Doubt, op.State, name)
					require.Len(t, got, 1)
					require.False(t, got[0].OK || got[0].NotFound, name)
					require.Equal(t, map[bool]int{false: 1, true: 2}[plain], s.started, "%s: sent again", name)
				})
			}
		}
	}
}

// gone is "not found" where yes.
func gone(yes bool) error {
	if yes {
		return wire.Errorf(wire.NotFound, "t", "no")
	}
	return nil
}

func TestNotFoundAfter202IsLive(t *testing.T) {
	s := &service{
		start:  func(int, bool) (aapay.Reply, error) { return reply(202, 0, ""), nil },
		status: func(int, string) (aapay.Status, error) { return aapay.Status{}, wire.Errorf(wire.NotFound, "t", "no") },
	}
	run(t, gateway.KindReversal, s, func(p *gateway.UndoPayload) { p.Window = time.Minute }, 50*time.Second, func(op outbox.Op, _ []gateway.UndoResult) {
		require.Equal(t, outbox.Sent, op.State)
		require.Equal(t, 1, s.started)
		require.Equal(t, "status undo-1 SWISH_E_COM", s.calls[1])
	})
}

// TestAFailedReadKeepsThePace: a backend that cannot answer now may ask to come back sooner than reads may follow each other (S1 2.4).
func TestAFailedReadKeepsThePace(t *testing.T) {
	for _, again := range []time.Duration{0, time.Second, 7 * time.Second} {
		s := &service{
			start: func(int, bool) (aapay.Reply, error) { return reply(202, 0, "P"), nil },
			status: func(int, string) (aapay.Status, error) {
				return aapay.Status{}, &wire.Error{Code: wire.TooMany, Op: "t", Msg: "no", RetryAfter: again}
			},
		}
		op := outbox.Op{New: outbox.New{Key: "k", Payload: payload(t, nil)}, State: outbox.Pending, Attempts: 1}
		kind := gateway.Reversal(s, nil, nil)
		v := kind.Send(t.Context(), op)
		for op.Attempts, op.State = 2, outbox.Sent; op.Attempts < 6; op.Attempts++ {
			op.Memo = v.Memo
			v = kind.Send(t.Context(), op)
			require.Equal(t, outbox.Sent, v.State)
			require.GreaterOrEqual(t, v.After, max(2*time.Second, again))
		}
		require.Equal(t, 4, s.asked)
	}
}

func TestAFailedReadProvesNothing(t *testing.T) {
	for _, code := range []wire.Code{wire.Invalid, wire.Conflict, wire.TooLarge, wire.KeyReused, wire.Unavailable, wire.UnknownOutcome, wire.Unauthorized, wire.Internal} {
		s := &service{
			start:  func(int, bool) (aapay.Reply, error) { return reply(202, 0, "P"), nil },
			status: func(int, string) (aapay.Status, error) { return aapay.Status{}, wire.Errorf(code, "t", "no") },
		}
		run(t, gateway.KindReversal, s, nil, time.Hour, func(op outbox.Op, got []gateway.UndoResult) {
			require.Equal(t, outbox.Sent, op.State, code)
			require.Empty(t, got)
			require.Equal(t, 1, s.started)
		})
	}
}

func missingRoute(status int) error {
	return wire.Errorf(wire.UnknownOutcome, "t", "reply %d", status)
}

func TestPlainRouteIsUsedOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		plain  func() (aapay.Reply, error)
		status func(n int, id string) (aapay.Status, error)
		want   outbox.State
		ok     bool
		gone   bool
	}{
		"answered": {
			plain:  func() (aapay.Reply, error) { return reply(202, 0, "PP9"), nil },
			status: func(int, string) (aapay.Status, error) { return state("REVERSED", ""), nil },
			want:   outbox.Done, ok: true,
		},
		"asked to repeat": {
			plain:  func() (aapay.Reply, error) { return reply(202, 1, "PP9"), nil },
			status: func(int, string) (aapay.Status, error) { return state("REVERSED", ""), nil },
			want:   outbox.Done, ok: true,
		},
		"reply lost": {
			plain:  func() (aapay.Reply, error) { return aapay.Reply{}, wire.Errorf(wire.UnknownOutcome, "t", "no reply") },
			status: func(int, string) (aapay.Status, error) { return state("REVERSED", ""), nil },
			want:   outbox.Done, ok: true,
		},
		"never arrived": {
			plain:  func() (aapay.Reply, error) { return aapay.Reply{}, wire.Errorf(wire.UnknownOutcome, "t", "no reply") },
			status: func(int, string) (aapay.Status, error) { return aapay.Status{}, wire.Errorf(wire.NotFound, "t", "no") },
			want:   outbox.Failed, gone: true,
		},
		"nobody knows": {
			plain: func() (aapay.Reply, error) { return aapay.Reply{}, wire.Errorf(wire.UnknownOutcome, "t", "no reply") },
			status: func(int, string) (aapay.Status, error) {
				return aapay.Status{}, wire.Errorf(wire.Unavailable, "t", "no")
			},
			want: outbox.Sent,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &service{from: 2, status: tc.status, start: func(_ int, plain bool) (aapay.Reply, error) {
				if plain {
					return tc.plain()
				}
				return aapay.Reply{}, missingRoute(404)
			}}
			run(t, gateway.KindReversal, s, nil, time.Hour, func(op outbox.Op, got []gateway.UndoResult) {
				require.Equal(t, tc.want, op.State)
				all := strings.Join(s.calls, ",")
				require.Equal(t, 1, strings.Count(all, "plain"), all)
				require.Equal(t, 1, strings.Count(all, "idem"), all)
				if op.State.Final() {
					require.Equal(t, tc.ok, got[0].OK)
					require.Equal(t, tc.gone, got[0].NotFound)
				}
			})
		})
	}
}

// A captive portal answers 404 to everything; it must not cost the undo its only try.
func TestNeitherRouteStartsAgain(t *testing.T) {
	portal := true
	s := &service{
		start: func(_ int, plain bool) (aapay.Reply, error) {
			if portal {
				return aapay.Reply{}, missingRoute(404)
			}
			require.False(t, plain)
			return reply(202, 0, "P"), nil
		},
		status: func(int, string) (aapay.Status, error) { return state("REVERSED", ""), nil },
	}
	run(t, gateway.KindReversal, &switching{s, func(n int) { portal = n < 6 }}, nil, 10*time.Minute, func(op outbox.Op, got []gateway.UndoResult) {
		require.Equal(t, outbox.Done, op.State)
		require.True(t, got[0].OK)
	})
}

// switching changes the world with the number of calls.
type switching struct {
	*service
	before func(n int)
}

func (s *switching) Initialize(ctx context.Context, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	s.before(s.started)
	return s.service.Initialize(ctx, typ, req)
}

func (s *switching) InitializeWithIdempotency(ctx context.Context, key wire.Key, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	s.before(s.started)
	return s.service.InitializeWithIdempotency(ctx, key, typ, req)
}

// The plan to use the plain route is stored before; a crash after it was used leaves only questions.
func TestPlainRouteAndCrash(t *testing.T) {
	k := func(s *service) outbox.Kind { return gateway.Reversal(s, nil, nil) }
	s := &service{
		from:   2,
		start:  func(_ int, plain bool) (aapay.Reply, error) { return aapay.Reply{}, missingRoute(405) },
		status: func(int, string) (aapay.Status, error) { return state(aapay.Pending, ""), nil },
	}
	op := outbox.Op{New: outbox.New{Key: "k", Payload: payload(t, nil)}, State: outbox.Pending, Attempts: 1}
	v := k(s).Send(t.Context(), op)
	require.Equal(t, outbox.Pending, v.State)
	require.NotEmpty(t, v.Memo)
	require.Less(t, v.After, time.Second)

	s.start = func(_ int, plain bool) (aapay.Reply, error) { return reply(202, 0, "P"), nil }
	op.Memo, op.Attempts = v.Memo, 2
	require.Equal(t, outbox.Sent, k(s).Send(t.Context(), op).State)
	require.Equal(t, "plain reversal", s.calls[2])

	op.Attempts, op.State = 3, outbox.Sent // attempt 2 crashed: its memo was never stored
	require.Equal(t, outbox.Sent, k(s).Send(t.Context(), op).State)
	require.Equal(t, "status undo-1 SWISH_E_COM", s.calls[3])
	require.Equal(t, 2, s.started)
}

// A 201 on the plain route may only mean that the attempt before it has arrived: the status decides.
func TestPlainRouteRefusedAsADouble(t *testing.T) {
	s := &service{
		start: func(_ int, plain bool) (aapay.Reply, error) {
			if plain {
				return reply(201, aapay.CodeReject, ""), nil
			}
			return aapay.Reply{}, missingRoute(404)
		},
		status: func(int, string) (aapay.Status, error) { return state("REFUNDED", ""), nil },
	}
	run(t, gateway.KindRefund, s, nil, time.Hour, func(op outbox.Op, got []gateway.UndoResult) {
		require.Equal(t, outbox.Done, op.State)
		require.True(t, got[0].OK)
	})
}

func TestReadOnlyOnlyReads(t *testing.T) {
	s := &service{
		start:  func(int, bool) (aapay.Reply, error) { t.Fatal("sent"); return aapay.Reply{}, nil },
		status: func(int, string) (aapay.Status, error) { return state("REVERSED", ""), nil },
	}
	v := gateway.Reversal(s, nil, nil).Send(t.Context(), outbox.Op{New: outbox.New{Key: "k", Payload: payload(t, nil)}, State: outbox.Sent, Attempts: 9, ReadOnly: true})
	require.Equal(t, outbox.Done, v.State)
}

func TestUnreadablePayloadIsSetAside(t *testing.T) {
	k := gateway.Refund(&service{}, nil, nil)
	require.Equal(t, outbox.Held, k.Send(t.Context(), outbox.Op{New: outbox.New{Payload: []byte("{")}}).State)
	require.Equal(t, outbox.Held, k.Send(t.Context(), outbox.Op{New: outbox.New{Payload: []byte("{}")}, Memo: []byte("x")}).State)
}

func TestResultByHand(t *testing.T) {
	res := gateway.ResultOf(outbox.Op{State: outbox.Done, Reason: "resolved by hand: seen"})
	require.True(t, res.OK && res.ByHand)
	res = gateway.ResultOf(outbox.Op{State: outbox.Failed, Result: []byte(`{"ok":true}`)})
	require.False(t, res.OK)
	require.True(t, res.ByHand)
	require.False(t, gateway.ResultOf(outbox.Op{State: outbox.Doubt}).ByHand)
}

// The one thing read from a text: it must stay what the real client says.
func TestMissingRouteThroughTheRealClient(t *testing.T) {
	for _, status := range []int{404, 405} {
		svc := &aapay.Client{BaseURL: "http://backend.test", Doer: doer(func(r *http.Request) *http.Response {
			if r.Method == http.MethodGet { // the service's own word
				own := `{"valid":false,"error":{"message":"no such transaction"},"response":null}`
				return &http.Response{StatusCode: 404, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(own)), Request: r}
			}
			return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"text/plain"}}, Body: http.NoBody, Request: r}
		})}
		v := gateway.Reversal(svc, nil, nil).Send(t.Context(), outbox.Op{New: outbox.New{Key: "k", Payload: payload(t, nil)}, State: outbox.Pending, Attempts: 1})
		require.Equal(t, outbox.Pending, v.State)
		require.Contains(t, string(v.Memo), `"plainAt":2`)
	}
}

type doer func(*http.Request) *http.Response

func (d doer) Do(r *http.Request) (*http.Response, error) { return d(r), nil }

func TestKindsOfBothServices(t *testing.T) {
	require.Equal(t, []string{gateway.KindReversal, gateway.KindRefund, gateway.KindLinkReversal, gateway.KindLinkRefund}, []string{
		gateway.KindOf("SWISH_E_COM", false), gateway.KindOf("SWISH_E_COM", true), gateway.KindOf("paylink", false), gateway.KindOf("paylink", true),
	})
	schemes, links := &service{}, &service{}
	for _, s := range []*service{schemes, links} {
		s.start = func(int, bool) (aapay.Reply, error) { return reply(202, 0, ""), nil }
	}
	for i, k := range gateway.Undos(schemes, links, nil, nil) {
		require.Equal(t, []string{gateway.Schemes, gateway.Schemes, gateway.LinkUndos, gateway.LinkUndos}[i], k.Service)
		k.Send(t.Context(), outbox.Op{New: outbox.New{Key: "k", Payload: payload(t, nil)}, State: outbox.Pending, Attempts: 1})
		require.Equal(t, []int{1, 2, 2, 2}[i], schemes.started, k.Name)
		require.Equal(t, []int{0, 0, 1, 2}[i], links.started, k.Name)
	}
}

func TestInDoubtWaitsForAPerson(t *testing.T) {
	s := &service{
		start:  func(int, bool) (aapay.Reply, error) { return reply(202, 0, "P"), nil },
		status: func(int, string) (aapay.Status, error) { return state(gateway.InDoubt, ""), nil },
	}
	run(t, gateway.KindRefund, s, nil, time.Hour, func(op outbox.Op, got []gateway.UndoResult) {
		require.Equal(t, outbox.Doubt, op.State)
		require.Len(t, got, 1)
		require.False(t, got[0].OK || got[0].ByHand)
		require.Equal(t, 1, s.asked)
	})
}
