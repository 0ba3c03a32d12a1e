package badinput

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"posagent/cross/need"
	"posagent/ecr/till/zvt"
	"posagent/ecr/zvt/frame"
	"posagent/schemes/money"
)

// enquiry is a command without consequences that any state answers.
var enquiry = []byte{0x05, 0x01, 0x00}

// bcd is an amount as its six bytes, and sale a 06 01 with it.
func bcd(hexText string) []byte {
	b, err := hex.DecodeString(hexText)
	if err != nil {
		panic(err)
	}
	return b
}

func saleOf(amount money.Minor) []byte {
	return append([]byte{0x06, 0x01, 0x07, 0x04}, bcd(fmt.Sprintf("%012d", amount))...)
}

// serial makes the options of a terminal with a cable; t1 is 60 ms, so that pauses need no minutes.
func (k *kit) serial() options {
	var err error
	if k.line, err = newCable(k.t.TempDir()); err != nil {
		k.bad("%v", err)
		return options{}
	}
	return options{serial: k.line.path, ecr: `t1 = "60ms"`}
}

const quiet = 120 * time.Millisecond

// show is a short text for what came back on a line.
func show(b []byte) string {
	switch {
	case len(b) == 0:
		return "silence"
	case len(b) > 10:
		return fmt.Sprintf("% X … (%d bytes)", b[:10], len(b))
	}
	return fmt.Sprintf("% X", b)
}

// noise plays raw bytes on the cable. No sale may come of it, and an enquiry is answered right after.
func (k *kit) noise(number, input string, want func(back []byte) bool, data ...byte) {
	k.row(number, "serial: "+input, func() string {
		before := k.be.count(onInitialize)
		first := quiet
		if !want(nil) { // an answer is due
			first = need.Limit()
		}
		back := k.line.say(first, data...)
		if !want(back) {
			k.bad("%s: came back %s", input, show(back))
		}
		if k.be.count(onInitialize) != before {
			k.bad("%s: became a sale", input)
		}
		if len(back) > 0 && !either(back) { // a dialogue has begun: let it end
			_, _ = k.line.master.Write([]byte{6})
			back = append(back, k.line.follow(400*time.Millisecond, 6)...)
		}
		return show(back) + "; then " + k.alert()
	})
}

// alert checks that the line answers an enquiry.
func (k *kit) alert() string {
	res, err := k.withRegister(zvt.Options{}, func(ctx context.Context, r *zvt.Register) (zvt.Result, error) {
		return r.Status(ctx)
	})
	if word := definite(res, err); word != "completed" {
		k.bad("status enquiry: %s", word)
		return word
	}
	return "answers an enquiry"
}

func nakOnly(b []byte) bool { return len(b) > 0 && strings.Trim(string(b), "\x15") == "" }
func silent(b []byte) bool  { return len(b) == 0 }
func either(b []byte) bool  { return strings.Trim(string(b), "\x15") == "" }

const noiseParts = 4

// serialNoise is everything below the level of a message.
func serialNoise(seedNo uint64, part int) scene {
	return scene{name: fmt.Sprintf("E serial noise %d", part), make: (*kit).serial, play: func(k *kit) {
		k.recoverLine()
		turn := 0
		noise := func(number, input string, want func([]byte) bool, data ...byte) {
			if turn++; turn%noiseParts == part {
				k.noise(number, input, want, data...)
			}
		}
		rng := rand.New(rand.NewPCG(seedNo, 83))
		good := frame.EncodeBlock(enquiry)
		sale := frame.EncodeBlock(saleOf(100))
		garbage := func(n int) []byte {
			b := make([]byte, n)
			for i := range b {
				if b[i] = byte(rng.UintN(256)); b[i] == 0x10 {
					b[i] = 0x11
				}
			}
			return b
		}
		acked := func(b []byte) bool { return len(b) > 0 && strings.Contains(string(b), "\x06") }
		noise("E83", "512 noise bytes before STX", acked, append(garbage(512), good...)...)
		noise("E83", "64 KB of noise, no block", either, garbage(64<<10)...)
		noise("E84", "STX STX ... ETX", nakOnly, append([]byte{0x10, 0x02, 0x10, 0x02}, bcd("0601070400000000010010030000")...)...)
		noise("E85", "a block without its ETX (T1 60 ms; 60 s of it: frame.TestPulledAtEachByte in synctest)", nakOnly, sale[:len(sale)-4]...)
		bad := append([]byte{}, sale...)
		bad[len(bad)-1] ^= 1
		noise("E86", "wrong checksum", nakOnly, bad...)
		swapped := append([]byte{}, frame.EncodeBlock(saleOf(100))...)
		copy(swapped[6:], frame.EncodeBlock(saleOf(10))[6:12])
		noise("E86", "right checksum of 100 on an amount of 010", nakOnly, swapped...)
		noise("E88", "ETX inside data without a second DLE", nakOnly, append([]byte{0x10, 0x02, 0x06, 0x01, 0x07, 0x04, 0x10, 0x03}, garbage(8)...)...)
		noise("E88", "DLE and another byte inside a block", nakOnly, append([]byte{0x10, 0x02, 0x06, 0x01, 0x10, 0x55}, sale[6:]...)...)
		noise("E88", "DLE at the very end", nakOnly, append(append([]byte{}, sale[:len(sale)-4]...), 0x10)...)
		noise("E89", "NAK a hundred times", silent, []byte(strings.Repeat("\x15", 100))...)
		noise("E89", "ACK without a block, twenty times", silent, []byte(strings.Repeat("\x06", 20))...)
		noise("E92", "BREAK: zero bytes", silent, make([]byte, 300)...)
		for _, speed := range []string{"half", "twice"} {
			noise("E92", "a sale at "+speed+" the speed: what the wire then delivers", either, smear(sale, speed == "half")...)
		}
		parity := append([]byte{}, sale...)
		for i := range parity {
			ones := 0
			for b := parity[i]; b != 0; b &= b - 1 {
				ones++
			}
			parity[i] = parity[i]&0x7F | byte(ones%2)<<7
		}
		noise("E92", "a sale at 7E1", either, parity...)
		noise("E93", "XOFF and XON in front of nothing", silent, 0x13, 0x13, 0x11)
		for _, l := range []struct {
			input string
			data  []byte
		}{
			{"length field above the block", append([]byte{0x06, 0x01, 0x20, 0x04}, bcd("000000000100")...)},
			{"length field zero with data behind it", append([]byte{0x06, 0x01, 0x00, 0x04}, bcd("000000000100")...)},
			{"length field 65535", append([]byte{0x06, 0x01, 0xFF, 0xFF, 0xFF, 0x04}, bcd("000000000100")...)},
			{"one byte", []byte{0x06}},
			{"no byte at all", nil},
		} {
			noise("E87", l.input+", right checksum", func(b []byte) bool { return len(b) > 0 }, frame.EncodeBlock(l.data)...)
		}
		if part != 0 {
			return
		}
		k.row("E90", "serial: an enquiry, one byte every 40 ms at T1 60 ms, then with one pause", func() string {
			for _, b := range good {
				_, _ = k.line.master.Write([]byte{b})
				wait(40 * time.Millisecond)
			}
			whole := k.line.follow(need.Limit(), 6)
			cut := k.paused(good)
			return show(whole) + "; paused: " + show(cut) + "; then " + k.alert()
		})
		k.row("E91", "serial: an enquiry over two reads at each offset, and twice in one", func() string {
			for i := 1; i < len(good); i++ {
				if back := k.halves(good[:i], good[i:]); !acked(back) || !strings.Contains(string(back), "\x06\x0F") {
					k.bad("offset %d: %s", i, show(back))
				}
			}
			_, _ = k.line.master.Write(append(append([]byte{}, good...), frame.EncodeBlock(enquiry)...))
			back := k.line.follow(time.Second, 6)
			back = append(back, k.line.follow(300*time.Millisecond, 6)...)
			return show(back) + "; then " + k.alert()
		})
	}}
}

// paused sends a block with a pause in it, which has to be refused. On a busy machine the terminal may read behind the pause: then
// the pause grows.
func (k *kit) paused(block []byte) (back []byte) {
	for _, pause := range []time.Duration{200 * time.Millisecond, time.Second, 5 * time.Second} {
		back = append(k.line.say(pause, block[:5]...), k.line.say(quiet, block[5:]...)...)
		if nakOnly(back) {
			return back
		}
		k.recoverLine()
	}
	k.bad("a block with a pause came back as %s", show(back))
	return back
}

// halves sends a block in two writes until it is taken. On a busy machine more than T1 may pass between them: then the block is
// refused, and sent again as a register does.
func (k *kit) halves(a, b []byte) (back []byte) {
	for range 5 {
		_, _ = k.line.master.Write(a)
		wait(5 * time.Millisecond)
		_, _ = k.line.master.Write(b)
		if back = k.line.follow(need.Limit(), 6); !strings.Contains(string(back), "\x15") {
			break
		}
	}
	return back
}

// smear turns a block into what a receiver at the wrong speed makes of its bits, roughly: each byte doubled or halved.
func smear(block []byte, half bool) (out []byte) {
	for i, b := range block {
		if !half {
			if i%2 == 0 {
				out = append(out, b&0x0F|b<<4)
			}
			continue
		}
		var wide uint16
		for bit := range 8 {
			if b>>bit&1 == 1 {
				wide |= 3 << (2 * bit)
			}
		}
		out = append(out, byte(wide), byte(wide>>8)|0x80)
	}
	return out
}

// serialSale is what a register may do in the middle of a sale on a cable.
func serialSale() scene {
	return scene{name: "E serial sale", make: (*kit).serial, play: func(k *kit) {
		k.recoverLine()
		block := func() ([]byte, money.Minor) { a := k.amount(); return frame.EncodeBlock(saleOf(a)), a }
		k.row("E89", "serial: every block acknowledged twice", func() string {
			b, a := block()
			_, _ = k.line.master.Write(b)
			said := k.line.follow(need.Limit(), 6, 6)
			k.mayBe(a)
			return show(said) + "; then " + k.recover(true)
		})
		k.row("E86", "serial: a sale's block sent twice without waiting", func() string {
			b, a := block()
			before := k.be.count(onInitialize)
			_, _ = k.line.master.Write(append(append([]byte{}, b...), b...))
			said := k.line.follow(need.Limit(), 6)
			k.mayBe(a)
			if n := k.be.count(onInitialize) - before; n != 1 {
				k.bad("%d initializes of one sale", n)
			}
			return show(said) + "; then " + k.recover(true)
		})
	}}
}

// serialRude is a register that stops answering in the middle of a sale.
func serialRude() scene {
	return scene{name: "E serial rude", rare: true, make: (*kit).serial, play: func(k *kit) {
		k.recoverLine()
		block := func() ([]byte, money.Minor) { a := k.amount(); return frame.EncodeBlock(saleOf(a)), a }
		k.row("E89", "serial: NAK to every block of a sale, then silence", func() string {
			b, a := block()
			_, _ = k.line.master.Write(b)
			naks := 0
			for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
				if strings.Contains(string(k.line.hear(60*time.Millisecond)), "\x10\x02") {
					_, _ = k.line.master.Write([]byte{0x15})
					naks++
				}
			}
			k.mayBe(a)
			return fmt.Sprintf("%d blocks; then %s", naks, k.recover(true))
		})
		k.row("E93", "serial: XOFF in a sale, then silence (T2 5 s; no flow control on this line)", func() string {
			b, a := block()
			back := k.line.say(quiet, b...)
			_, _ = k.line.master.Write([]byte{0x13})
			k.mayBe(a)
			wait(time.Second)
			return show(back) + "; then " + k.recover(true)
		})
	}}
}

// mayBe says that the register of a sale does not know its end.
func (k *kit) mayBe(a money.Minor) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lost[a] = true
}

// recover asks for the last answer again until it is definite, as a register does.
func (k *kit) recover(serial bool) string {
	word := ""
	for end := time.Now().Add(answerIn()); time.Now().Before(end) && k.alive(); wait(100 * time.Millisecond) {
		ask := func(ctx context.Context, r *zvt.Register) (zvt.Result, error) {
			return r.Repeat(ctx, zvt.RepeatStatus)
		}
		var res zvt.Result
		var err error
		if serial {
			res, err = k.withRegister(zvt.Options{}, ask)
		} else {
			ctx, cancel := context.WithTimeout(context.Background(), answerIn())
			var r *zvt.Register
			if r, err = k.dial(ctx, zvt.Options{}); err == nil {
				res, err = ask(ctx, r)
				r.Close()
			}
			cancel()
		}
		word = definite(res, err)
		if err == nil && !(res.Refused && (res.Code == zvt.CodeBusy || res.Code == zvt.CodeWait)) && !strings.HasPrefix(word, "UNCLEAR") {
			return "06 20: " + word
		}
	}
	k.bad("no definite answer to 06 20: %s", word)
	return word
}

// serialRemoved is a converter pulled out and put in again.
func serialRemoved() scene {
	return scene{name: "E97 device removed", make: (*kit).serial, play: func(k *kit) {
		k.recoverLine()
		k.row("E97", "serial: device removed in the middle of a sale, comes back under another number", func() string {
			k.be.pays(400 * time.Millisecond)
			a := k.amount()
			k.mayBe(a)
			_, _ = k.line.master.Write(frame.EncodeBlock(saleOf(a)))
			until(need.Limit(), func() bool { return k.be.count(onStatus) > 0 })
			k.line.pull()
			wait(100 * time.Millisecond)
			if err := k.line.plug(); err != nil {
				k.bad("%v", err)
			}
			return k.recover(true)
		})
	}}
}

// serialDevice is what may stand where the device was.
func serialDevice() scene {
	return scene{name: "E97 device replaced", rare: true, make: (*kit).serial, play: func(k *kit) {
		k.recoverLine()
		for _, what := range []string{"/dev/zero", "regular file", "FIFO", "a loop of links"} {
			k.row("E97", "serial: device replaced by "+what, func() string {
				k.line.pull()
				other := what
				path := filepath.Join(k.dir, strings.ReplaceAll(what, " ", "-"))
				switch what {
				case "regular file":
					_ = os.WriteFile(path, []byte("precious"), 0o600)
					other = path
				case "FIFO":
					_ = unix.Mkfifo(path, 0o600)
					other = path
				case "a loop of links":
					_ = os.Symlink(path, path)
					other = path
				}
				if err := k.line.lead(other); err != nil {
					k.bad("%v", err)
				}
				wait(300 * time.Millisecond)
				k.rss()
				if res := k.rig.pay(noOptions); !res.Approved {
					k.bad("the TCP line suffers: %s", definite(res, nil))
				}
				if what == "regular file" { // reading the FIFO would wait for ever
					if data, err := os.ReadFile(path); err != nil || string(data) != "precious" {
						k.bad("the file was written to: %q", data)
					}
				}
				if err := k.line.plug(); err != nil {
					k.bad("%v", err)
				}
				return "TCP goes on; back: " + k.recoverLine()
			})
		}
	}}
}

// recoverLine waits until the serial line answers again.
func (k *kit) recoverLine() string {
	began := time.Now()
	for end := need.Deadline(); time.Now().Before(end); {
		_, _ = k.line.master.Write(frame.EncodeBlock(enquiry))
		if len(k.line.follow(300*time.Millisecond, 6)) > 0 {
			k.line.follow(300*time.Millisecond, 6)
			return fmt.Sprintf("%s after %.1f s", k.alert(), time.Since(began).Seconds())
		}
	}
	k.bad("the serial line does not come back")
	return "silence"
}

// follow plays a register that says yes to everything, each block acknowledged with ack, until a dialogue has ended, the
// terminal has refused the block, or the limit is over.
func (c *cable) follow(limit time.Duration, ack ...byte) (said []byte) {
	for end := time.Now().Add(limit); time.Now().Before(end); {
		back := c.hear(60 * time.Millisecond)
		said = append(said, back...)
		for rest := string(back); ; {
			_, after, there := strings.Cut(rest, "\x10\x02")
			if !there {
				break
			}
			rest = after
			_, _ = c.master.Write(ack)
			if !strings.HasPrefix(after, "\x80") && !strings.HasPrefix(after, "\x84") {
				_, _ = c.master.Write(frame.EncodeBlock([]byte{0x80, 0, 0}))
			}
		}
		if strings.Contains(string(said), "\x10\x02\x06\x0F") || strings.Contains(string(said), "\x10\x02\x06\x1E") {
			return append(said, c.hear(60*time.Millisecond)...)
		}
		if nakOnly(said) {
			return said
		}
	}
	return said
}

// raw opens a connection to the register port, writes, and gives back what comes until it is quiet or closed.
func (k *kit) raw(within time.Duration, parts ...[]byte) (back []byte, closed bool) {
	conn, err := net.Dial("tcp", k.tcp)
	if err != nil {
		k.bad("%v", err)
		return nil, true
	}
	defer conn.Close()
	for i, p := range parts {
		if i > 0 {
			wait(3 * time.Millisecond)
		}
		_, _ = conn.Write(p)
	}
	return read(conn, within)
}

func read(conn net.Conn, within time.Duration) (back []byte, closed bool) {
	buf := make([]byte, 64<<10)
	for {
		_ = conn.SetReadDeadline(time.Now().Add(within))
		n, err := conn.Read(buf)
		back = append(back, buf[:n]...)
		if err != nil {
			return back, !errors.Is(err, os.ErrDeadlineExceeded)
		}
		if len(back) > 8<<20 {
			return back, false
		}
		within = min(within, quiet) // it has begun to speak
	}
}

func lineScenes(seedNo uint64) []scene {
	all := []scene{serialSale(), serialRude(), serialRemoved(), serialDevice()}
	for part := range noiseParts {
		all = append(all, serialNoise(seedNo, part))
	}
	return append(all, tcpScenes(seedNo)...)
}
