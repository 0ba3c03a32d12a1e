package printer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// readSlice is how long a read waits before it looks whether its caller has gone.
const readSlice = 200 * time.Millisecond

// What came unasked counts as read after quiet without a byte, the answers to marks that were sent together after pause. A device that
// never ends is read for ten times as long.
const (
	quiet = 20 * time.Millisecond
	pause = 250 * time.Millisecond
)

// patience is how often a printer that works through a document is asked whether it still can.
const patience = time.Second

// Answers that a printer is taken to owe when a program begins, and at most when a device is opened again.
const (
	owedAtFirst = 7
	owedAtMost  = 64
)

// dialogue is what is said over one opening of a device.
type dialogue struct {
	conn   Conn
	status Status
	wait   time.Duration // for an answer, and for a write where the device can be told

	buf  [64]byte
	have []byte
	now  condition // as told last
	owed int       // marks that are not answered, at most: some may be of an earlier dialogue, and never be

	tried int // documents after which a printer that may tell was asked
}

// write sends bytes whole, or fails with ErrStuck or errLost.
func (d *dialogue) write(ctx context.Context, b []byte) error {
	if w, ok := d.conn.(interface{ SetWriteDeadline(time.Time) error }); ok {
		until := time.Now().Add(d.wait)
		if end, ok := ctx.Deadline(); ok && end.Before(until) {
			until = end
		}
		_ = w.SetWriteDeadline(until) // a device without deadlines is left when Print ends
	}
	_, err := d.conn.Write(b)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ErrStuck
	}
	return fmt.Errorf("%w: %w", errLost, err)
}

// next returns the next byte, or errSilent when none has come until then, errLost, or the context's error.
func (d *dialogue) next(ctx context.Context, until time.Time) (byte, error) {
	for len(d.have) == 0 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		left := time.Until(until)
		if left <= 0 {
			return 0, errSilent
		}
		if err := d.conn.SetReadDeadline(time.Now().Add(min(left, readSlice))); err != nil {
			return 0, fmt.Errorf("%w: %w", errLost, err)
		}
		n, err := d.conn.Read(d.buf[:])
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return 0, fmt.Errorf("%w: %w", errLost, err)
		}
		d.have = d.buf[:n]
	}
	b := d.have[0]
	d.have = d.have[1:]
	return b, nil
}

// hear takes the next answer in. It returns what it is, with its byte; it fails as next does.
func (d *dialogue) hear(ctx context.Context, until time.Time) (answer, byte, error) {
	b, err := d.next(ctx, until)
	if err != nil {
		return noise, 0, err
	}
	kind := kindOf(b)
	switch kind {
	case inOrder:
		d.owed = max(0, d.owed-1)
		d.now.nearEnd, d.now.paperOut = b&0x03 != 0, b&0x0c != 0
	case block:
		all := [4]byte{b}
		for i := 1; i < len(all); i++ {
			if all[i], err = d.next(ctx, until); err != nil {
				return noise, 0, err
			}
		}
		d.now = blockOf(all)
		if d.status&InOrder == 0 {
			d.owed = 0
		}
	}
	return kind, b, nil
}

// drain takes in what came unasked, until nothing has come for a while. It fails with errLost, or the context's error.
func (d *dialogue) drain(ctx context.Context, quiet time.Duration) error {
	for end := time.Now().Add(10 * quiet); time.Now().Before(end); {
		switch _, _, err := d.hear(ctx, time.Now().Add(quiet)); {
		case errors.Is(err, errSilent):
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

// ask returns the answer to DLE EOT n. Errors: errSilent, ErrStuck, errLost, the context's.
func (d *dialogue) ask(ctx context.Context, n byte) (byte, error) {
	if err := d.write(ctx, []byte{dle, eot, n}); err != nil {
		return 0, err
	}
	for until := time.Now().Add(d.wait); ; {
		if kind, b, err := d.hear(ctx, until); err != nil || kind == realTime {
			return b, err
		}
	}
}

// check asks at once how the printer is, where it can say. Errors: ErrPaperOut, ErrOffline, and those of ask.
func (d *dialogue) check(ctx context.Context) error {
	if d.status&RealTime == 0 {
		return d.now.trouble()
	}
	d.now = condition{}
	for _, n := range []byte{1, 4, 2, 3} {
		if n == 2 && d.now.trouble() == nil {
			return nil // the cause is of interest where there is one
		}
		b, err := d.ask(ctx, n)
		if err != nil {
			return err
		}
		questions[n](&d.now, b)
	}
	return d.now.trouble()
}

// mark asks the printer to say when it has worked through all that was sent before: so many times, where it counts the answers. It does
// nothing where a printer cannot say. Errors: ErrStuck, errLost.
func (d *dialogue) mark(ctx context.Context, times int) error {
	switch {
	case d.status&InOrder != 0:
		d.owed += times
		return d.write(ctx, bytes.Repeat([]byte{gs, 'r', 1}, times))
	case d.status&AutoBack != 0:
		d.owed = 1
		return d.write(ctx, []byte{gs, 'a', 0x0e}) // online, error, paper
	}
	return nil
}

// await waits until no more than so many marks are unanswered, and checks where there are no marks. It waits as long as the printer
// says at once that it can print; once, or without such answers, for one answer's time. Errors: as check.
func (d *dialogue) await(ctx context.Context, owed int, once bool) error {
	if d.status&(InOrder|AutoBack) == 0 {
		return d.check(ctx)
	}
	for until := time.Now().Add(d.wait); d.owed > owed; {
		look := until
		if d.status&RealTime != 0 {
			look = time.Now().Add(patience)
		}
		kind, _, err := d.hear(ctx, look)
		switch {
		case kind == inOrder || kind == block:
			err = d.now.trouble()
		case errors.Is(err, errSilent) && d.status&RealTime == 0:
			err = cmp.Or(d.now.trouble(), err) // it may have told before
		case errors.Is(err, errSilent) && (!once || time.Now().Before(until)):
			err = d.check(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reach waits until the printer has worked through what was sent before, although it may owe answers to earlier marks, which look the
// same: of one mark more than it owes, one is answered when it is reached, and the others right after. Errors: as check.
func (d *dialogue) reach(ctx context.Context) error {
	before := 0
	if d.status&InOrder != 0 {
		before = d.owed
	}
	if err := d.mark(ctx, before+1); err != nil {
		return err
	}
	if err := d.await(ctx, before, true); err != nil || before == 0 {
		return err
	}
	err := d.drain(ctx, pause)
	d.owed = 0
	return err
}

// tells says whether the printer tells that it has worked through what was sent.
func (d *dialogue) tells() bool { return d.status&(InOrder|AutoBack) != 0 }

// Questions of a printer whether it tells.
const (
	trials    = 3  // documents after which one that never answered is not asked again over this opening
	owedTrial = 16 // answers that such a one is taken to owe at most: each question is three bytes
)

// settled waits for as long as the printer needs to work through what was sent, and says whether it has told that it did: one that may
// tell is asked, and tells from then on. Errors: as write, and the context's.
func (d *dialogue) settled(ctx context.Context, wait time.Duration) (told bool, err error) {
	until, before := time.Now().Add(wait), d.owed
	asks := d.status&TryInOrder != 0 && d.tried < trials
	if asks {
		d.tried++
		d.owed += before + 1
		if err := d.write(ctx, bytes.Repeat([]byte{gs, 'r', 1}, before+1)); err != nil {
			return false, err
		}
	}
	for {
		switch _, _, err := d.hear(ctx, until); {
		case errors.Is(err, errSilent):
			d.owed = min(before+1, owedTrial)
			return false, nil
		case err != nil:
			return false, err
		case asks && d.owed <= before:
			err := d.drain(ctx, pause)
			d.owed, d.status = 0, d.status|InOrder
			return err == nil, err
		}
	}
}
