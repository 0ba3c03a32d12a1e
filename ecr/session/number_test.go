package session

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr/ecrtest/desk"
	"posagent/ecr/till/zvt"
	"posagent/ecr/zvt/apdu"
)

// TestMoneyF2_ANumberIsNeverIgnored: a register that repeats a sale under its number (TLV 1F73) is
// paid once. Without the offer in its registration the number was ignored and the customer paid
// twice.
func TestMoneyF2_ANumberIsNeverIgnored(t *testing.T) {
	ctx := context.Background()
	d := desk.New()
	address, _ := serveTCP(t, d, nil)
	till := func(offers bool) *zvt.Register {
		habit := zvt.Steady()
		habit.Config = 0x08
		r, err := zvt.Dial(ctx, "tcp:"+address, zvt.Options{Habit: habit, Sequence: offers})
		require.NoError(t, err)
		t.Cleanup(func() { _ = r.Close() })
		res, err := r.Register(ctx)
		require.NoError(t, err)
		require.True(t, res.OK())
		return r
	}
	begun := func() int {
		d.Mu.Lock()
		defer d.Mu.Unlock()
		return len(d.Begun)
	}
	numbered := zvt.PayOptions{Sequence: 7}

	silent := till(false)
	for range 2 {
		res, err := silent.Pay(ctx, 335, "", numbered)
		require.NoError(t, err)
		require.False(t, res.Approved)
		require.EqualValues(t, 0x83, res.Code)
		require.Equal(t, "number (1F73) not agreed: send 1F73 03 000000 in 06 00", res.Text)
	}
	res, err := silent.Pay(ctx, 335, "", zvt.PayOptions{Objects: []apdu.TLV{apdu.Primitive(0x1F73, 0x00, 0x07)}})
	require.NoError(t, err)
	require.True(t, res.Refused, "a number of two bytes")
	require.Zero(t, begun())

	agreed := till(true)
	first, err := agreed.Pay(ctx, 335, "", numbered)
	require.NoError(t, err)
	require.True(t, first.Approved)
	again, err := agreed.Pay(ctx, 335, "", numbered)
	require.NoError(t, err)
	require.True(t, again.Approved)
	require.Equal(t, first.Receipt, again.Receipt)
	require.Equal(t, 1, begun())
	other, err := agreed.Pay(ctx, 336, "", numbered)
	require.NoError(t, err)
	require.True(t, other.Refused)
	require.EqualValues(t, 0x83, other.Code)
	require.Equal(t, 1, begun())
}
