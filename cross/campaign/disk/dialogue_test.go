package disk

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/cross/stack"
	"posagent/cross/stack/stacktest"
	"posagent/ecr/till/zvt"
	"posagent/schemes/money"
	"posagent/store/crashfs"
)

// patience is what a real register waits for the end of a request.
const patience = 85 * time.Second

// TestField_J8ADeadDiskKeepsNoRegisterWaiting: the disk dies for good at some moment of a sale, which the wallet pays meanwhile or
// nobody pays. The register has its end within its patience, and what it was told is what the books say once the disk works.
func TestField_J8ADeadDiskKeepsNoRegisterWaiting(t *testing.T) {
	moments := []time.Duration{0, 300 * time.Millisecond, 900 * time.Millisecond, 1100 * time.Millisecond, 2 * time.Second}
	for i, errno := range []crashfs.Errno{crashfs.EIO, crashfs.ENOSPC, crashfs.EROFS} {
		for _, at := range moments[need.Size(1+i, 0):need.Size(2+i, len(moments))] { // make test takes one moment of each errno
			for _, amount := range []money.Minor{2000, 90008} { // 900.08: nobody scans
				withRecorder(t, func(o stack.Options, rec *crashfs.Recorder) {
					o.VFS = rec.VFS()
					stacktest.Play(t, o, func(ctx context.Context, t *testing.T, s *stack.Stack) { deadDisk(ctx, t, s, rec, errno, at, amount) })
				})
			}
		}
	}
}

func deadDisk(ctx context.Context, t *testing.T, s *stack.Stack, rec *crashfs.Recorder, errno crashfs.Errno, at time.Duration, amount money.Minor) {
	t.Helper()
	dies := time.AfterFunc(at, func() { rec.Arm(crashfs.Fault{On: crashfs.Write, N: 1, Err: errno, Times: -1}) })
	began := time.Now()
	r, err := s.Dial(func(direction string, data []byte) {
		if direction == "in" && data[0] == 0x80 { // from here the register counts
			began = time.Now()
		}
	})
	require.NoError(t, err)
	res, err := r.Pay(ctx, amount, "EUR", zvt.PayOptions{})
	require.NoError(t, err, "dead at %v", at)
	require.True(t, res.Told || res.Refused, "%+v", res)
	require.LessOrEqual(t, time.Since(began), patience, "%v at %v: %+v", errno, at, res)
	require.NoError(t, r.Close())
	dies.Stop()
	rec.Disarm()
	<-time.After(30 * time.Second)
	_, err = s.Settle(ctx, time.Hour)
	require.NoError(t, err)
	net, err := s.Net(ctx, int64(amount))
	require.NoError(t, err)
	want := int64(0)
	if res.Approved {
		want = int64(amount)
	}
	require.Equal(t, want, net, "%v at %v: %+v", errno, at, res)
	b, err := s.Sell(ctx, stack.Plan{Amount: 3000})
	require.NoError(t, err)
	require.True(t, b.Approved, b.Said)
	stacktest.Content(ctx, t, s)
}
