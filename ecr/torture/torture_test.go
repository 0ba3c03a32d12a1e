package torture_test

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/ecr"
	"posagent/ecr/caisseap"
	caisseaplines "posagent/ecr/caisseap/protocol"
	"posagent/ecr/ecr17"
	ecr17lines "posagent/ecr/ecr17/protocol"
	"posagent/ecr/ecrtest/desk"
	"posagent/ecr/ecrtest/lines"
	"posagent/ecr/jsonl"
	jsonlines "posagent/ecr/jsonl/protocol"
	"posagent/ecr/nexo"
	"posagent/ecr/session"
	"posagent/ecr/till"
	"posagent/ecr/torture"
	"posagent/ecr/zvt"
	zvtline "posagent/ecr/zvt/protocol"
	"posagent/schemes/money"
)

// shop is a terminal's desk whose sales take three seconds, with one fault.
type shop struct {
	*desk.Desk
	fault string
	mute  bool // its registers cannot ask: what they have not heard is undone
	dead  atomic.Bool

	mu    sync.Mutex
	asked map[string]ecr.Request // by line and id
	first map[string]time.Time   // when, likewise
	ended map[string]time.Time   // when a sale was approved
	held  map[string]int
	lost  string // the one sale that a terminal forgets, or does not abort
	again int    // sales that were charged twice

	doubled time.Time // when the last request came that came twice in a row

	lag        time.Duration // until its totals have a sale
	sums, said ecr.Totals
	since      time.Time // when sums changed last
}

// Begin implements ecr.Desk.
func (s *shop) Begin(ctx context.Context, req ecr.Request) (ecr.Sale, error) {
	s.mu.Lock()
	id := req.Line + "/" + req.Sequence
	earlier, known := s.asked[id]
	switch {
	case req.Sequence == "":
	case known && s.fault == "other body" && earlier.Amount != req.Amount:
		req.Amount = earlier.Amount
	case known && s.fault == "sent twice" && s.open():
		s.again++
	case known && s.fault == "asked twice" && s.first[id].Sub(s.doubled) < time.Second: // that was the same request sent twice
	case known && s.fault == "asked twice" && earlier.Amount == req.Amount && !s.open():
		s.again++ // charged, and answered as before
	case !known:
		s.asked[id], s.first[id] = req, time.Now()
	}
	s.mu.Unlock()
	before := s.begun()
	one, err := s.Desk.Begin(ctx, req)
	if err != nil || s.begun() == before {
		return one, err
	}
	n := before + 1
	if s.fault == "sale" {
		s.Mu.Lock()
		s.Sales[n-1].Outcome.Amount++
		s.Mu.Unlock()
	}
	time.AfterFunc(3*time.Second, func() {
		s.Mu.Lock()
		open := len(s.Sales) == n && s.Sales[n-1].Open
		s.Mu.Unlock()
		if open {
			s.mu.Lock()
			s.ended[one.ID] = time.Now()
			s.mu.Unlock()
			s.Approve()
		}
	})
	return one, nil
}

func (s *shop) begun() int {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return len(s.Sales)
}

func (s *shop) open() bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return len(s.Sales) > 0 && s.Sales[len(s.Sales)-1].Open
}

// Abort implements ecr.Desk.
func (s *shop) Abort(ctx context.Context, id string) error {
	if s.fault == "abort" && s.open() {
		return nil
	}
	if s.mute && s.fault == "lost connection" && s.open() { // it goes on, and keeps what nobody has heard
		s.mu.Lock()
		defer s.mu.Unlock()
		s.lost = id
		return nil
	}
	return s.Desk.Abort(ctx, id)
}

// Last implements ecr.Desk.
func (s *shop) Last(ctx context.Context, line string) (ecr.Sale, error) { return s.Find(ctx, line, "") }

// Find implements ecr.Finder.
func (s *shop) Find(ctx context.Context, line, sequence string) (ecr.Sale, error) {
	s.Mu.Lock()
	var last *desk.Sale
	beginning, begins := strings.CutSuffix(sequence, ecr.AnyEnd)
	for _, one := range s.Sales {
		if sequence == "" && (one.Request.Line == line || s.fault == "two tills") || sequence != "" && (one.Request.Sequence == sequence || begins && strings.HasPrefix(one.Request.Sequence, beginning)) {
			last = one
		}
	}
	forget := false
	if last != nil {
		if s.fault == "two tills" {
			line = last.Request.Line
		}
		s.held[last.ID]++
		forget = s.fault == "lost connection" && (last.Open || last.ID == s.lost) || s.fault == "asked again" && s.held[last.ID] >= 2 ||
			s.fault == "cut answer" && !last.Open && !last.Told && slices.Contains(s.Deliveries, "lost "+last.ID)
	}
	if forget {
		s.lost = cmp.Or(s.lost, last.ID)
		forget = s.lost == last.ID
	}
	s.Mu.Unlock()
	if forget {
		_ = s.Desk.Abort(ctx, last.ID) // it counts nothing for it, either
		return ecr.Sale{}, ecr.ErrNone
	}
	return s.Desk.Find(ctx, line, sequence)
}

// Turnover implements ecr.Till.
func (s *shop) Turnover(ctx context.Context) (ecr.Totals, error) {
	t, err := s.Desk.Turnover(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	t.Count, t.Net = t.Count+s.again, t.Net+money.Minor(s.again)*desk.StaysOpen
	if t.Count != s.sums.Count {
		s.sums, s.since = t, time.Now()
	}
	if time.Since(s.since) >= s.lag {
		s.said = t
	}
	t = s.said
	return t, err
}

// Delivered implements ecr.Desk.
func (s *shop) Delivered(ctx context.Context, id string, d ecr.Delivery) (ecr.Outcome, error) {
	s.mu.Lock()
	at, kept := s.ended[id], s.mute && (s.fault == "cut answer" || s.fault == "lost connection" && s.lost == id)
	s.mu.Unlock()
	if kept && d == ecr.Lost {
		d = ecr.Told
	}
	if s.fault == "late acknowledgement" && d == ecr.Told && !at.IsZero() && time.Since(at) > 300*time.Millisecond {
		d = ecr.Refused
	}
	return s.Desk.Delivered(ctx, id, d)
}

// mouth is a terminal's end of a connection: one with a fault chokes on what begins no message, or takes a request that was sent twice
// for two.
type mouth struct {
	net.Conn
	s    *shop
	last string
	at   time.Time // when that came
}

// RemoteAddr is that of a register.
func (*mouth) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 4000} }

// Read implements net.Conn.
func (m *mouth) Read(p []byte) (int, error) {
	n, err := m.Conn.Read(p)
	m.s.mu.Lock()
	now := time.Now()
	if n > 50 && strings.ContainsRune("\x02CP", rune(p[0])) && string(p[:n]) == m.last && now.Sub(m.at) < time.Second {
		if m.s.doubled = m.at; m.s.fault == "sent twice" {
			m.s.again++
		}
	}
	if n > 0 { // not only a look whether the register is still there
		m.last, m.at = string(p[:n]), now
	}
	m.s.mu.Unlock()
	if m.s.mute && m.s.fault == "two tills" && n > 50 && m.s.open() {
		_ = m.s.Desk.Abort(context.Background(), fmt.Sprint("s", m.s.begun())) // for the other till
	}
	if m.s.fault == "hostile bytes" && n > 0 && p[0] == 0xFF {
		m.s.dead.Store(true)
	}
	return n, err
}

// Write implements net.Conn. What was refused may come again.
func (m *mouth) Write(p []byte) (int, error) {
	if p[0] == 0x15 {
		m.s.mu.Lock()
		m.last = ""
		m.s.mu.Unlock()
	}
	if halves := m.s.fault == "first half"; (halves || m.s.fault == "one piece") && len(p) > 50 {
		n, err := m.Conn.Write(p[:len(p)/2])
		if err != nil {
			return n, err
		}
		<-time.After(10 * time.Millisecond)
		more, err := m.Conn.Write(p[len(p)/2:])
		if halves { // it takes the first half for all of it
			return len(p), nil
		}
		return n + more, err
	}
	return m.Conn.Write(p)
}

// terminal serves the registers of a shop until ctx ends.
type terminal func(ctx context.Context, s *shop, ln net.Listener) error

// speaking is a terminal that speaks a protocol of this program.
func speaking(p ecr.Protocol) terminal {
	return func(ctx context.Context, s *shop, ln net.Listener) error {
		return session.New(session.Options{Line: "tcp", Desk: s, Till: s, Memory: s.Desk, Protocol: p}).ServeTCP(ctx, ln)
	}
}

// open is a shop with a fault, and how its registers connect.
func open(ctx context.Context, speaks terminal, fault string) (s *shop, connect func(context.Context) (net.Conn, error), ended chan error) {
	s = &shop{Desk: desk.New(), fault: fault, asked: map[string]ecr.Request{}, ended: map[string]time.Time{}, held: map[string]int{}, first: map[string]time.Time{}}
	pipes := lines.NewPipes()
	ended = make(chan error, 1)
	go func() { ended <- speaks(ctx, s, pipes) }()
	return s, func(context.Context) (net.Conn, error) {
		if s.dead.Load() {
			return nil, context.DeadlineExceeded
		}
		register, terminal := net.Pipe()
		pipes.Connect(&mouth{Conn: terminal, s: s})
		return post(register), nil
	}, ended
}

// postbox is a register's end of a connection that does not wait until what it writes is read.
type postbox struct {
	net.Conn
	mu     sync.Mutex
	out    chan []byte
	closed bool
}

func post(conn net.Conn) *postbox {
	p := &postbox{Conn: conn, out: make(chan []byte, 1000)}
	go func() {
		for data := range p.out {
			_, _ = conn.Write(data) // a lost connection has no reader
		}
		_ = conn.Close()
	}()
	return p
}

// Write implements net.Conn.
func (p *postbox) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return 0, net.ErrClosed
	}
	p.out <- slices.Clone(data)
	return len(data), nil
}

// Close implements net.Conn.
func (p *postbox) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.closed = true
		_ = p.Conn.SetWriteDeadline(time.Now().Add(time.Second))
		_ = p.Conn.SetReadDeadline(time.Now())
		close(p.out)
	}
	return nil
}

// score tortures a terminal with a fault, "" = none, in made-up time.
func score(t *testing.T, p till.Protocol, speaks terminal, fault string, sales int) torture.Scorecard {
	return scored(t, p, speaks, fault, sales, nil)
}

// scored is score with the terminal's books, nil = it has none.
func scored(t *testing.T, p till.Protocol, speaks terminal, fault string, sales int, books func(*shop) func(context.Context) (money.Minor, error)) (card torture.Scorecard) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		s, connect, ended := open(ctx, speaks, fault)
		s.mute = !p.Can.Asks
		var err error
		var read func(context.Context) (money.Minor, error)
		if books != nil {
			read = books(s)
		}
		card, err = torture.Run(t.Context(), torture.Options{
			Books: read, Protocol: p, Amount: desk.StaysOpen, Sales: sales, Seed: 7, Wait: time.Minute, Local: true, Connect: connect,
		})
		require.NoError(t, err)
		stop()
		require.ErrorIs(t, <-ended, context.Canceled)
	})
	return card
}

func protocolOf(t *testing.T, name string) (till.Protocol, terminal) {
	speaks := map[string]terminal{
		"zvt": speaking(zvtline.New(zvtline.Options{ZVT: zvt.Config{TerminalID: "52500038", Currency: "EUR", MerchantName: "Corner Shop", Version: "1.2.3", Language: "en"}})),
		"jsonl": speaking(jsonlines.New(jsonlines.Options{JSONL: jsonl.Config{
			TerminalID: "52500038", Currency: "EUR", MerchantName: "Corner Shop", Language: "en", Version: "1.2.3", Sandbox: true,
		}})),
		"ecr17":     speaking(ecr17lines.New(ecr17lines.Options{Config: ecr17.Config{Currency: "EUR", MerchantName: "Bottega"}})),
		"caisse-ap": speaking(caisseaplines.New(caisseaplines.Options{Config: caisseap.Config{Currency: "EUR"}})),
		"http":      overHTTP,
		"nexo":      speaking(nexoLine(t, nexo.Options{})),
	}
	for _, k := range till.Protocols() {
		if k.Name == name {
			require.NotNil(t, speaks[name])
			p, err := k.Make(settings)
			require.NoError(t, err)
			return p, speaks[name]
		}
	}
	t.Fatalf("no protocol %s", name)
	return till.Protocol{}, nil
}

// settings are those of every terminal here.
var settings = till.Settings{
	Host: "127.0.0.1:8480", Tokens: []till.Secret{"alpha-token-0123456789", "beta-token-0123456789"}, POIID: "POSAGENT-000020000001", APIKey: "key-of-another-service",
}

// TestAGoodTerminalPasses: the terminal's own protocols score full marks; a row is left out only where the protocol cannot.
func TestAGoodTerminalPasses(t *testing.T) {
	for name, cannot := range map[string][]string{
		"zvt": {"one piece", "asked twice", "other body"}, "jsonl": {"one piece"}, "http": {"one piece", "late acknowledgement"}, "nexo": {"one piece", "late acknowledgement"},
		"ecr17": {"one piece", "asked twice", "other body", "abort", "late abort"}, "caisse-ap": {"asked again", "asked twice", "other body", "abort", "late abort"},
	} {
		t.Run(name, func(t *testing.T) {
			p, speaks := protocolOf(t, name)
			readings := []func(*shop) func(context.Context) (money.Minor, error){nil}
			if !p.Can.Totals {
				readings = append(readings, booksOf)
			}
			for _, read := range readings {
				card := scored(t, p, speaks, "", need.Size(100, 1000), read)
				for _, r := range card.Rows {
					want := torture.Passed
					if slices.Contains(cannot, r.Row) {
						want = torture.Cannot
					}
					require.Equal(t, want, r.Verdict, "%+v", r)
				}
				if read == nil {
					require.Len(t, card.Rows, 14)
				} else {
					require.Len(t, card.Rows, 15)
				}
				require.True(t, card.Good())
				require.NotEmpty(t, card.Unseen)
			}
		})
	}
}

// booksOf is what the desk of a shop has sold.
func booksOf(s *shop) func(context.Context) (money.Minor, error) {
	return func(ctx context.Context) (money.Minor, error) {
		t, err := s.Turnover(ctx)
		return t.Net, err
	}
}

// TestALiveTerminalIsLeftAlone: without a limit nothing is asked for where the terminal may be live, and with one no more than that.
func TestALiveTerminalIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, want := range map[string]error{"zvt": torture.ErrNotATest, "jsonl": nil, "http": nil, "ecr17": torture.ErrNotATest, "caisse-ap": torture.ErrNotATest, "nexo": torture.ErrNotATest} {
			p, speaks := protocolOf(t, name)
			ctx, stop := context.WithCancel(t.Context())
			s, connect, ended := open(ctx, speaks, "")
			o := torture.Options{Protocol: p, Amount: desk.StaysOpen, Sales: 1, Wait: time.Minute, Connect: connect}
			_, err := torture.Run(t.Context(), o)
			require.ErrorIs(t, err, want, name)
			if want != nil {
				require.Zero(t, s.begun())
			}
			before := s.begun()
			o.Live, o.Limit = true, 3*desk.StaysOpen
			card, err := torture.Run(t.Context(), o)
			require.NoError(t, err)
			require.Equal(t, 3, s.begun()-before, name)
			require.LessOrEqual(t, int64(card.Spent), int64(o.Limit))
			require.True(t, slices.ContainsFunc(card.Rows, func(r torture.Result) bool { return r.Verdict == torture.NotSeen && r.Saw == torture.ErrLimit.Error() }))
			stop()
			require.ErrorIs(t, <-ended, context.Canceled)
		}
	})
}

// TestBooks: books that have another sum than the register was told fail the card, and a command that fails proves nothing.
func TestBooks(t *testing.T) {
	p, speaks := protocolOf(t, "jsonl")
	for name, want := range map[string]torture.Verdict{"right": torture.Passed, "short": torture.Failed, "broken": torture.NotSeen} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			card := scored(t, p, speaks, "", 1, func(s *shop) func(context.Context) (money.Minor, error) {
				return func(context.Context) (sum money.Minor, err error) {
					calls++
					totals, err := s.Turnover(t.Context())
					switch {
					case name == "short" && calls > 1:
						totals.Net--
					case name == "broken" && calls > 1:
						err = context.DeadlineExceeded
					}
					return totals.Net, err
				}
			})
			last := card.Rows[len(card.Rows)-1]
			require.Equal(t, "books", last.Row)
			require.Equal(t, want, last.Verdict, "%+v", last)
			require.Equal(t, want != torture.Failed, card.Good())
		})
	}
}

// TestTotalsTakeAMoment: a terminal may count a sale a little after it has told the outcome, and has to count it in the end.
func TestTotalsTakeAMoment(t *testing.T) {
	p, speaks := protocolOf(t, "jsonl")
	for lag, good := range map[time.Duration]bool{3 * time.Second: true, time.Minute: false} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			s, connect, ended := open(ctx, speaks, "")
			s.lag = lag
			card, err := torture.Run(t.Context(), torture.Options{Protocol: p, Amount: desk.StaysOpen, Sales: 10, Seed: 7, Wait: time.Minute, Local: true, Connect: connect})
			require.NoError(t, err)
			require.Equal(t, good, card.Good(), "%s: %+v", lag, card)
			stop()
			require.ErrorIs(t, <-ended, context.Canceled)
		})
	}
}

// TestEachFaultFailsItsRow: a terminal with one fault each fails the row that is named for it, and no other.
func TestEachFaultFailsItsRow(t *testing.T) {
	eachFault(t, "zvt", "sale, asked again, lost connection, cut answer, abort, late acknowledgement, hostile bytes")
	eachFault(t, "jsonl", "sale, asked again, lost connection, cut answer, asked twice, other body, abort, late acknowledgement, two tills, hostile bytes")
}

func TestEachFaultFailsItsRowECR17(t *testing.T) {
	eachFault(t, "ecr17", "asked again, lost connection, cut answer, sent twice, late acknowledgement, two tills, hostile bytes")
}

// What a register of Caisse-AP does not hear is seen in the books alone.
func TestEachFaultFailsItsRowCaisseAP(t *testing.T) {
	eachFault(t, "caisse-ap", "one piece, lost connection, cut answer, sent twice, late acknowledgement, two tills, hostile bytes")
}

// TestAnAnswerInTwoPieces: a terminal that counts an answer as heard once its first half was read fails where the cut lies between the
// halves, and where the answer is read once.
func TestAnAnswerInTwoPieces(t *testing.T) {
	p, speaks := protocolOf(t, "caisse-ap")
	var failed []string
	for _, r := range scored(t, p, speaks, "first half", 1000, booksOf).Rows {
		if r.Verdict == torture.Failed {
			failed = append(failed, r.Row)
		}
	}
	require.Equal(t, []string{"one piece", "cut answer"}, failed)
}

func TestEachFaultFailsItsRowNexo(t *testing.T) {
	eachFault(t, "nexo", "sale, asked again, lost connection, cut answer, sent twice, asked twice, other body, abort, two tills, hostile bytes")
}

func TestEachFaultFailsItsRowHTTP(t *testing.T) {
	eachFault(t, "http", "sale, asked again, lost connection, cut answer, sent twice, asked twice, other body, abort, two tills, hostile bytes")
}

func eachFault(t *testing.T, name, faults string) {
	p, speaks := protocolOf(t, name)
	var read func(*shop) func(context.Context) (money.Minor, error)
	if !p.Can.Totals {
		read = booksOf
	}
	for fault := range strings.SplitSeq(faults, ", ") {
		t.Run(name+"/"+fault, func(t *testing.T) {
			card := scored(t, p, speaks, fault, 40, read)
			for _, r := range card.Rows {
				if r.Row == fault {
					require.Equal(t, torture.Failed, r.Verdict, "%+v", r)
				} else if r.Row != "books" {
					require.Contains(t, []torture.Verdict{torture.Passed, torture.Cannot}, r.Verdict, "%+v", r)
				}
			}
			require.False(t, card.Good())
		})
	}
}
