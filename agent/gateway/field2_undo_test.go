package gateway_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/schemes/aapay"
	"posagent/schemes/wire"
)

// said is a status with what it tells of the request.
func said(word aapay.State, ppref string, r *aapay.Receipt) aapay.Status {
	st := state(word, "")
	st.Receipt = r
	if ppref != "" {
		st.NAA2ECR = &aapay.NAA2ECR{PPRef: ppref}
	}
	return st
}

// An answer that is another's ends no refund and no reversal, neither well nor badly: not the answer to
// the request, which names a stranger's transaction, and not a status of another amount, currency,
// reference or name. Once the gateway is well again the operation ends as its own; if it never is, it is
// in doubt.
func TestField2_M15AnothersAnswerEndsNoUndo(t *testing.T) {
	ours := &aapay.Receipt{Reference: "undo-1", Amount: 1250, Currency: "EUR"}
	for name, c := range map[string]struct {
		ppref  string // of the answer to the request
		strays func(done aapay.State) aapay.Status
	}{
		"the answer names another's transaction": {"theirs", func(done aapay.State) aapay.Status { return said(done, "pp-1", nil) }},
		"a status of another amount": {"pp-1", func(done aapay.State) aapay.Status {
			return said(done, "pp-1", &aapay.Receipt{Amount: 900})
		}},
		"a status of another currency": {"pp-1", func(done aapay.State) aapay.Status {
			return said(done, "pp-1", &aapay.Receipt{Currency: "USD"})
		}},
		"a status of another reference": {"pp-1", func(done aapay.State) aapay.Status {
			return said(done, "pp-1", &aapay.Receipt{Reference: "undo-2", Amount: 1250, Currency: "EUR"})
		}},
		"a status under another name": {"pp-1", func(done aapay.State) aapay.Status { return said(done, "pp-2", nil) }},
	} {
		for kind, done := range map[string]aapay.State{gateway.KindReversal: "REVERSED", gateway.KindRefund: "REFUNDED"} {
			for _, word := range []aapay.State{done, aapay.Rejected} {
				for _, heals := range []bool{true, false} {
					s := &service{start: func(int, bool) (aapay.Reply, error) { return reply(202, 0, c.ppref), nil }}
					s.status = func(n int, id string) (aapay.Status, error) {
						if id != "undo-1" { // the stranger's, by its name
							return said(word, id, nil), nil
						}
						if n > 3 && heals {
							return said(aapay.Failed, "pp-1", ours), nil
						}
						return c.strays(word), nil
					}
					run(t, kind, s, func(p *gateway.UndoPayload) { p.Window = time.Minute }, 10*time.Minute, func(op outbox.Op, got []gateway.UndoResult) {
						want := outbox.Doubt
						if heals {
							want = outbox.Failed
						}
						require.Equal(t, want, op.State, "%s, %s %s: %s", name, kind, word, op.Reason)
						require.Len(t, got, 1)
						if heals {
							require.Equal(t, aapay.Failed, got[0].State, "%s, %s: its own end", name, kind)
						}
						require.Equal(t, 1, s.started)
						require.NotContains(t, strings.Join(s.calls, ","), "theirs", "it is asked for by our own name")
					})
				}
			}
		}
	}
}

// A 201 that refuses names nothing of the request, so it may be another's: what the status says decides.
// Only where the service itself goes on not finding it, the no stands.
func TestField2_M15ARefusalThatIsAnothersEndsNothing(t *testing.T) {
	missing := func(int, string) (aapay.Status, error) { return aapay.Status{}, wire.Errorf(wire.NotFound, "t", "no") }
	refusals := []aapay.Reply{reply(201, aapay.CodeReject, ""), reply(201, aapay.CodeCancel, ""), {HTTPStatus: 201}}
	for name, c := range map[string]struct {
		status func(n int, id string) (aapay.Status, error)
		after  time.Duration
		want   outbox.State
	}{
		"it was carried out":            {func(int, string) (aapay.Status, error) { return state("REFUNDED", ""), nil }, time.Minute, outbox.Done},
		"it is being carried out":       {func(int, string) (aapay.Status, error) { return state(aapay.Pending, ""), nil }, time.Minute, outbox.Sent},
		"it was refused":                {func(int, string) (aapay.Status, error) { return state(aapay.Rejected, ""), nil }, time.Second, outbox.Failed},
		"it is not found, for a moment": {missing, 20 * time.Second, outbox.Sent},
		"it is not found":               {missing, time.Minute, outbox.Failed},
		"it arrives later": {func(n int, id string) (aapay.Status, error) {
			if n < 4 {
				return missing(n, id)
			}
			return state("REFUNDED", ""), nil
		}, time.Minute, outbox.Done},
		"nothing is answered": {func(int, string) (aapay.Status, error) {
			return aapay.Status{}, wire.Errorf(wire.Unavailable, "t", "no")
		}, time.Hour, outbox.Sent},
	} {
		for _, no := range refusals {
			s := &service{status: c.status, start: func(int, bool) (aapay.Reply, error) { return no, nil }}
			run(t, gateway.KindRefund, s, nil, c.after, func(op outbox.Op, got []gateway.UndoResult) {
				require.Equal(t, c.want, op.State, "%s: %s", name, op.Reason)
				require.Equal(t, 1, s.started, name)
				if op.State == outbox.Failed {
					require.Equal(t, 201, got[0].HTTPStatus, name)
					require.False(t, got[0].NotFound, name)
				}
			})
		}
	}
}

// The plain route of an undo needs what a payment's needs: the very first attempt found no idempotent
// route, and the service itself does not know the reference.
func TestField2_M17AnUndosPlainRouteNeedsTheFirstAttempt(t *testing.T) {
	lost := wire.Errorf(wire.UnknownOutcome, "t", "no reply")
	for name, c := range map[string]struct {
		attempts []error // of the idempotent route, one after the other; then it works
		knows    bool
		plain    int
	}{
		"at the first attempt":                   {[]error{missingRoute(404)}, false, 1},
		"the first had no connection":            {[]error{&wire.Error{Code: wire.Unavailable, Op: "t", Unsent: true}, missingRoute(404)}, false, 1},
		"after one whose answer was lost":        {[]error{lost, missingRoute(404)}, false, 0},
		"the first was carried out all the same": {[]error{missingRoute(404)}, true, 0},
	} {
		s := &service{}
		idem := 0
		s.start = func(_ int, plain bool) (aapay.Reply, error) {
			if !plain && idem < len(c.attempts) {
				idem++
				return aapay.Reply{}, c.attempts[idem-1]
			}
			c.knows = true
			return reply(202, 0, ""), nil
		}
		s.status = func(int, string) (aapay.Status, error) {
			if !c.knows {
				return aapay.Status{}, wire.Errorf(wire.NotFound, "t", "no")
			}
			return state("REFUNDED", ""), nil
		}
		run(t, gateway.KindRefund, s, nil, time.Hour, func(op outbox.Op, _ []gateway.UndoResult) {
			require.Equal(t, outbox.Done, op.State, "%s: %s", name, op.Reason)
			require.Equal(t, c.plain, strings.Count(strings.Join(s.calls, ","), "plain"), fmt.Sprintf("%s: %v", name, s.calls))
		})
	}
}

// A 409 that is not ours to a request under a Key ends nothing. Where it says that the first one still
// runs, it is asked again under the same Key. Any other is read: what the backend knows is followed, and
// only what it does not know, and refuses again after a while, is refused.
func TestField2_M9A409ToAnUndoIsNoEnd(t *testing.T) {
	runs := &wire.Error{Code: wire.KeyReused, Op: "t", Msg: "in progress", MayRun: true, Runs: true, RetryAfter: 2 * time.Second}
	bare := &wire.Error{Code: wire.KeyReused, Op: "t", Msg: "conflict", MayRun: true}
	for name, c := range map[string]struct {
		err   error
		times int // of the first answers; then it works
		knows bool
		after time.Duration
		want  outbox.State
	}{
		"it still runs, and is done then": {runs, 5, false, time.Hour, outbox.Done},
		"it runs for ever":                {runs, 1 << 20, false, 10 * time.Minute, outbox.Sent},
		"a bare one, and it is done":      {bare, 1 << 20, true, time.Minute, outbox.Done},
		"a bare one, and it is not known": {bare, 1 << 20, false, 25 * time.Second, outbox.Sent},
		"the same after a while":          {bare, 1 << 20, false, 2 * time.Minute, outbox.Failed},
		"a bare one, once":                {bare, 1, false, time.Minute, outbox.Done},
	} {
		for _, kind := range []string{gateway.KindReversal, gateway.KindRefund} {
			s, done := &service{}, c.knows
			s.start = func(n int, _ bool) (aapay.Reply, error) {
				if n <= c.times {
					return aapay.Reply{}, c.err
				}
				done = true
				return reply(202, 0, ""), nil
			}
			s.status = func(int, string) (aapay.Status, error) {
				return state(map[string]aapay.State{gateway.KindReversal: "REVERSED", gateway.KindRefund: "REFUNDED"}[kind], ""), gone(!done)
			}
			run(t, kind, s, nil, c.after, func(op outbox.Op, got []gateway.UndoResult) {
				require.Equal(t, c.want, op.State, "%s, %s: %s", name, kind, op.Reason)
				for _, k := range s.keys {
					require.Equal(t, op.Key, k, name)
				}
				if c.want == outbox.Failed {
					require.Contains(t, got[0].Text, "conflict", "%s: with its body", name)
				}
			})
		}
	}
}
