package session

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/ecr/ecrtest/desk"
	"posagent/ecr/till/zvt"
)

// failing is a memory whose medium is full while full says so.
type failing struct {
	ecr.Memory
	mu   sync.Mutex
	full bool
}

func (f *failing) set(full bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.full = full
}

func (f *failing) Save(ctx context.Context, line string, data []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.full {
		return errors.New("no space left on device")
	}
	return f.Memory.Save(ctx, line, data)
}

// numbered connects a register that numbers its messages. It has not registered yet.
func numbered(t *testing.T, address string) *zvt.Register {
	habit := zvt.Steady()
	habit.Config = 0x08
	r, err := zvt.Dial(t.Context(), "tcp:"+address, zvt.Options{Habit: habit, Sequence: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func registers(t *testing.T, r *zvt.Register) zvt.Result {
	res, err := r.Register(t.Context())
	require.NoError(t, err)
	return res
}

func pays(t *testing.T, r *zvt.Register, number int) zvt.Result {
	res, err := r.Pay(t.Context(), 335, "", zvt.PayOptions{Sequence: number})
	require.NoError(t, err)
	return res
}

// begunAs are the ids of the sales that a desk was asked for.
func begunAs(d *desk.Desk) (ids []string) {
	d.Mu.Lock()
	defer d.Mu.Unlock()
	for _, req := range d.Begun {
		ids = append(ids, req.Sequence)
	}
	return ids
}

// TestField2_M14ARegistrationThatIsNotStoredFails: a ZVT register begins its numbers at 1 with each
// registration, and the registration's name in the journal tells them apart. The journal could not
// be written, the register heard 06 0F all the same, and after a restart number 1 named yesterday's
// sale.
func TestField2_M14ARegistrationThatIsNotStoredFails(t *testing.T) {
	d := desk.New()
	kept := &failing{Memory: d, full: true}
	address, _ := serveTCP(t, d, func(o *setup) { o.Memory = kept })
	till := numbered(t, address)
	res := registers(t, till)
	require.False(t, res.OK())
	require.EqualValues(t, 0xB1, res.Code, "the journal cannot be written")
	require.False(t, pays(t, till, 1).Approved, "numbers are not agreed")
	require.Empty(t, begunAs(d))

	kept.set(false)
	require.True(t, registers(t, till).OK())
	require.True(t, pays(t, till, 1).Approved)
	require.Len(t, begunAs(d), 1)
}

// TestField2_M14NumbersThatGoBackAreStoredFirst: a count that begins again without a registration
// makes a new name too. No sale begins under it before it is stored.
func TestField2_M14NumbersThatGoBackAreStoredFirst(t *testing.T) {
	d := desk.New()
	kept := &failing{Memory: d}
	address, _ := serveTCP(t, d, func(o *setup) { o.Memory = kept })
	till := numbered(t, address)
	require.True(t, registers(t, till).OK())
	require.True(t, pays(t, till, 7).Approved)

	kept.set(true)
	res := pays(t, till, 1)
	require.False(t, res.Approved)
	require.EqualValues(t, 0xB1, res.Code)
	require.Len(t, begunAs(d), 1)

	kept.set(false)
	require.True(t, pays(t, till, 2).Approved)
	ids := begunAs(d)
	require.Len(t, ids, 2)
	restarted, _ := serveTCP(t, d, func(o *setup) { o.Memory = kept })
	require.True(t, pays(t, numbered(t, restarted), 2).Approved)
	require.Equal(t, ids, begunAs(d), "the same number is the same sale after a restart")
}

// TestField2_M14NoNumberComesBackWithAnOlderMemory: whatever the line remembers goes back with the
// journal: restored, lost, cut. The numbers of the next registration are not those of the lost one.
func TestField2_M14NoNumberComesBackWithAnOlderMemory(t *testing.T) {
	d := desk.New()
	sells := func(memory ecr.Memory) string {
		address, _ := serveTCP(t, d, func(o *setup) { o.Memory = memory })
		till := numbered(t, address)
		require.True(t, registers(t, till).OK())
		require.True(t, pays(t, till, 1).Approved)
		ids := begunAs(d)
		return ids[len(ids)-1]
	}
	seen := map[string]string{}
	for name, memory := range map[string]map[string][]byte{
		"lost":           nil,
		"reset":          {},
		"older program":  {"tcp": []byte(`{"v":1,"config":8,"sequenced":true,"epoch":3}`)},
		"restored":       {"tcp": []byte(`{"v":1,"config":8,"sequenced":true,"epoch":3,"series":"ONE"}`)},
		"restored twice": {"tcp": []byte(`{"v":1,"config":8,"sequenced":true,"epoch":3,"series":"ONE"}`)},
	} {
		back := desk.New()
		if memory != nil {
			back.Memory = memory
		}
		id := sells(back)
		require.Empty(t, seen[id], "%s and %s", name, seen[id])
		require.NotContains(t, []string{"zvt-3-000001", "zvt-4-000001", "zvt-ONE-000001"}, id, name)
		seen[id] = name
	}
}

// TestField2_M14NumbersOfAnOlderProgramStay: a register that goes on counting over the update, without
// a registration, is joined to what it began before.
func TestField2_M14NumbersOfAnOlderProgramStay(t *testing.T) {
	d := desk.New()
	d.Memory["tcp"] = []byte(`{"v":1,"config":8,"tlv":true,"sequenced":true,"epoch":3,"registered":true}`)
	address, _ := serveTCP(t, d, nil)
	require.True(t, pays(t, numbered(t, address), 5).Approved)
	require.Equal(t, []string{"zvt-3-000005"}, begunAs(d))
}
