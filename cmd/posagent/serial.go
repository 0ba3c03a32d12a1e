package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"posagent/agent/config"
	"posagent/cmd/usage"
	"posagent/device/line"
	"posagent/ecr/zvt/apdu"
	"posagent/ecr/zvt/frame"
)

type serialOptions struct {
	baud, stopBits int
	within         time.Duration
	bytes          int
}

func serialCommand() command {
	options := func(within time.Duration) func(fs *flag.FlagSet) any {
		return func(fs *flag.FlagSet) any {
			o := &serialOptions{}
			fs.IntVar(&o.baud, "baud", 0, "speed in `bits` a second (default: [ecr] baud)")
			fs.IntVar(&o.stopBits, "stop-bits", 0, "1 or 2 (default: [ecr] stop_bits)")
			usage.SpanVar(fs, &o.within, "within", within, "how long it listens; 0 = until it is interrupted")
			return o
		}
	}
	const stopped = "The line belongs to one program: stop the terminal first. DEVICE is a tty or usb:VID:PID; without it, [ecr] serial. "
	return command{
		name: "serial", short: "the register's serial line without the terminal: its speed, what comes on it, the cable",
		examples: []string{"posagent serial probe /dev/ttyUSB0", "posagent serial monitor", "posagent serial loopback /dev/ttyUSB0"},
		sub: []command{
			{
				name: "probe", args: "[DEVICE]", short: "listen at each speed until a whole message of the register comes, and say which speed it was",
				long: stopped + "It sends nothing: start a sale or a registration at the register, which repeats what nobody acknowledges.\n" +
					"Exit 0: a message came; 1: none did.",
				json:     []string{"posagent.serial.probe/1"},
				examples: []string{"posagent serial probe /dev/ttyUSB0", "posagent serial probe --within 2m --json"},
				flags:    options(30 * time.Second), run: serialProbe,
			},
			{
				name: "monitor", args: "[DEVICE]", short: "show what comes on the line, message by message; it sends nothing",
				long:     stopped + "Of a message it shows the header, the length and what it means. Card numbers are masked.",
				json:     []string{"posagent.serial.monitor/1"},
				examples: []string{"posagent serial monitor /dev/ttyUSB0 --baud 115200", "posagent serial monitor --within 10s --json"},
				flags:    options(0), run: serialMonitor,
			},
			{
				name: "loopback", args: "[DEVICE]", short: "send bytes over a plug that joins RXD and TXD, and count what comes back",
				long:     stopped + "Never with a register at the other end: it would take the bytes for a message.\nExit 0: every byte came back; 1: some did not.",
				json:     []string{"posagent.serial.loopback/1"},
				examples: []string{"posagent serial loopback /dev/ttyUSB0 --baud 115200"},
				flags: func(fs *flag.FlagSet) any {
					o := options(30 * time.Second)(fs).(*serialOptions)
					fs.IntVar(&o.bytes, "bytes", 4096, "how many `bytes` it sends")
					return o
				},
				run: serialLoopback,
			},
		},
	}
}

// serialLine is the line that a verb is about, and says why it cannot be opened.
func serialLine(c *call) (line.Config, error) {
	o := c.opts.(*serialOptions)
	cfg, err := loadConfig(c)
	if err != nil {
		return line.Config{}, err
	}
	l := line.Config{Path: cfg.ECR.Serial, Baud: cfg.ECR.Baud, StopBits: cfg.ECR.StopBits}
	if len(c.args) > 1 {
		return l, fail(exitUsage, "%s: one DEVICE", c.path)
	}
	if len(c.args) == 1 {
		l.Path = c.args[0]
	}
	if l.Path == "" {
		return l, fail(exitUsage, "%s: which line? name a DEVICE (ls /dev/serial/by-id), or set [ecr] serial", c.path)
	}
	if o.baud != 0 {
		l.Baud = o.baud
	}
	if o.stopBits != 0 {
		l.StopBits = o.stopBits
	}
	if l.StopBits != 1 && l.StopBits != 2 {
		return l, fail(exitUsage, "%s: --stop-bits is 1 or 2", c.path)
	}
	device, err := l.Look()
	switch {
	case errors.Is(err, line.ErrInUse):
		return l, fail(exitRefused, "%s: another program has %s: stop it (the terminal: systemctl stop posagent; another: fuser -v %s)", c.path, l.Path, device)
	case errors.Is(err, os.ErrNotExist):
		return l, fail(exitFailed, "%s: there is no %s: plug it in, or name another (ls /dev/serial/by-id)", c.path, l.Path)
	case errors.Is(err, os.ErrPermission):
		return l, fail(exitFailed, "%s: this user may not open %s: add it to the group of the device (ls -l %s)", c.path, l.Path, device)
	case err != nil:
		return l, fail(exitFailed, "%s: %v", c.path, err)
	}
	return l, nil
}

// openLine opens a line within a few seconds.
func openLine(ctx context.Context, c *call, l line.Config) (line.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	conn, err := line.New(l).Open(ctx)
	if err != nil {
		return nil, fail(exitFailed, "%s: %v", c.path, err)
	}
	return conn, nil
}

// heard counts what came on a line at one speed.
type heard struct {
	Baud     int    `json:"baud"`
	Bytes    int    `json:"bytes"`
	Messages int    `json:"messages"`
	Damaged  int    `json:"damaged"`
	Acks     int    `json:"acks"` // single bytes that acknowledge
	Naks     int    `json:"naks"`
	Noise    int    `json:"noise"` // bytes outside any message
	First    string `json:"first,omitempty"`
}

// maxMessage is the longest message of a serial line in bytes, as the terminal itself takes it.
const maxMessage = 4096

// listen reads until the context ends, or each returns false.
func listen(ctx context.Context, conn line.Conn, h *heard, each func(time.Time, frame.Event) bool) error {
	scan := frame.NewScanner(config.Default().ECR.T1, maxMessage)
	defer func() { h.Noise += scan.Noise }()
	buf := make([]byte, 512)
	for ctx.Err() == nil {
		if err := conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
			return err
		}
		n, err := conn.Read(buf)
		now := time.Now()
		h.Bytes += n
		events := []frame.Event{scan.Idle(now)}
		for _, b := range buf[:n] {
			events = append(events, scan.Feed(b, now))
		}
		for _, e := range events {
			switch e.Kind {
			case frame.GotBlock:
				h.Messages++
			case frame.GotBad:
				h.Damaged++
			case frame.GotAck:
				h.Acks++
			case frame.GotNak:
				h.Naks++
			default:
				continue
			}
			if !each(now, e) {
				return nil
			}
		}
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
	}
	return nil
}

// meaning is a message in one line, card numbers masked: its header, its length, what it says.
func meaning(data []byte) string {
	head := fmt.Sprintf("% X", data[:min(len(data), 2)])
	m, err := apdu.Decode(data)
	if err != nil {
		return fmt.Sprintf("%s, %d bytes, not understood", head, len(data))
	}
	return fmt.Sprintf("%s, %d bytes, %s", head, len(data), oneLine(apdu.Describe(m, apdu.CP437)))
}

// signals says whether the other end raises a line of the plug, "" where the device cannot tell.
func signals(conn line.Conn) string {
	c, ok := conn.(interface{ Carrier() (up, ok bool) })
	if !ok {
		return ""
	}
	up, known := c.Carrier()
	switch {
	case !known:
		return ""
	case up:
		return "the other end raises CTS, DSR or DCD"
	}
	return "no CTS, DSR or DCD from the other end: a cable of three wires, or nothing plugged in"
}

// printHeard writes a row per speed.
func printHeard(w io.Writer, list []heard) {
	fmt.Fprintf(w, "%8s %8s %8s %8s %8s %8s\n", "BAUD", "BYTES", "MESSAGES", "DAMAGED", "ACK/NAK", "NOISE")
	for _, h := range list {
		fmt.Fprintf(w, "%8d %8d %8d %8d %8s %8d\n", h.Baud, h.Bytes, h.Messages, h.Damaged, fmt.Sprintf("%d/%d", h.Acks, h.Naks), h.Noise)
	}
}

// ended turns the end of listening into the verb's error: an interruption is how a person ends it.
func ended(ctx context.Context, c *call, err error) error {
	if err == nil || ctx.Err() != nil {
		return nil
	}
	return fail(exitFailed, "%s: %s", c.path, strings.TrimPrefix(err.Error(), "read "))
}
