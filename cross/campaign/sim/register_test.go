package sim

import (
	"fmt"
	"slices"
	"time"

	"posagent/ecr"
	"posagent/ecr/zvt/apdu"
	"posagent/schemes/money"
)

// link is one connection between a register and the terminal. It keeps the order of what it carries.
type link struct {
	w        *world
	d        *dialog
	reg      *register
	closed   bool
	up, down time.Duration // when the last message arrived
}

func (k *link) delay() time.Duration {
	w := k.w
	d := w.exp(8*time.Millisecond, 300*time.Millisecond)
	if w.hit(w.odds.slow) {
		k.reg.blame("slow line")
		d += w.between(0, 8*time.Second)
		k.reg.trouble = max(k.reg.trouble, w.now+d)
	}
	return d
}

// toRegister carries a message of the terminal; done says what the link knows of it.
func (k *link) toRegister(data []byte, done func(ok bool)) {
	w, t := k.w, k.d.t
	if n := approvalIn(data); n != 0 {
		k.d.telling = n
	}
	at := max(k.down, w.now+k.delay())
	arrives := func() {
		k.down = at
		w.after(at-w.now, func() { w.note(k.reg.name, "< "+name(data), 0); k.reg.received(k, data) })
	}
	answer := func(after time.Duration, ok bool) { t.after(after, func() { done(ok) }) }
	switch {
	case k.closed || k.reg.off || k.reg.deaf && k.reg.cur == nil:
		k.reg.blame("line")
		wait := w.between(0, 10*time.Second)
		k.reg.trouble = max(k.reg.trouble, w.now+wait)
		answer(wait, false)
	case w.hit(w.odds.line) && k.d.l.tcp:
		k.reg.blame("line")
		w.note("line", "breaks under "+name(data), 0)
		k.cut(0)
		answer(w.between(0, time.Second), w.rng.IntN(2) == 0)
	case w.hit(w.odds.line):
		k.reg.blame("line")
		w.note("line", "loses "+name(data), 0)
		wait := w.between(3*time.Second, 15*time.Second)
		k.reg.trouble = max(k.reg.trouble, w.now+wait)
		answer(wait, false)
	case w.hit(w.odds.line / 2): // it arrived, and nobody knows
		k.reg.blame("line")
		k.d.telling = 0 // an answer may be taken for one to an older message
		arrives()
		wait := at - w.now + w.between(3*time.Second, 15*time.Second)
		k.reg.trouble = max(k.reg.trouble, w.now+wait)
		answer(wait, false)
	default:
		arrives()
		answer(at-w.now, true)
	}
}

// toTerminal carries a message of the register; n is the receipt whose approval it acknowledges, else 0.
func (k *link) toTerminal(data []byte, n int) {
	w := k.w
	at := max(k.up, w.now+k.delay())
	switch {
	case k.closed:
		k.reg.blame("line")
		return
	case w.hit(w.odds.line):
		k.reg.blame("line")
		w.note("line", "loses "+name(data)+" of the register", 0)
		if k.d.l.tcp {
			k.cut(w.between(0, time.Minute))
		}
		return
	}
	k.up = at
	w.after(at-w.now, func() {
		d := k.d
		if !d.t.up || d.dead || d.lost {
			k.reg.blame("terminal away")
			return
		}
		switch int(data[0])<<8 | int(data[1]) {
		case int(apdu.RepeatReceipt), int(apdu.Registration), int(apdu.LogOff):
			d.telling = 0 // it starts again or asks anew
		}
		clean := k.reg.cur != nil && k.reg.cur.blamed == "" // else an answer may be taken for one to an older message
		waits := n != 0 && d.telling == n
		w.note("term", "< "+name(data), 0)
		d.step(ecr.Received{Data: data})
		if waits && d.telling == n { // it may wait for a second one
			w.after(3*time.Second, func() {
				if d.telling == n && !d.dead && clean {
					k.reg.beliefs[n].ignored = true
				}
			})
		}
	})
}

// cut breaks a connection; the terminal may notice later.
func (k *link) cut(later time.Duration) {
	if k.closed {
		return
	}
	k.closed = true
	k.reg.blame("line")
	d := k.d
	k.w.after(later, func() {
		if d.t.up && !d.dead {
			d.step(ecr.Gone{})
		}
	})
}

// names are the messages as people write them; they are in every line of the trace.
var names = func() map[uint16]string {
	m := map[uint16]string{}
	for c := range 1 << 16 {
		switch c >> 8 {
		case 0x04, 0x05, 0x06, 0x80, 0x84:
			m[uint16(c)] = fmt.Sprintf("%02X %02X", c>>8, c&0xFF)
		}
	}
	return m
}()

func name(data []byte) string { return names[uint16(data[0])<<8|uint16(data[1])] }

// approvalIn is the receipt number of a 04 0F that says approved, else 0.
func approvalIn(data []byte) int {
	m, err := apdu.Decode(data)
	if err != nil || m.Cmd != apdu.StatusInfo {
		return 0
	}
	if res, ok := m.Result(); !ok || res != 0 {
		return 0
	}
	n, _ := m.Receipt()
	return n
}

// ask is one command of a register and what came of it.
type ask struct {
	n       int
	cmd     apdu.Command
	back    string // of a refund or reversal: how it names the payment
	amount  int64
	at      time.Duration
	blamed  string // something went wrong meanwhile
	replied bool
	tells   int
	ends    int
	good    bool // the last 04 0F said approved
	abortOK bool // 06 B0 was answered 80 00
	over    bool
}

// belief is what a register knows of a receipt.
type belief struct {
	approved bool
	amount   money.Minor
	acks     int
	ignored  bool // one of them came, and was not recorded
}

// register is the other side: it asks, takes or does not take the answers, gets lost and asks again.
type register struct {
	w       *world
	name    string
	line    *line
	link    *link
	tcp     bool
	config  byte
	names   bool // it sends 1F1F
	repeats bool // it knows 06 20
	deaf    bool // it takes nothing outside of a dialogue
	anew    bool // a connection for every command
	gap     time.Duration

	off       bool
	cur       *ask
	asked     int
	wait      *event
	next      *event
	aborting  bool
	busyUntil time.Duration
	tries     int
	known     int           // last receipt it knows
	fresh     int           // receipt of the sale asked for last
	sold      []int         // receipts of its payments
	open      *apdu.Message // a refund or reversal whose end it does not know
	beliefs   map[int]*belief
	trouble   time.Duration // until then the line is busy with what went wrong
	lost      bool          // the last dialogue did not end
	quit      bool
}

func (r *register) blame(why string) {
	if r.cur != nil && r.cur.blamed == "" {
		r.cur.blamed = why
	}
}

// rest waits and does the next thing.
func (r *register) rest(d time.Duration, do func()) {
	r.next.stop()
	r.next = r.w.after(d, do)
}

// act is the next thing of a register that has nothing to do.
func (r *register) act() {
	w := r.w
	if r.quit || r.cur != nil || r.off {
		return
	}
	switch x := w.rng.Float64(); {
	case w.calm:
		return
	case x < 0.02:
		r.restart()
	case x < 0.05 && r.repeats:
		r.repeat()
	case x < 0.06:
		r.command(apdu.NewPrefixed(apdu.EndOfDay, []byte{0, 0, 0}))
	case x < 0.07:
		r.command(apdu.New(apdu.StatusEnquiry))
	case w.returns && len(r.sold) > 0 && w.rng.IntN(4) == 0:
		r.giveBack()
	default:
		r.pay()
	}
}

// giveBack asks for a refund or a reversal of one of its payments, or for the one again whose end it does not know.
func (r *register) giveBack() {
	w := r.w
	r.fresh = 0
	if again := r.open; again != nil && w.rng.IntN(3) > 0 {
		r.command(*again)
		return
	}
	n := r.sold[len(r.sold)-1-w.rng.IntN(min(len(r.sold), 6))]
	b := r.beliefs[n]
	m := apdu.NewPrefixed(apdu.Reversal, []byte{0, 0, 0}, apdu.Receipt(n))
	if w.rng.IntN(3) > 0 {
		amount := b.amount
		if w.rng.IntN(2) == 0 {
			amount = max(1, amount*money.Minor(1+w.rng.IntN(9))/10)
		}
		m = apdu.NewPrefixed(apdu.RefundCmd, []byte{0, 0, 0}, apdu.Amount(int64(amount)), apdu.Container(apdu.PrimitiveText(0x1F0D, apdu.ASCII, fmt.Sprint("R", n))))
	}
	r.open = &m
	r.command(m)
}

// isBack says that a command gives money back.
func isBack(c apdu.Command) bool { return c == apdu.RefundCmd || c == apdu.Reversal }

func (r *register) restart() {
	m := apdu.NewPrefixed(apdu.Registration, []byte{0, 0, 0, r.config, 0x09, 0x78})
	r.command(m)
}

func (r *register) repeat() {
	r.command(apdu.NewPrefixed(apdu.RepeatReceipt, []byte{0, 0, 0}, apdu.Bytes(0x03, 0x01)))
}

func (r *register) pay() {
	w := r.w
	m := apdu.New(apdu.Authorisation, apdu.Amount(1000+w.rng.Int64N(9000)))
	if w.person && w.rng.IntN(4) == 0 { // the amount is typed at the terminal
		m.Fields = nil
	}
	if w.rng.IntN(4) == 0 {
		m.Fields = append([]apdu.Field{apdu.Bytes(0x01, byte(5+w.rng.IntN(30))), apdu.Bytes(0x02, byte(w.rng.IntN(4)))}, m.Fields...)
	}
	if r.names && w.rng.IntN(5) > 0 {
		m.Fields = append(m.Fields, apdu.Container(apdu.PrimitiveBCD(0x1F1F, int64(r.known), 2)))
	}
	r.fresh = 0
	r.command(m)
}

// command sends one and waits for its answer.
func (r *register) command(m apdu.Message) {
	w := r.w
	data, err := apdu.Encode(m)
	if err != nil {
		w.fail("the register cannot say %s: %v", name(data), err)
		return
	}
	if r.tcp && (r.link == nil || r.link.closed || r.anew && w.rng.IntN(2) == 0) {
		if r.link != nil {
			r.link.cut(w.exp(time.Second, time.Minute))
		}
		r.link = r.line.connect()
	}
	r.asked++
	if m.Cmd == apdu.Authorisation {
		w.stats.Asked++
	}
	amount, _, _ := m.Amount()
	r.cur = &ask{n: r.asked, cmd: m.Cmd, amount: amount, at: w.now}
	if isBack(m.Cmd) {
		n, _ := m.Receipt()
		if v, ok := m.FindTLV(0x1F0D); ok {
			_, _ = fmt.Sscanf(string(v.Value), "R%d", &n)
		}
		r.cur.back = fmt.Sprint("R", n)
	}
	if r.lost || r.trouble > w.now || r.busyUntil > w.now { // what it still thinks about comes first
		r.cur.blamed = "before"
	}
	r.lost, r.aborting = false, false
	w.note(r.name, "asks "+name(data), 0)
	r.expect(w.between(5*time.Second, 7*time.Second))
	if r.link == nil {
		r.blame("no line")
		return
	}
	r.link.toTerminal(data, 0)
}

// expect sets the time the register waits.
func (r *register) expect(d time.Duration) {
	r.wait.stop()
	a := r.cur
	r.wait = r.w.after(d, func() { r.gaveUp(a) })
}

// gaveUp is the end of the register's patience.
func (r *register) gaveUp(a *ask) {
	w := r.w
	if r.cur != a || a == nil {
		return
	}
	w.note(r.name, "gives up", 0)
	if a.blamed == "" && w.diskAt < a.at {
		w.fail("%s: command %d (%04X) got no end, and nothing had gone wrong", r.name, a.n, uint16(a.cmd))
	}
	r.cur, r.lost = nil, true
	r.wait.stop()
	r.recover()
}

// recover is what a register does about a dialogue that did not end.
func (r *register) recover() {
	w := r.w
	r.tries++
	switch x := w.rng.Float64(); {
	case r.quit:
	case w.calm && r.repeats && r.tries < 12, r.repeats && x < 0.6 && r.tries < 6:
		r.rest(w.exp(5*time.Second, time.Minute), func() { r.once(r.repeat) })
	case w.calm:
	case x < 0.75:
		r.rest(w.exp(20*time.Second, 2*time.Minute), func() { r.once(r.pay) })
	case x < 0.85:
		r.rest(w.exp(5*time.Second, time.Minute), func() { r.once(r.restart) })
	default:
		r.rest(w.exp(5*time.Minute, time.Hour), r.act)
	}
}

func (r *register) once(do func()) {
	if r.cur == nil && !r.off && !r.quit {
		do()
	}
}

// received takes a message in the order of the line; a slow register takes its time.
func (r *register) received(k *link, data []byte) {
	w := r.w
	if r.off || k != r.link {
		r.blame("late")
		return
	}
	m, err := apdu.Decode(data)
	if err != nil {
		w.fail("the terminal sent % x: %v", data, err)
		return
	}
	think := w.exp(20*time.Millisecond, time.Second)
	if !m.Cmd.IsReply() && w.hit(w.odds.mute) {
		r.blame("slow register")
		think = w.exp(4*time.Second, 40*time.Second)
	}
	r.busyUntil = max(r.busyUntil, w.now) + think
	w.after(r.busyUntil-w.now, func() {
		if r.off || k != r.link {
			return
		}
		if m.Cmd.IsReply() {
			r.reply(m)
			return
		}
		r.message(k, m)
	})
}

// reply is an answer to a command.
func (r *register) reply(m apdu.Message) {
	w, a := r.w, r.cur
	switch {
	case a == nil:
	case r.aborting:
		r.aborting = false
		w.note(r.name, fmt.Sprintf("abort is answered %04X", uint16(m.Cmd)), 0)
		if m.Cmd.IsOK() {
			a.abortOK = a.blamed == ""
		}
	case a.replied:
	case m.Cmd.IsOK():
		a.replied = true
		r.expect(90 * time.Second) // real libraries give up then
		if (a.cmd == apdu.Authorisation || isBack(a.cmd)) && w.hit(0.12) {
			r.abortLater(a)
		}
	default:
		w.note(r.name, fmt.Sprintf("is refused %04X", uint16(m.Cmd)), 0)
		r.end(a)
	}
}

func (r *register) abortLater(a *ask) {
	w := r.w
	w.after(w.exp(8*time.Second, 3*time.Minute), func() {
		if r.cur != a || r.off || r.link == nil || r.aborting {
			return
		}
		w.note(r.name, "asks 06 B0", 0)
		r.aborting = true
		data, _ := apdu.Encode(apdu.New(apdu.AbortECR))
		r.link.toTerminal(data, 0)
	})
}

// end closes a dialogue.
func (r *register) end(a *ask) {
	w := r.w
	a.over = true
	r.cur, r.tries = nil, 0
	r.wait.stop()
	if a.blamed == "" && a.replied && (a.cmd == apdu.Authorisation || isBack(a.cmd)) {
		if a.tells == 0 || a.ends != 1 {
			w.fail("%s: command %d was told %d times and ended %d times", r.name, a.n, a.tells, a.ends)
		}
	}
	r.rest(w.exp(r.gap, 10*r.gap), r.act)
}

// message is something the terminal says.
func (r *register) message(k *link, m apdu.Message) {
	w, a := r.w, r.cur
	answer, ack := apdu.OK(), 0
	switch m.Cmd {
	case apdu.StatusInfo:
		if a != nil && a.cmd == apdu.EndOfDay || m.Has(0x60) {
			break
		}
		code, _ := m.Result()
		w.note(r.name, fmt.Sprintf("is told %02X", code), 0)
		switch {
		case code == 0x9C || code == 0xFF && a != nil:
			late := w.returns && (a == nil || a.blamed != "") // of a refund that it gave up
			switch {
			case a != nil && isBack(a.cmd):
				a.tells++
				a.good = false
			case !late && (a == nil || a.cmd != apdu.RepeatReceipt && a.cmd != apdu.EndOfDay):
				w.fail("%s was told %02X for a payment", r.name, code)
			}
		case code == 0 && w.hit(w.odds.refuse):
			r.blame("refuses")
			answer = apdu.Refuse([]byte{0x9C, 0x9C, 0x66}[w.rng.IntN(3)])
		case code == 0 && w.hit(w.odds.mute/2): // it dies over it
			r.blame("dies")
			r.die(a, w.exp(time.Minute, 20*time.Minute))
			return
		case code == 0:
			n, _ := m.Receipt()
			ack = n
			amount, _, _ := m.Amount()
			r.took(a, n, money.Minor(amount))
			if w.hit(w.odds.mute / 2) { // it has it, and says nothing
				r.blame("mute")
				return
			}
		case code == 0x77 && (a == nil || a.cmd == apdu.EndOfDay): // no end of day: it says nothing of a sale, also where the register gave up
			if a != nil {
				a.tells++
				a.good = false
			}
		default:
			r.told(a, code)
		}
	case apdu.Completion, apdu.AbortPT:
		if a != nil && a.replied {
			a.ends++
			if (a.cmd == apdu.Authorisation || isBack(a.cmd)) && a.blamed == "" && a.good != (m.Cmd == apdu.Completion) {
				w.fail("%s: command %d ended %04X", r.name, a.n, uint16(m.Cmd))
			}
			defer func() {
				if r.cur == a {
					r.end(a)
				}
			}()
		}
	}
	if m.Cmd != apdu.Completion && m.Cmd != apdu.AbortPT && r.cur != nil && r.cur.replied {
		r.expect(90 * time.Second) // real libraries give up then
	}
	if w.hit(w.odds.mute / 2) {
		r.blame("mute")
		return
	}
	data, err := apdu.Encode(answer)
	if err != nil {
		w.fail("the register cannot answer: %v", err)
	}
	if answer.Cmd.IsOK() && ack != 0 {
		r.beliefs[ack].acks++
	}
	k.toTerminal(data, ack)
}

// took books an approval.
func (r *register) took(a *ask, n int, amount money.Minor) {
	if a != nil {
		a.tells++
		a.good = true
		if a.abortOK {
			r.w.fail("%s: command %d was approved after its abort was accepted", r.name, a.n)
		}
		if a.cmd == apdu.Authorisation || a.cmd == apdu.RepeatReceipt && n != r.known {
			r.fresh = n
		}
	}
	b := r.beliefs[n]
	if b == nil {
		b = &belief{}
		r.beliefs[n] = b
	}
	if a != nil && a.cmd == apdu.Authorisation && !b.approved && amount > 0 {
		r.sold = append(r.sold, n)
	}
	if a != nil && isBack(a.cmd) {
		r.open = nil
	}
	if !b.approved {
		r.w.note(r.name, fmt.Sprintf("books receipt %d", n), 0)
	}
	b.approved, b.amount = true, amount
	r.known = n
}

// told books a no; it takes back the approval of the same sale.
func (r *register) told(a *ask, code byte) {
	if a != nil {
		a.tells++
		a.good = false
		if code != 0xA0 { // not ready, which says nothing of what was asked for before
			r.no(a)
		}
	}
	if b := r.beliefs[r.fresh]; b != nil && b.approved {
		r.w.note(r.name, fmt.Sprintf("takes receipt %d back", r.fresh), 0)
		b.approved = false
	}
}

// no books that nothing was given back, where what was told is surely the answer to what was asked.
func (r *register) no(a *ask) {
	if a.blamed != "" || !isBack(a.cmd) && a.cmd != apdu.RepeatReceipt {
		return
	}
	for _, x := range slices.Backward(r.w.term.j.rows) {
		switch {
		case x.line != r.line.name:
			continue
		case a.cmd == apdu.RefundCmd && (x.kind != ecr.Refund || x.asked != a.back || int64(x.amount) != a.amount):
			continue
		case a.cmd == apdu.Reversal && (x.kind != ecr.Reversal || x.asked != a.back):
			continue
		case x.kind == ecr.Payment:
			return
		}
		r.w.noWhileItRuns(x, r.name, "no")
		x.no = x.no || x.since >= a.at || a.cmd == apdu.RepeatReceipt
		break
	}
	if isBack(a.cmd) {
		r.open = nil
	}
}

// die switches the register off for a while; what it has booked it keeps.
func (r *register) die(a *ask, pause time.Duration) {
	w := r.w
	w.note(r.name, "is switched off", 0)
	r.blame("off")
	r.off, r.cur, r.lost = true, nil, true
	r.wait.stop()
	r.next.stop()
	if r.link != nil && r.tcp {
		r.link.cut(w.exp(time.Second, time.Minute))
	}
	w.after(pause, func() {
		r.off = false
		r.busyUntil = w.now
		if w.rng.IntN(2) == 0 {
			r.rest(time.Second, func() { r.once(r.restart) })
			return
		}
		r.recover()
	})
}
