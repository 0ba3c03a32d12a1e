package badinput

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"posagent/cross/need"
	"posagent/ecr/till/zvt"
	"posagent/ecr/zvt/apdu"
	"posagent/schemes/money"
)

// talkRaw sends one message as it is and plays a register that says yes to everything, until the end of the dialogue.
func (k *kit) talkRaw(message []byte) (word string) {
	conn, err := net.Dial("tcp", k.tcp)
	if err != nil {
		k.bad("%v", err)
		return "no line"
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(answerIn()))
	_, _ = conn.Write(message)
	var pending []byte
	buf := make([]byte, 4096)
	said := map[apdu.Command]bool{}
	result := byte(0)
	for {
		one, rest, missing := apdu.Next(pending)
		if missing > 0 {
			n, err := conn.Read(buf)
			if err != nil {
				k.bad("% X: no end of the dialogue: %v", message, err)
				return "NO END"
			}
			pending = append(pending, buf[:n]...)
			continue
		}
		m, err := apdu.Decode(one)
		if err != nil {
			k.bad("the terminal said % X: %v", one, err)
			return "garbage"
		}
		pending = rest
		switch {
		case m.Cmd.IsReply() && !m.Cmd.IsOK():
			return fmt.Sprintf("refused %02X", m.Cmd.Code())
		case m.Cmd.IsReply():
			continue
		}
		_, _ = conn.Write([]byte{0x80, 0, 0})
		said[m.Cmd] = true
		if code, ok := m.Result(); ok && m.Cmd == apdu.StatusInfo {
			result = code
		}
		switch m.Cmd {
		case apdu.Completion:
			if said[apdu.StatusInfo] && result == 0 {
				return "approved"
			}
			return "completed"
		case apdu.AbortPT:
			code, _ := m.Result()
			return fmt.Sprintf("not approved %02X", code)
		}
	}
}

func authorisation(data string) []byte {
	b := bcd(data)
	return append([]byte{0x06, 0x01, byte(len(b))}, b...)
}

func tcpScenes(seedNo uint64) []scene {
	all := []scene{
		{name: "E tcp noise", play: func(k *kit) { tcpNoise(k, seedNo) }},
		{name: "E94 amounts", play: amounts},
		{name: "E95 sequence", play: sequences},
		{name: "E96 second payment", play: secondPayment},
	}
	for part := range 4 {
		all = append(all, scene{name: fmt.Sprintf("E96 aborts %d", part), rare: part > 0, play: func(k *kit) { aborts(k, part) }})
	}
	return all
}

func tcpNoise(k *kit, seedNo uint64) {
	rng := rand.New(rand.NewPCG(seedNo, 94))
	garbage := make([]byte, 1<<20)
	for i := range garbage {
		garbage[i] = byte(rng.UintN(256))
	}
	for _, a := range []struct {
		number, input string
		data          []byte
	}{
		{"E83", "1 MB of noise", garbage},
		{"E83", "an HTTP request", []byte("GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")},
		{"E83", "a TLS ClientHello", []byte("\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03" + strings.Repeat("r", 160))},
		{"E83", "an SSH banner", []byte("SSH-2.0-OpenSSH_9.9\r\n")},
		{"E83", "a JSON line", []byte(`{"id":"1","op":"pay","amount":1250,"currency":"EUR"}` + "\n")},
		{"E84", "a serial block with its frame", append(append([]byte{0x10, 0x02}, saleOf(100)...), 0x10, 0x03, 1, 2)},
		{"E87", "length field 65535", append([]byte{0x06, 0x01, 0xFF, 0xFF, 0xFF, 0x04}, bcd("000000000100")...)},
		{"E87", "length field above the data, half closed", append([]byte{0x06, 0x01, 0x20, 0x04}, bcd("000000000100")...)},
		{"E87", "length fields of a container above the message", []byte{0x06, 0x01, 0x0C, 0x04, 0, 0, 0, 0, 1, 0, 0x06, 0x7F, 0x1F, 0x1F}},
		{"E87", "containers nested 100 deep", nested(100)},
		{"E89", "ACK and NAK bytes", []byte{6, 6, 6, 0x15, 0x15, 6}},
		{"E89", "a reply nobody asked for, a hundred times", bytes.Repeat([]byte{0x80, 0, 0}, 100)},
		{"E89", "a refusal nobody asked for", []byte{0x84, 0x9C, 0}},
		{"E84", "a message only a terminal may send", []byte{0x04, 0x0F, 0x02, 0x27, 0x00}},
		{"E84", "an unknown command", []byte{0x0A, 0xBC, 0x00}},
	} {
		k.row(a.number, "tcp: "+a.input, func() string {
			before := k.be.count(onInitialize)
			back, closed := k.raw(quiet, a.data)
			if k.be.count(onInitialize) != before {
				k.bad("%s: became a sale", a.input)
			}
			word := show(back)
			if closed {
				word += ", closed"
			}
			return word + "; then " + k.quick()
		})
	}
	k.row("E85", "tcp: a message without its end (T3 5 s: frame.TestTCPIncompleteClosesTheLine in synctest)", func() string {
		limit := 500 * time.Millisecond
		if k.full {
			limit = 7 * time.Second
		}
		back, closed := k.raw(limit, saleOf(100)[:6])
		if len(back) > 0 || k.full && !closed {
			k.bad("half a message: %s, closed %t", show(back), closed)
		}
		return fmt.Sprintf("%s, closed %t; then %s", show(back), closed, k.quick())
	})
	k.row("E90", "tcp: an enquiry, one byte every 100 ms", func() string {
		conn, err := net.Dial("tcp", k.tcp)
		if err != nil {
			return err.Error()
		}
		defer conn.Close()
		for _, b := range enquiry {
			_, _ = conn.Write([]byte{b})
			wait(100 * time.Millisecond)
		}
		back, _ := read(conn, quiet)
		if !bytes.HasPrefix(back, []byte{0x80, 0, 0}) {
			k.bad("came back %s", show(back))
		}
		return show(back)
	})
	k.row("E91", "tcp: a refused sale over two reads at each offset", func() string {
		message := authorisation("04" + "000000000100" + "49" + "0756") // francs: never a sale
		for i := 1; i < len(message); i++ {
			back, _ := k.raw(need.Limit(), message[:i], message[i:])
			if !bytes.HasPrefix(back, []byte{0x80, 0, 0}) && !bytes.HasPrefix(back, []byte{0x84}) {
				k.bad("offset %d: %s", i, show(back))
			}
		}
		return fmt.Sprintf("%d offsets answered; then %s", len(message)-1, k.quick())
	})
	k.row("E91", "tcp: 300 enquiries in one write, nobody answers", func() string {
		back, _ := k.raw(quiet, bytes.Repeat(enquiry, 300))
		return show(back) + "; then " + k.quick()
	})
	k.row("E97", "tcp: 40 connections that say nothing", func() string {
		var open []net.Conn
		for range 40 {
			if c, err := net.Dial("tcp", k.tcp); err == nil {
				open = append(open, c)
			}
		}
		word := k.quick()
		for _, c := range open {
			c.Close()
		}
		return word
	})
	k.row("E97", "tcp: sale, then reset in the middle; asked again by 06 20", func() string {
		k.be.pays(200 * time.Millisecond)
		defer k.be.pays(20 * time.Millisecond)
		a := k.amount()
		k.mayBe(a)
		conn, err := net.Dial("tcp", k.tcp)
		if err != nil {
			return err.Error()
		}
		_, _ = conn.Write(saleOf(a))
		before := k.be.count(onStatus)
		until(need.Limit(), func() bool { return k.be.count(onStatus) > before })
		_ = conn.(*net.TCPConn).SetLinger(0)
		conn.Close()
		return k.recover(false)
	})
}

func nested(deep int) []byte {
	inner := []byte{}
	for range deep {
		if len(inner) < 0x80 {
			inner = append([]byte{0x25, byte(len(inner))}, inner...)
		} else {
			inner = append([]byte{0x25, 0x82, byte(len(inner) >> 8), byte(len(inner))}, inner...)
		}
	}
	data := append([]byte{0x04, 0, 0, 0, 0, 1, 0, 0x06, 0x82, byte(len(inner) >> 8), byte(len(inner))}, inner...)
	return append([]byte{0x06, 0x01, 0xFF, byte(len(data)), byte(len(data) >> 8)}, data...)
}

// busyAtMost is how long a line that was closed in the middle of a dialogue may keep another waiting: it ends at once where it is
// noticed, a second on an idle machine.
func busyAtMost() time.Duration { return need.Limit() / 60 }

// quick checks that a register that behaves is served.
func (k *kit) quick() string {
	if !k.full {
		ctx, r, end, ok := k.connect(answerIn(), zvt.Options{})
		if !ok {
			return "no line"
		}
		defer end()
		res, err := r.Status(ctx)
		if word := definite(res, err); word != "completed" {
			k.bad("status enquiry: %s", word)
			return word
		}
		return "answers an enquiry"
	}
	k.be.pays(10 * time.Millisecond)
	res := k.rig.pay(noOptions)
	for end := time.Now().Add(busyAtMost()); res.Code == zvt.CodeBusy && time.Now().Before(end); wait(20 * time.Millisecond) {
		res = k.rig.pay(noOptions) // the line that made the noise has a dialogue to end first
	}
	if !res.Approved {
		k.bad("the next sale: %s", definite(res, nil))
	}
	return "a sale: " + definite(res, nil)
}

// amounts are E94: what is no amount never reaches the backend; what is one is that amount there.
func amounts(k *kit) {
	for _, a := range []struct {
		input, data string
		sale        bool
	}{
		{"zero", "04000000000000", false},
		{"absent", "", false},
		{"eleven digits and a nibble A", "0400000000010A", false},
		{"nibbles F throughout", "04FFFFFFFFFFFF", false},
		{"nibble D, a minus sign in some registers", "04D00000000100", false},
		{"six spaces, which are good digits: 2020202020.20", "04202020202020", true},
		{"decimal comma in ASCII", "04312C30302020", false},
		{"'-1' in ASCII", "042D3120202020", false},
		{"five bytes only", "040000000100", false},
		{"thirteen digits", "0400000000010000", false},
		{"twice, 1.00 and 9.99", "0400000000010004000000000999", false},
		{"another currency", "04000000000100490840", false},
		{"currency with nibble A", "0400000000010049097A", false},
		{"currency 0000", "04000000000100490000", false},
		{"an unknown field", "04000000000100F700", false},
		{"the largest there is, 9999999999.99", "04999999999999", true},
		{"one cent", "04000000000001", true},
	} {
		k.row("E94", "tcp: amount "+a.input, func() string {
			before := k.be.count(onInitialize)
			word := k.talkRaw(authorisation(a.data))
			if sent := k.be.count(onInitialize) - before; (sent == 1) != a.sale || (word == "approved") != a.sale {
				k.bad("amount %s: %s, %d initializes", a.input, word, sent)
			}
			return word
		})
	}
}

// sequences are E95: one id is one sale.
func sequences(k *kit) {
	ctx, r, end, ok := k.connect(2*answerIn(), zvt.Options{Sequence: true})
	if !ok {
		return
	}
	defer end()
	if _, err := r.Register(ctx); err != nil {
		k.bad("%v", err)
	}
	first := k.amount()
	pay := func(id int, amount money.Minor) (string, int) {
		before := k.be.count(onInitialize)
		res, err := r.Pay(ctx, amount, "EUR", zvt.PayOptions{Sequence: id})
		k.note(amount, res, err)
		return definite(res, err), k.be.count(onInitialize) - before
	}
	k.row("E95", "tcp: id 7 three times: a sale, another amount, the sale again", func() string {
		a, n := pay(7, first)
		b, m := pay(7, k.amount())
		c, l := pay(7, first)
		if a != "approved" || n != 1 || b == "approved" || m != 0 || c != "approved" || l != 0 {
			k.bad("%s (%d), %s (%d), %s (%d)", a, n, b, m, c, l)
		}
		return fmt.Sprintf("%s; %s; %s, one initialize", a, b, c)
	})
	k.row("E95", "tcp: id 999999, then 000001", func() string {
		a, n := pay(999_999, k.amount())
		b, m := pay(1, k.amount())
		if a != "approved" || b != "approved" || n != 1 || m != 1 {
			k.bad("%s (%d), %s (%d)", a, n, b, m)
		}
		return a + "; " + b
	})
}

// aborts are E96: the register gives up at every moment of a sale.
func aborts(k *kit, part int) {
	moments := []int{0, 1, 2, 5, 15, 35, 55, 75, 120}
	if k.full {
		moments = nil
		for m := part; m < 160; m += 4 {
			moments = append(moments, m)
		}
		for m := 200 + 50*part; m <= 2000; m += 200 {
			moments = append(moments, m)
		}
	}
	k.row("E96", fmt.Sprintf("tcp: abort at %d moments from %d to %d ms", len(moments), moments[0], moments[len(moments)-1]), func() string {
		approved, aborted := 0, 0
		for _, m := range moments {
			k.be.pays(time.Duration(20+m*3/4) * time.Millisecond)
			if k.abortAt(time.Duration(m) * time.Millisecond) {
				approved++
			} else {
				aborted++
			}
		}
		if aborted == 0 {
			k.bad("no abort came in time")
		}
		return fmt.Sprintf("%d approved, %d aborted", approved, aborted)
	})
}

// abortAt pays and aborts after a while; the two answers must fit.
func (k *kit) abortAt(after time.Duration) (approved bool) {
	ctx, cancel := context.WithTimeout(context.Background(), answerIn())
	defer cancel()
	r, err := k.dial(ctx, zvt.Options{})
	if err != nil {
		k.bad("%v", err)
		return false
	}
	defer r.Close()
	amount := k.amount()
	paid := make(chan zvt.Result, 1)
	go func() {
		res, err := r.Pay(ctx, amount, "EUR", noOptions)
		k.note(amount, res, err)
		if word := definite(res, err); strings.ToLower(word[:2]) != word[:2] {
			k.bad("aborted after %v: %s", after, word)
		}
		paid <- res
	}()
	wait(after)
	stopped, err := r.Abort(ctx)
	res := <-paid
	if err == nil && !stopped.Refused && res.Approved && after < 20*time.Millisecond {
		return true // the abort may have come before the sale or after its end: an abort of nothing is answered 80 00
	}
	return res.Approved
}

// secondPayment is a register that asks for another sale while one runs.
func secondPayment(k *kit) {
	k.row("E96", "tcp: a second payment on a second connection while one waits for the wallet", func() string {
		k.be.pays(400 * time.Millisecond)
		first := make(chan zvt.Result, 1)
		before := k.be.count(onStatus)
		go func() { first <- k.rig.pay(noOptions) }()
		until(need.Limit(), func() bool { return k.be.count(onStatus) > before })
		second := k.rig.pay(noOptions)
		res := <-first
		if !second.Refused || second.Code != zvt.CodeBusy || !res.Approved {
			k.bad("first %s, second %s", definite(res, nil), definite(second, nil))
		}
		return fmt.Sprintf("first %s, second %s", definite(res, nil), definite(second, nil))
	})
}
