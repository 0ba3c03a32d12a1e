package ownership_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/ownership"
	"posagent/schemes/aapay"
	"posagent/schemes/wire"
)

// A call that a proxy answered may have made what it named: its client reads that, and takes it back. Kind: each answer that proves nothing,
// with and without a Key that it is said to be of; a refusal of the service itself takes the name back.
func TestField4_AProxysAnswerTakesNoNameBack(t *testing.T) {
	for name, row := range map[string]struct {
		err *wire.Error
		own bool
	}{
		"bare 401":       {&wire.Error{Code: wire.Unauthorized, Nobody: true}, true},
		"bare 403":       {&wire.Error{Code: wire.Forbidden, Nobody: true}, true},
		"bare 429":       {&wire.Error{Code: wire.TooMany, Nobody: true}, true},
		"foreign 409":    {&wire.Error{Code: wire.KeyReused, MayRun: true}, true},
		"its own 401":    {&wire.Error{Code: wire.Unauthorized}, false},
		"its own 403":    {&wire.Error{Code: wire.Forbidden}, false},
		"its own 429":    {&wire.Error{Code: wire.TooMany}, false},
		"a reused Key":   {&wire.Error{Code: wire.KeyReused}, false},
		"never sent":     {&wire.Error{Code: wire.Unavailable, Unsent: true}, false},
		"without answer": {&wire.Error{Code: wire.UnknownOutcome}, true},
	} {
		t.Run(name, func(t *testing.T) {
			alpha, next := as(t, "alpha"), &acquirer{shown: map[string]aapay.Status{}, err: row.err}
			svc := ownership.Schemes(claims(t), nil, next)
			began := time.Now()
			_, err := svc.InitializeWithIdempotency(alpha, "k", aapay.Payment, payment("alpha-1", 900))
			require.Equal(t, row.err.Code, wire.CodeOf(err))
			next.shown["alpha-1"] = shown("PAID", 900, began)
			_, err = svc.Status(alpha, "alpha-1", "")
			require.Equal(t, row.own, err == nil, "%v", err)
		})
	}
}
