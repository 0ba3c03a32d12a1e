package badinput

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/ecr/ecrtest/lines"
	"posagent/ecr/till/zvt"
	"posagent/ecr/zvt/frame"
)

// cable is a serial cable: a pseudo terminal whose slave is the terminal's device, under a stable name.
type cable struct {
	path          string // the stable name
	mu            sync.Mutex
	master, slave *os.File
}

func newCable(dir string) (*cable, error) {
	c := &cable{path: filepath.Join(dir, "ttyUSB0")}
	return c, c.plug()
}

// plug makes a new pair and leads the stable name to it.
func (c *cable) plug() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	master, path, err := lines.PTY()
	if err != nil {
		return fmt.Errorf("pseudo terminal: %w", err)
	}
	c.master = master
	if c.slave, err = lines.OpenRaw(path); err != nil { // kept open: the line survives its users
		return err
	}
	return c.lead(path)
}

// lead points the stable name to something.
func (c *cable) lead(target string) error {
	next := c.path + ".new"
	_ = os.Remove(next)
	return errors.Join(os.Symlink(target, next), os.Rename(next, c.path))
}

// pull takes the device away. The stable name goes first: the next pair gets the freed number, and a
// terminal that opens its line again must not find another scene's cable there.
func (c *cable) pull() {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = os.Remove(c.path)
	c.slave.Close()
	c.master.Close()
}

func (c *cable) close() { c.pull() }

// end is the register's end without closing the cable with it.
type end struct {
	*cable
	mu     sync.Mutex
	closed bool
}

func (e *end) Read(p []byte) (int, error)  { return e.master.Read(p) }
func (e *end) Write(p []byte) (int, error) { return e.master.Write(p) }

// Close ends a read, and one that is about to begin.
func (e *end) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	return e.master.SetReadDeadline(time.Now())
}

func (e *end) SetReadDeadline(t time.Time) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return os.ErrClosed
	}
	return e.master.SetReadDeadline(t)
}

// say writes raw bytes and gives back all that comes until the line has been quiet for a while.
func (c *cable) say(quiet time.Duration, data ...byte) []byte {
	_, _ = c.master.Write(data)
	return c.hear(quiet)
}

func (c *cable) hear(quiet time.Duration) (all []byte) {
	buf := make([]byte, 4096)
	for end := need.Deadline(); time.Now().Before(end); {
		_ = c.master.SetReadDeadline(time.Now().Add(quiet))
		n, err := c.master.Read(buf)
		all = append(all, buf[:n]...)
		if err != nil {
			break
		}
		quiet = min(quiet, 120*time.Millisecond) // it has begun to speak
	}
	return all
}

// TestField_U11APulledCableLeadsToNoOtherCable takes a cable away and makes another one, which gets the number that
// became free. With the name left behind, a terminal answered another scene's register: a sale told approved by the
// wrong terminal.
func TestField_U11APulledCableLeadsToNoOtherCable(t *testing.T) {
	for range 50 { // other processes of this machine take numbers too
		first, err := newCable(t.TempDir())
		require.NoError(t, err)
		was, err := filepath.EvalSymlinks(first.path)
		require.NoError(t, err)
		first.pull()
		second, err := newCable(t.TempDir())
		require.NoError(t, err)
		now, err := filepath.EvalSymlinks(second.path)
		require.NoError(t, err)
		leads, err := filepath.EvalSymlinks(first.path)
		require.ErrorIs(t, err, os.ErrNotExist, "the pulled cable leads to %s", leads)
		second.close()
		if was == now {
			return
		}
	}
	t.Fatal("no freed number was given again in 50 tries")
}

// withRegister runs one command of a register that behaves, over the cable.
func (k *kit) withRegister(o zvt.Options, f func(ctx context.Context, r *zvt.Register) (zvt.Result, error)) (zvt.Result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), need.Limit())
	defer cancel()
	o.T4 = answerIn()
	_ = k.line.master.SetReadDeadline(time.Time{})
	link := frame.New(&end{cable: k.line}, frame.Config{T2: 2 * time.Second})
	r, err := zvt.New(link, o)
	if err != nil {
		return zvt.Result{}, err
	}
	defer r.Close()
	return f(ctx, r)
}

// paySerial is rig.pay over the cable.
func (k *kit) paySerial(o zvt.PayOptions) zvt.Result {
	amount := k.amount()
	res, err := k.withRegister(zvt.Options{}, func(ctx context.Context, r *zvt.Register) (zvt.Result, error) {
		return r.Pay(ctx, amount, "EUR", o)
	})
	k.note(amount, res, err)
	if err != nil {
		k.bad("serial sale of %d: %v", amount, err)
	}
	return res
}
