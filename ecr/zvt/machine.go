package zvt

import (
	"slices"
	"time"

	"posagent/ecr"
	"posagent/ecr/zvt/apdu"
	"posagent/schemes/money"
)

// Config is what the terminal is, and how this line is set up.
type Config struct {
	Line         string // ecr.Request.Line
	TerminalID   string // its digits are sent, the last eight
	Currency     string // ISO 4217 alpha; "" = EUR
	MerchantName string
	Language     string // "de" or anything else for English
	Device       string // name of the box
	Version      string // of the software
	Serial       string // of the box
	Charset      apdu.Charset
	Password     string // six digits a register must show before anything else is done on a connection; "" = any
	Cable        bool   // the line is a cable: a registration with the password holds until the next one
}

// Machine is the terminal's side of one connection. It is not safe for concurrent use.
type Machine struct {
	cfg      Config
	currency money.Currency
	tid      []byte

	prof    profile
	shown   bool // the register has shown the password
	phase   phase
	d       dialogue
	gen     int
	orphans map[int]orphan

	queue   []outgoing
	pending *outgoing // sent, or being sent, and not answered
	owed    int       // answers that may still come to messages of ours that were given up
	unsent  []int     // of these, what has not been sent yet
	answers bool      // the register answers 04 FF
	leaving int       // messages the transport is not done with
	seq     int

	timers   [timers]int // number of the running timer, 0 = none
	timerSeq int

	aborting aborting
	ids      ids
	lastEOD  *ecr.Totals // told last; for a repeated 06 50

	actions []ecr.Action
}

// dialogue is one command of the register and what follows from it.
type dialogue struct {
	gen     int
	msg     apdu.Message
	id      int // message sequence id, -1 = none
	request request
	repeat  bool // 06 20
	silent  bool // 06 20 that wants no 04 0F
	noPrint bool
	again   bool // the message itself is a repetition
	acked   bool // 06 20 that was answered before it could begin
	follows bool // it is not begun before the desk knows that the sale before it is lost
	hurried bool // another command waits for the answer to 04 0F

	sale     string
	waits    bool // the register has acknowledged an intermediate status of it
	notify   bool // the register wanted 04 FF when it began; another connection's registration does not change that
	progress ecr.Progress
	held     *ecr.Outcome // came while an abort was asked for
	outcome  ecr.Outcome
	// The register has asked for another sale meanwhile: it does not know this one. Told by 04 0F
	// that this one is approved, it would acknowledge that without knowing what it is.
	forgotten bool
	told      ecr.Result // what the last 04 0F said
	retold    bool       // the second 04 0F, after an undo
	asked     int        // how often 84 9C was answered
	doubted   bool       // an answer may have been to an older message, so 04 0F was sent again

	totals *ecr.Totals
	prints []apdu.Message
	end    apdu.Message
}

// orphan is a sale whose dialogue was dropped; its outcome counts as lost.
type orphan struct {
	abort   bool // it must not go on: the register was never told that it began
	discard bool // another dialogue speaks for it
}

// aborting holds the 06 B0 that wait for the desk.
type aborting struct {
	gen int
	ids []int // of the unanswered commands
	ok  bool  // the sale of gen is already aborted
}

// purpose is what an APDU of ours is sent for.
type purpose uint8

const (
	forProgress purpose = iota
	forTelling
	forPrint
	forEnd
	forSide
)

type outgoing struct {
	msg  apdu.Message
	why  purpose
	seq  int
	id   int
	sent bool
	held *reply // to this message, or to an older one that was given up
}

// New makes a machine in the state of a register that has not sent anything; saved is what Save was
// given last.
func New(cfg Config, saved []byte) *Machine {
	cur, ok := money.Lookup(cfg.Currency)
	if !ok {
		cur, _ = money.Lookup("EUR")
	}
	prof := loadProfile(saved)
	return &Machine{cfg: cfg, currency: cur, tid: terminalDigits(cfg.TerminalID), prof: prof,
		shown: cfg.Password == "" || cfg.Cable && prof.Shown, orphans: map[int]orphan{}, ids: ids{last: -1, command: -1}}
}

// Holds reports whether a dialogue runs that keeps other connections of the line waiting. One whose
// completion is sent does not: a register that connects anew for every command may be there again
// before its last answer is.
func (m *Machine) Holds() bool {
	switch m.d.msg.Cmd {
	case apdu.Registration, apdu.StatusEnquiry, apdu.Reset:
		return false
	}
	return m.phase != idle && m.phase != ending && m.phase != waiting
}

// Waits reports whether a 06 20 waits for the dialogue of another connection to end: it wants
// Freed.
func (m *Machine) Waits() bool { return m.phase == waiting }

// Shown reports whether the register has shown the password, or need not.
func (m *Machine) Shown() bool { return m.shown }

// Sale is the running sale of the dialogue, "" if none.
func (m *Machine) Sale() string {
	if m.phase == running {
		return m.d.sale
	}
	return ""
}

// Settled reports whether nothing is under way, so that a machine without a connection can be
// thrown away.
func (m *Machine) Settled() bool { return m.phase == idle && len(m.orphans) == 0 }

// Step takes one event and returns what to do, in this order.
func (m *Machine) Step(ev ecr.Event) []ecr.Action {
	m.actions = nil
	switch ev := ev.(type) {
	case ecr.Received:
		m.received(ev)
	case ecr.Sent:
		m.sent(ev)
	case ecr.Begun:
		m.begun(ev)
	case ecr.Held:
		m.hold(ev)
	case ecr.NotBegun:
		m.refused(ev)
	case ecr.Progressed:
		m.progressed(ev)
	case ecr.Ended:
		m.ended(ev)
	case ecr.AbortDecided:
		m.aborted(ev)
	case ecr.Recorded:
		m.recorded(ev)
	case ecr.Totalled:
		m.totalled(ev)
	case ecr.Checked:
		m.checked(ev)
	case ecr.Saved:
		m.saved(ev)
	case ecr.Fired:
		m.fired(ev)
	case ecr.Gone:
		m.drop(false, true)
	case ecr.Freed:
		m.freed()
	case ecr.Undoing:
		m.undoing()
	case ecr.Learned:
		m.prof = loadProfile(ev.Profile)
	}
	return m.actions
}

// undoing tells a register that is not in a dialogue and wants intermediate status.
func (m *Machine) undoing() {
	if m.shown && m.phase == idle && m.pending == nil && m.prof.Config&cfgIntermediate != 0 {
		m.send(apdu.NewPrefixed(apdu.Intermediate, []byte{ifReversing}), forProgress)
	}
}

func (m *Machine) do(a ecr.Action) { m.actions = append(m.actions, a) }

func (m *Machine) received(ev ecr.Received) {
	if len(ev.Data) < 3 {
		return
	}
	msg, err := apdu.Decode(ev.Data)
	if msg.Cmd.IsReply() {
		m.answered(msg)
		return
	}
	if !m.shown && !m.shows(msg) {
		m.reply(-1, apdu.Refuse(0x37))
		return
	}
	id, fresh := m.ids.see(m.prof.Sequenced, msg, ev.Data)
	rules, known := table[msg.Cmd]
	switch {
	case err != nil, !known, fresh == contradicts:
		m.reply(id, apdu.Refuse(0x83))
		return
	case fresh == repeats && m.phase != idle && m.phase != ending:
		if m.ids.reply != nil {
			m.transmit(m.ids.reply)
		}
		return
	case fresh == restarts:
		m.prof.Epoch++
		m.do(ecr.Save{Profile: m.prof.encode()})
	}
	column := m.phase
	if ev.Elsewhere && (m.phase == idle || m.phase == ending) {
		column = elsewhere
	}
	m.follow(rules[column], msg, id, fresh == repeats, ev.OpenSale)
}

// follow carries out one field of the table.
func (m *Machine) follow(r rule, msg apdu.Message, id int, again bool, openSale string) {
	switch r {
	case take:
		m.drop(false, false)
		m.begin(msg, id, again)
	case restart:
		m.drop(false, true)
		m.begin(msg, id, again)
	case join:
		m.drop(true, false)
		m.begin(msg, id, again)
	case forgets:
		m.reply(id, apdu.Refuse(0xA0))
		m.d.forgotten, m.d.notify = true, false
		m.stop(TimerProgress)
	case unheard:
		m.forget(msg, id, again)
	case await:
		m.drop(false, false)
		m.await(msg, id, again)
	case busy:
		m.reply(id, apdu.Refuse(0xA0))
	case side:
		m.sideStatus(msg, id)
	case abort, abortSoon:
		m.abortSale(id)
	case abortOld:
		m.abortLost(id, openSale)
	case abortLate:
		if m.d.outcome.Result == ecr.Aborted {
			m.reply(id, apdu.OK())
		} else {
			m.reply(id, apdu.Refuse(0x83))
		}
	default:
		m.reply(id, apdu.Refuse(0x83))
	}
}

// drop ends the dialogue where it stands. joined: its sale is spoken for by another dialogue. gone:
// the register is no longer listening, so a sale it was never told about is aborted.
func (m *Machine) drop(joined, gone bool) {
	switch m.phase {
	case asking:
		if !m.d.follows {
			m.orphans[m.d.gen] = orphan{abort: gone && !m.d.repeat}
		}
	case running:
		if m.d.held == nil {
			m.orphans[m.d.gen] = orphan{discard: joined}
		} else if !joined {
			m.do(ecr.Deliver{Sale: m.d.sale, Delivery: ecr.Lost})
		}
	case telling, pausing:
		if m.d.sale != "" && !m.d.retold && !joined {
			m.do(ecr.Deliver{Sale: m.d.sale, Delivery: ecr.Lost})
		}
	}
	m.aborting = aborting{} // an answer now would be taken for the answer to the next command
	m.finish()
	if m.pending != nil {
		m.owed++
		if !m.pending.sent {
			m.unsent = append(m.unsent, m.pending.seq)
		}
	}
	m.queue, m.pending = nil, nil
	m.stop(TimerReply)
	if m.leaving > 0 { // also what was answered and not acknowledged: repeated, it would be taken for a message of the next dialogue
		m.do(ecr.Unsend{Through: m.seq})
	}
}

// finish makes the register master again.
func (m *Machine) finish() {
	m.phase = idle
	m.d = dialogue{}
	m.stop(TimerAnswer)
	m.stop(TimerProgress)
	m.stop(TimerAskAgain)
	m.stop(TimerFree)
}

// reply answers a command of the register.
func (m *Machine) reply(id int, msg apdu.Message) {
	data := encode(stamp(msg, id))
	if id >= 0 {
		m.ids.reply = data
	}
	m.transmit(data)
}

func (m *Machine) transmit(data []byte) int {
	m.seq++
	m.leaving++
	m.do(ecr.Send{Seq: m.seq, Data: data})
	return m.seq
}

// send queues a message of ours; one is on the way at a time.
func (m *Machine) send(msg apdu.Message, why purpose) {
	m.queue = append(m.queue, outgoing{msg: msg, why: why})
	m.next()
}

func (m *Machine) next() {
	if m.pending != nil || len(m.queue) == 0 {
		return
	}
	o := m.queue[0]
	m.queue = m.queue[1:]
	o.id = -1
	if _, has := idOf(o.msg); !has { // a registration's completion echoes the offered id itself
		o.id = m.ids.take(m.prof.Sequenced)
	}
	o.seq = m.transmit(encode(stamp(o.msg, o.id)))
	m.pending = &o
}

func (m *Machine) sent(ev ecr.Sent) {
	m.leaving = max(0, m.leaving-1)
	m.unsent = slices.DeleteFunc(m.unsent, func(seq int) bool { return seq == ev.Seq })
	switch {
	case m.pending == nil || m.pending.seq != ev.Seq:
	case ev.OK:
		m.pending.sent = true
		m.start(TimerReply, m.patience())
	default:
		m.settle(reply{lost: true})
	}
}

// reply is the register's answer to a message of ours.
type reply struct {
	lost bool
	code byte // 00 for 80 00 and 84 00
}

func (m *Machine) answered(msg apdu.Message) {
	if m.pending == nil {
		m.owed = max(0, m.owed-1)
		return
	}
	id, named := idOf(msg)
	named = named && m.pending.id >= 0
	if named && id != m.pending.id {
		return
	}
	r := reply{}
	if !msg.Cmd.IsOK() {
		r.code = msg.Cmd.Code()
	}
	if !named && m.owed > 0 && m.pending.why == forTelling {
		m.owed--
		m.pending.held = &r
		if m.pending.sent {
			m.start(TimerReply, m.patience())
		}
		return
	}
	m.settle(r)
}

// settle ends the wait for an answer and goes on.
func (m *Machine) settle(r reply) {
	o := m.pending
	m.pending = nil
	if r.lost {
		m.owed++
	} else if o.why == forProgress {
		m.answers = true
		if m.phase == running && !m.d.waits && r.code == 0 {
			m.d.waits = true
			m.do(ecr.Waits{Sale: m.d.sale})
		}
	}
	m.stop(TimerReply)
	switch o.why {
	case forTelling:
		m.toldWith(r)
	case forPrint:
		m.printed(r)
	case forEnd:
		m.finish()
	}
	m.next()
}

func (m *Machine) fired(ev ecr.Fired) {
	if ev.Timer >= timers || m.timers[ev.Timer] != ev.Seq || ev.Seq == 0 {
		return
	}
	m.timers[ev.Timer] = 0
	switch ev.Timer {
	case TimerReply:
		switch {
		case m.pending == nil:
		case m.pending.held != nil && m.answers && !m.d.doubted: // whose answer was it? The next one is to a 04 0F
			m.d.doubted = true
			m.pending, m.owed = nil, 0
			m.tell()
		case m.pending.held != nil: // it does not answer the others
			m.settle(*m.pending.held)
		default:
			m.settle(reply{lost: true})
		}
	case TimerAnswer:
		m.answerNow()
	case TimerProgress:
		m.intermediate()
	case TimerFree:
		m.refuseRepeat(resultBusy)
	case TimerAskAgain:
		if m.phase == pausing {
			m.tell()
		}
	}
}

// patience is how long the pending message may wait for its answer.
func (m *Machine) patience() time.Duration {
	switch {
	case m.pending.held != nil:
		return secondWithin
	case m.pending.why != forTelling, m.d.hurried:
		return t3
	case m.d.request.ackWithin > 0:
		return m.d.request.ackWithin
	}
	return tellWithin
}
