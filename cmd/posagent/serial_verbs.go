package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"posagent/ecr/zvt/frame"
)

// speeds are those that registers use, the commonest first.
func speeds() []int { return []int{9600, 115200, 19200, 38400, 57600, 4800, 2400} }

// probeTurn is how long a probe stays at a speed at which nothing is understood.
const probeTurn = 2 * time.Second

// probeView is what a probe found (posagent.serial.probe/1).
type probeView struct {
	Schema  string  `json:"schema"`
	Device  string  `json:"device"`
	Baud    int     `json:"baud"` // 0 = no message came
	Signals string  `json:"signals,omitempty"`
	Rates   []heard `json:"rates"`
}

func serialProbe(ctx context.Context, c *call) error {
	o := c.opts.(*serialOptions)
	l, err := serialLine(c)
	if err != nil {
		return err
	}
	list := speeds()
	if o.baud != 0 {
		list = []int{o.baud}
	}
	v := probeView{Schema: "posagent.serial.probe/1", Device: l.Path}
	for _, baud := range list {
		v.Rates = append(v.Rates, heard{Baud: baud})
	}
	if o.within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.within)
		defer cancel()
	}
	fmt.Fprintf(c.err, "listening on %s; start a sale or a registration at the register\n", l.Path)
	for i := 0; ctx.Err() == nil && v.Baud == 0; i = (i + 1) % len(list) {
		l.Baud = list[i]
		conn, err := openLine(ctx, c, l)
		if err != nil {
			return err
		}
		v.Signals = signals(conn)
		turn, cancel := context.WithTimeout(ctx, probeTurn)
		err = listen(turn, conn, &v.Rates[i], func(_ time.Time, e frame.Event) bool {
			if e.Kind == frame.GotBlock {
				v.Baud, v.Rates[i].First = l.Baud, meaning(e.Data)
			}
			return v.Baud == 0
		})
		cancel()
		if err := errors.Join(ended(turn, c, err), conn.Close()); err != nil {
			return err
		}
	}
	if c.json {
		if err := printJSON(c.out, v); err != nil {
			return err
		}
	} else {
		v.print(c)
	}
	if v.Baud == 0 {
		return exitWith(exitFailed, errors.New(""))
	}
	return nil
}

func (v probeView) print(c *call) {
	printHeard(c.out, v.Rates)
	if v.Signals != "" {
		fmt.Fprintln(c.out, v.Signals)
	}
	bytes := 0
	for _, r := range v.Rates {
		bytes += r.Bytes
		if r.First != "" {
			fmt.Fprintf(c.out, "a whole message at %d baud: %s\nset in [ecr]: baud = %d\n", v.Baud, r.First, v.Baud)
		}
	}
	switch {
	case v.Baud != 0:
	case bytes == 0:
		fmt.Fprintln(c.out, "nothing came: check that the cable is a crossed one (null modem), that the register uses this line, and that it was asked for something")
	default:
		fmt.Fprintln(c.out, "bytes came, and no message among them: the register speaks another protocol or another speed, or has parity or 7 data bits; it needs 8 data bits, no parity")
	}
}

// monitorLine is one thing that came (posagent.serial.monitor/1), one object a line.
type monitorLine struct {
	Schema string    `json:"schema"`
	At     time.Time `json:"at"`
	Text   string    `json:"text"`
}

func serialMonitor(ctx context.Context, c *call) error {
	o := c.opts.(*serialOptions)
	l, err := serialLine(c)
	if err != nil {
		return err
	}
	conn, err := openLine(ctx, c, l)
	if err != nil {
		return err
	}
	defer conn.Close()
	if o.within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.within)
		defer cancel()
	}
	fmt.Fprintf(c.err, "listening on %s at %d baud; Ctrl-C ends it\n", l.Path, l.Baud)
	h, lines := heard{Baud: l.Baud}, json.NewEncoder(c.out)
	err = listen(ctx, conn, &h, func(at time.Time, e frame.Event) bool {
		text := ""
		switch e.Kind {
		case frame.GotBlock:
			text = meaning(e.Data)
		case frame.GotBad:
			text = fmt.Sprintf("damaged: %v", e.Err)
		case frame.GotAck:
			text = "06 acknowledged"
		case frame.GotNak:
			text = "15 not acknowledged"
		}
		if c.json {
			return lines.Encode(monitorLine{"posagent.serial.monitor/1", at.UTC(), text}) == nil
		}
		fmt.Fprintf(c.out, "%s  %s\n", at.Format("15:04:05.000"), text)
		return true
	})
	if !c.json {
		printHeard(c.err, []heard{h})
	}
	return ended(ctx, c, err)
}

// loopView is what came back (posagent.serial.loopback/1).
type loopView struct {
	Schema string `json:"schema"`
	Device string `json:"device"`
	Baud   int    `json:"baud"`
	Sent   int    `json:"sent"`
	Back   int    `json:"back"`
	Wrong  int    `json:"wrong"` // bytes that came back as others
}

func serialLoopback(ctx context.Context, c *call) error {
	o := c.opts.(*serialOptions)
	l, err := serialLine(c)
	if err != nil {
		return err
	}
	if o.bytes < 1 || o.bytes > 1<<20 {
		return fail(exitUsage, "%s: --bytes is 1 to 1048576", c.path)
	}
	conn, err := openLine(ctx, c, l)
	if err != nil {
		return err
	}
	defer conn.Close()
	if o.within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.within)
		defer cancel()
	}
	v, err := loop(ctx, conn, o.bytes)
	v.Schema, v.Device, v.Baud = "posagent.serial.loopback/1", l.Path, l.Baud
	if err := ended(ctx, c, err); err != nil {
		return err
	}
	if c.json {
		if err := printJSON(c.out, v); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(c.out, "%s at %d baud: %d bytes sent, %d came back, %d of them wrong\n", v.Device, v.Baud, v.Sent, v.Back, v.Wrong)
		if v.Back == 0 {
			fmt.Fprintln(c.out, "nothing came back: join pins 2 and 3 of the plug (RXD and TXD)")
		}
	}
	if v.Back != v.Sent || v.Wrong > 0 {
		return exitWith(exitFailed, errors.New(""))
	}
	return nil
}

// loop sends bytes in small pieces, and reads each back before the next: the plug holds none.
func loop(ctx context.Context, conn interface {
	Read(p []byte) (int, error)
	Write(p []byte) (int, error)
	SetReadDeadline(t time.Time) error
}, total int) (v loopView, err error) {
	piece, buf := make([]byte, 64), make([]byte, 64)
	for v.Sent < total && ctx.Err() == nil {
		out := piece[:min(len(piece), total-v.Sent)]
		_, _ = rand.Read(out)
		n, err := conn.Write(out)
		v.Sent += n
		if err != nil {
			return v, err
		}
		back := 0
		for until := time.Now().Add(time.Second); back < n && time.Now().Before(until) && ctx.Err() == nil; {
			if err := conn.SetReadDeadline(until); err != nil {
				return v, err
			}
			m, err := conn.Read(buf[back:n])
			if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
				return v, err
			}
			back += m
		}
		v.Back += back
		for i := range back {
			if buf[i] != out[i] {
				v.Wrong++
			}
		}
		if back == 0 {
			return v, nil // nothing is joined
		}
	}
	return v, nil
}
