package frame

import (
	"time"
)

// EventKind is what the scanner found.
type EventKind uint8

// The kinds of event.
const (
	None     EventKind = iota
	GotAck             // 06 outside a block
	GotNak             // 15 outside a block
	GotBlock           // a whole, valid block: answer ACK
	GotBad             // a block was damaged: answer NAK
)

// Event is one finding of a Scanner. Data belongs to the receiver.
type Event struct {
	Kind EventKind
	Data []byte // GotBlock: the APDU
	Err  error  // GotBad: why
}

type scanState uint8

const (
	outside  scanState = iota
	outside1           // a 10 was seen outside a block
	inside
	inside1 // a 10 was seen inside a block
	crcLow
	crcHigh
	drain // the rest of a broken block is thrown away until 10 02 or silence
	drain1
)

// Scanner finds blocks and acknowledgements in a stream of bytes. It does no I/O and reads no clock: the caller
// tells it when each byte came and when it is quiet. The zero value is not usable; see NewScanner.
type Scanner struct {
	t1    time.Duration
	limit int

	state scanState
	data  []byte
	got   uint16
	last  time.Time
	cause error // why drain was entered
	told  bool  // drain: the damage was reported already

	Noise int // bytes skipped outside blocks so far
}

// NewScanner makes a scanner: t1 is the longest pause inside a block, limit the longest APDU in bytes.
func NewScanner(t1 time.Duration, limit int) *Scanner {
	return &Scanner{t1: t1, limit: limit}
}

// Busy reports whether a block is being received or drained, i.e. whether Idle has to be called when nothing comes.
func (s *Scanner) Busy() bool { return s.state >= inside }

// Deadline is when Idle will give the block up, if nothing comes until then. Only meaningful while Busy.
func (s *Scanner) Deadline() time.Time { return s.last.Add(s.t1) }

// Idle tells the scanner the time when nothing came.
func (s *Scanner) Idle(now time.Time) Event {
	if !s.Busy() || now.Sub(s.last) < s.t1 {
		return Event{}
	}
	cause, told := s.cause, s.told
	s.reset()
	if told {
		return Event{}
	}
	if cause == nil {
		cause = ErrPause
	}
	return Event{Kind: GotBad, Err: cause}
}

func (s *Scanner) reset() {
	s.state, s.data, s.got, s.cause, s.told = outside, nil, 0, nil, false
}

func (s *Scanner) begin() {
	s.reset()
	s.state = inside
}

func (s *Scanner) broken(err error) {
	s.reset()
	s.state, s.cause = drain, err
}

// Feed takes one byte that came at now. It does not judge the pause before it: only Idle, which is called when the
// line was looked at and found quiet, gives a block up, so that a stalled reader does not refuse a good block.
func (s *Scanner) Feed(b byte, now time.Time) Event {
	s.last = now
	switch s.state {
	case outside:
		switch b {
		case dle:
			s.state = outside1
		case ACK:
			return Event{Kind: GotAck}
		case NAK:
			return Event{Kind: GotNak}
		default:
			s.Noise++
		}
	case outside1:
		switch b {
		case stx:
			s.begin()
		case dle:
			s.Noise++
		default:
			s.Noise++
			s.state = outside
			return s.Feed(b, now)
		}
	case inside:
		if b == dle {
			s.state = inside1
			break
		}
		s.add(b)
	case inside1:
		switch b {
		case dle:
			s.state = inside
			s.add(dle)
		case etx:
			s.state = crcLow
		case stx: // the end of the old block was lost: this is the next one
			s.begin()
		default:
			s.broken(ErrStuffing)
		}
	case crcLow:
		s.got, s.state = uint16(b), crcHigh
	case crcHigh:
		data, got := s.data, s.got|uint16(b)<<8
		s.reset()
		if err := check(data, got); err != nil {
			// The two bytes may have been the start of the next block, and its text no acknowledgement.
			s.state, s.told = drain, true
			return Event{Kind: GotBad, Err: err}
		}
		return Event{Kind: GotBlock, Data: data}
	case drain:
		if b == dle {
			s.state = drain1
		}
	case drain1:
		switch b {
		case stx:
			s.begin()
		case dle:
		default:
			s.state = drain
		}
	}
	return Event{}
}

func (s *Scanner) add(b byte) {
	if len(s.data) >= s.limit {
		s.broken(ErrTooLong)
		return
	}
	s.data = append(s.data, b)
}
