package nexo

import (
	"encoding/json"
	"net/url"
	"slices"
	"time"
)

// entry is a money request as it was accepted. Its short names are those of the stored form.
type entry struct {
	Sale     string `json:"i"` // of the desk
	SaleID   string `json:"s"`
	Service  string `json:"v"`
	Category string `json:"c"`
	Order    string `json:"o"` // SaleTransactionID.TransactionID
	Stamp    string `json:"t"` // SaleTransactionID.TimeStamp
	Refund   bool   `json:"r,omitempty"`
	AtMS     int64  `json:"a"`
	Aborted  bool   `json:"x,omitempty"` // the till asked for it
}

// key says whether two requests have one SaleID and ServiceID.
func (e *entry) key(o *entry) bool { return e.SaleID == o.SaleID && e.Service == o.Service }

// same says whether two requests are one.
func (e *entry) same(o *entry) bool {
	return e.key(o) && e.Category == o.Category && e.Order == o.Order
}

// prefix begins the Sequence of every request with a ServiceID.
func (e *entry) prefix() string { return url.PathEscape(e.Service) + "/" }

// sequence is the Sequence of a request, e.g. "A00000001/order-17".
func (e *entry) sequence() string {
	order := e.Order
	if order == "" {
		order = "." // a reversal may have none
	}
	return e.prefix() + order
}

// line is what the connections of one line have in common.
type line struct {
	recent  []entry // accepted, oldest first; stored
	running map[string]*entry
	busy    map[*dialogue]bool // with a request in hand
	early   []entry            // aborts that fitted nothing: they may have overtaken their payments
}

// An abort comes on a connection of its own, so it may be read before its payment. It ends one that comes
// within earlyFor; a line remembers at most maxEarly of them.
const (
	earlyFor = 10 * time.Second
	maxEarly = 32
)

// overtaken says whether an abort of a payment has come before it.
func (l *line) overtaken(e *entry) bool {
	return e.Category == "Payment" && slices.ContainsFunc(l.early, func(a entry) bool { return a.key(e) && e.AtMS-a.AtMS < earlyFor.Milliseconds() })
}

// inHand counts the requests that are in hand.
func (l *line) inHand(only func(*entry) bool) (n int) {
	for other := range l.busy {
		if (other.phase == asking || other.phase == waiting) && only(&other.ask.entry) {
			n++
		}
	}
	for _, e := range l.running {
		if only(e) {
			n++
		}
	}
	return n
}

// keep is how many requests a line remembers. The journal has them all: what a line remembers is
// what an answer repeats of its request.
const keep = 64

func (s *shared) line(name string, saved []byte) *line {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lines[name]
	if l == nil {
		l = &line{running: map[string]*entry{}, busy: map[*dialogue]bool{}}
		if json.Unmarshal(saved, &l.recent) != nil {
			l.recent = nil
		}
		s.lines[name] = l
	}
	return l
}

// find is the newest request with a SaleID and ServiceID that the line remembers, nil if none.
func (l *line) find(key *entry) *entry {
	for i := len(l.recent) - 1; i >= 0; i-- {
		if l.recent[i].key(key) {
			return &l.recent[i]
		}
	}
	return nil
}

// sold is the newest request of a sale, nil if the line does not remember one.
func (l *line) sold(sale string) *entry {
	for i := len(l.recent) - 1; i >= 0; i-- {
		if l.recent[i].Sale == sale {
			return &l.recent[i]
		}
	}
	return nil
}

// add remembers a request that the desk has accepted, or joined to the sale of another one.
func (l *line) add(e entry) {
	if slices.ContainsFunc(l.recent, func(o entry) bool { return o.Sale == e.Sale && o.same(&e) }) {
		return
	}
	l.recent = append(l.recent[max(0, len(l.recent)+1-keep):], e)
}

// saved is the stored form.
func (l *line) saved() []byte {
	data, err := json.Marshal(l.recent)
	if err != nil {
		return nil
	}
	return data
}

// reuse is how long a ServiceID may not come again with another content, of the terminal's running time: its
// clock may be wrong.
const reuse = 48 * time.Hour
