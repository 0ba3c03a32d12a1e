package zvt

import (
	"fmt"
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
	Prints       bool   // the terminal has a printer for 06 D1 and 06 D3
	Contract     string // BMP 2A, at most 15 characters; "" or longer = not sent
	Manner       Manner // of the line's registers
	Cable        bool   // the line is a cable: a registration with the password holds until the next one
	Baud         int    // of the cable, for 08 40; 0 = not known
	// Series draws a random name for a new series of sequence ids; nil = they have a count alone,
	// which goes back with the journal: for a simulation.
	Series func() string
}

// Machine is the terminal's side of one connection. It is not safe for concurrent use.
type Machine struct {
	cfg      Config
	currency money.Currency
	tid      []byte

	said    profile // the registration, as it is stored
	before  before  // the one that counts again where said cannot be stored
	prof    profile // what counts of it
	shown   bool    // the register has shown the password
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

	paper    []ecr.PrintLine // lines for the terminal's printer that are not stored yet
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
	silent  bool // 06 20 that wants no 04 0F: of what was told before
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

	copies *copies // 06 12
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

// reply is the register's answer to a message of ours.
type reply struct {
	lost bool
	code byte // 00 for 80 00 and 84 00
}

// New makes a machine in the state of a register that has not sent anything; saved is what Save was
// given last.
func New(cfg Config, saved []byte) *Machine {
	cur, ok := money.Lookup(cfg.Currency)
	if !ok {
		cur, _ = money.Lookup("EUR")
	}
	if cfg.Series == nil {
		cfg.Series = func() string { return "" }
	}
	prof := loadProfile(saved)
	return &Machine{cfg: cfg, currency: cur, tid: terminalDigits(cfg.TerminalID), said: prof, prof: cfg.Manner.of(prof),
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
	return m.phase != idle && m.phase != ending && m.phase != waiting && m.phase != prompting
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

func (m *Machine) do(a ecr.Action) { m.actions = append(m.actions, a) }

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
			m.do(ecr.Deliver{Sale: m.d.sale, Delivery: m.d.held.Telling(ecr.Lost)})
		}
	case prompting:
		m.do(ecr.EndNotice{})
	case telling, pausing:
		if m.d.sale != "" && !m.d.retold && !joined {
			m.do(ecr.Deliver{Sale: m.d.sale, Delivery: m.d.outcome.Telling(ecr.Lost)})
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

func (m *Machine) start(t ecr.Timer, after time.Duration) {
	m.timerSeq++
	m.timers[t] = m.timerSeq
	m.do(ecr.StartTimer{Timer: t, Seq: m.timerSeq, After: after})
}

func (m *Machine) stop(t ecr.Timer) {
	if m.timers[t] == 0 {
		return
	}
	m.timers[t] = 0
	m.do(ecr.StopTimer{Timer: t})
}

// sequence is the request id handed to the desk.
func (m *Machine) sequence(id int) string {
	if id < 0 {
		return ""
	}
	if m.prof.Series == "" {
		return fmt.Sprintf("zvt-%d-%06d", m.prof.Epoch, id)
	}
	return fmt.Sprintf("zvt-%s-%06d", m.prof.Series, id)
}

// request is what a financial command says besides what the desk needs to know.
type request struct {
	tlv       bool          // a container may be sent: the registration or this command had one
	currency  bool          // BMP 49 may be sent
	wantsCard bool          // TLV 41 may be sent
	ackWithin time.Duration // BMP 01, 0 = not said
	askAgain  int           // BMP 02: how often to ask again, less one
	receipts  *byte         // TLV 1F04
}

// terminalDigits is BMP 29.
func terminalDigits(id string) []byte {
	var n int64
	for _, r := range id {
		if r >= '0' && r <= '9' {
			n = (n*10 + int64(r-'0')) % 100_000_000
		}
	}
	b, err := apdu.PackBCD(n, 4)
	if err != nil {
		return make([]byte, 4)
	}
	return b
}
