package room_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/wire"
	"posagent/store"
)

// TestField6_TheOperatorsRepeatIsTheMerchantsWrite: a box asked for a refund with its enrolment's credentials, and its answer was lost. It
// left the fleet, and repeated the refund under the same Key with the operator's credentials: the money was given back twice. The other
// way round it was one refund. The kind: every keyed write of payments, links and hosted orders (Once), with a success and with a refusal;
// wallets look under the merchant that the request names (TestField5_TheOperatorsWordReachesAMerchantsReference). Two merchants' Keys stay
// apart, as does one that a caller counts up itself, another body, another thing and another route.
func TestField6_TheOperatorsRepeatIsTheMerchantsWrite(t *testing.T) {
	operator := context.Background()
	m1, m2 := room.As(operator, room.Caller{Merchant: "M1"}), room.As(operator, room.Caller{Merchant: "M2"})
	key := wire.NewKey()
	for name, c := range map[string]struct {
		first, then     context.Context
		key             wire.Key
		op, about, body string // of the second
		fails           error
		once            bool
	}{
		"the operator after the merchant":  {m1, operator, key, "refund", "P1", "5", nil, true},
		"the merchant after the operator":  {operator, m1, key, "refund", "P1", "5", nil, true},
		"what was refused":                 {m1, operator, key, "refund", "P1", "5", wire.Errorf(wire.Conflict, "refund", "too much"), true},
		"another merchant":                 {m1, m2, key, "refund", "P1", "5", nil, false},
		"a key that a caller counts":       {m1, operator, "7", "refund", "P1", "5", nil, false},
		"another body":                     {m1, operator, key, "refund", "P1", "6", nil, false},
		"another thing":                    {m1, operator, key, "refund", "P2", "5", nil, false},
		"another route":                    {m1, operator, key, "capture", "P1", "5", nil, false},
		"a merchant's own after the first": {m1, m1, key, "refund", "P1", "5", nil, true},
	} {
		r, _ := open(t)
		ran := 0
		write := func(ctx context.Context, op, about, body string) (got answer, err error) {
			err = r.Once(ctx, room.Keyed{Op: op, About: about, Key: c.key, Body: []byte(body)}, &got, func(store.Tx, int64) (scenario.Do, error) {
				ran++
				got.N = ran
				return "", c.fails
			})
			return got, err
		}
		first, err := write(c.first, "refund", "P1", "5")
		require.Equal(t, c.fails, err, name)
		second, err := write(c.then, c.op, c.about, c.body)
		require.Equal(t, c.fails, err, name)
		require.Equal(t, c.once, ran == 1, name)
		require.Equal(t, c.once && c.fails == nil, c.fails == nil && first == second, name)
		if c.then == operator { // asked again it is as it was
			_, err = write(c.then, c.op, c.about, c.body)
			require.Equal(t, c.fails, err, name)
			require.Equal(t, c.once, ran == 1, name)
			require.LessOrEqual(t, ran, 2, name)
		}
	}
}
