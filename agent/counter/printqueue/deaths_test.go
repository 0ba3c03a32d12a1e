package printqueue_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/counter/printqueue"
	"posagent/cross/env"
	"posagent/device/printer"
	"posagent/device/printer/printertest"
	"posagent/ecr"
	"posagent/ecr/receipt"
	"posagent/schemes/money"
	"posagent/schemes/wire"
)

// mortal is a printer that dies in every way that the tests know, at a cable that can be pulled.
type mortal struct {
	*printertest.Printer
	prof printer.Profile

	mu     sync.Mutex
	gone   bool // the cable is pulled
	breaks int  // bytes until it breaks; negative = never
	cable  net.Conn
	served sync.WaitGroup
}

// near is the terminal's end of the cable.
type near struct {
	net.Conn
	m *mortal
}

// Write implements net.Conn. It fails where the cable breaks.
func (n near) Write(data []byte) (int, error) {
	n.m.mu.Lock()
	left := n.m.breaks
	if left >= 0 {
		n.m.breaks = max(0, left-len(data))
	}
	n.m.mu.Unlock()
	if left < 0 || left >= len(data) {
		return n.Conn.Write(data)
	}
	done, _ := n.Conn.Write(data[:left])
	n.m.pull(true)
	return done, io.ErrClosedPipe
}

func newMortal(t *testing.T) *mortal {
	m := &mortal{prof: narrow(t)}
	m.prof.Status = printer.RealTime | printer.InOrder
	m.Printer = printertest.New(printertest.Config{
		Columns: m.prof.Columns, Dots: m.prof.Dots, RealTime: true, InOrder: true, Kanji: true, Stops: true, Buffer: 512,
	})
	m.breaks = -1
	return m
}

func (m *mortal) open(ctx context.Context) (printer.Conn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gone {
		m.mu.Unlock()
		<-ctx.Done()
		m.mu.Lock()
		return nil, ctx.Err()
	}
	end, far := net.Pipe()
	m.cable = far
	m.served.Go(func() { m.Serve(far); _ = far.Close() })
	return near{end, m}, nil
}

// pull takes the cable off, or plugs it in.
func (m *mortal) pull(off bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gone, m.breaks = off, -1
	if off && m.cable != nil {
		_ = m.cable.Close()
	}
}

// die does something random to the printer, and says what.
func (m *mortal) die(rng *rand.Rand) string {
	n := rng.IntN(20_000) // a receipt has 5,000 to 15,000 bytes
	switch rng.IntN(6) {
	case 0:
		m.PaperOutAfter(n)
		return fmt.Sprintf("the paper ends after %d bytes", n)
	case 1:
		m.Set(printertest.CoverOpen, true)
		return "its cover is opened"
	case 2:
		m.pull(true)
		return "its cable is pulled"
	case 4:
		m.mu.Lock()
		m.breaks = n
		m.mu.Unlock()
		return fmt.Sprintf("its cable breaks after %d bytes", n)
	case 3:
		m.PowerCycle()
		return "it is switched off and on"
	}
	m.BusyAfter(n)
	return fmt.Sprintf("it stops after %d bytes", n)
}

func (m *mortal) repair() {
	m.PaperOutAfter(-1)
	m.BusyAfter(-1)
	m.Set(printertest.PaperOut, false)
	m.Set(printertest.CoverOpen, false)
	m.pull(false)
}

// randomly is a sale whose receipt has texts of every length.
func randomly(rng *rand.Rand, like ecr.Outcome, number int) ecr.Outcome {
	words := strings.Fields("Żółw Grüße points for you 999,999.99 https://shop.example/a?b=c 0123456789012345678901234567890123456789 – é 日本")
	text := func(n int) string {
		var list []string
		for range rng.IntN(n + 1) {
			list = append(list, words[rng.IntN(len(words))])
		}
		return strings.Join(list, " ")
	}
	like.Receipt, like.Amount, like.TransactionID = number, money.Minor(rng.Int64N(99_999_999_999)), fmt.Sprint(rng.Int64())
	like.Label, like.Info, like.Payer = "Method "+text(3), text(12), text(2)
	for range rng.IntN(4) {
		like.Loyalty = append(like.Loyalty, text(3))
	}
	return like
}

// TestRandomDeathsOfThePrinter prints random receipts on a printer that dies at random places, for a terminal that is started again at
// random moments. Each receipt is on paper from its first line to its last once everything works again, at most once without the mark
// of a copy. What is left of others is marked as cut off, unless the program was started again meanwhile. No sale waits, and while the
// printer is dead what waits is said. DEATHS is the number of stories, SEED the first one.
func TestRandomDeathsOfThePrinter(t *testing.T) {
	stories, first := env.Number("DEATHS", 4), env.Number("SEED", 1)
	for seed := range stories {
		t.Run(fmt.Sprint("SEED=", first+seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { mortality(t, uint64(first+seed)) })
		})
	}
}

func mortality(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 15))
	s, m := newShop(t), newMortal(t)
	start := func() (x *printqueue.Paper, stop func()) {
		p, err := printer.New(printer.Config{Profile: m.prof, Open: m.open, Torn: receipt.WordsFor("en").CutOff})
		require.NoError(t, err)
		return s.start(p, customers)
	}
	x, stop := start()
	sold, restarts, dead := 0, 0, time.Time{}
	for range 60 {
		switch n := rng.IntN(10); {
		case n < 4:
			sold++
			key := wire.Key(fmt.Sprint("k", sold))
			s.books.mu.Lock()
			s.books.sales[key] = randomly(rng, s.books.sales["k42"], sold)
			s.books.mu.Unlock()
			began := time.Now()
			s.confirm(x, string(key))
			require.Less(t, time.Since(began), time.Second, "a sale waits for the printer")
		case n < 7:
			t.Logf("after %d receipts %s", sold, m.die(rng))
			if dead.IsZero() {
				dead = time.Now()
			}
		case n < 9:
			m.repair()
			dead = time.Time{}
		default:
			restarts++
			stop()
			x, stop = start()
		}
		<-time.After(time.Duration(rng.Int64N(int64(time.Minute))))
	}
	if m.Set(printertest.CoverOpen, true); true { // dead for certain, and long enough to have noticed
		sold++
		s.books.sales[wire.Key(fmt.Sprint("k", sold))] = randomly(rng, s.books.sales["k42"], sold)
		s.confirm(x, fmt.Sprint("k", sold))
		<-time.After(2 * time.Minute)
		require.NotEmpty(t, s.waiting())
		require.Equal(t, len(s.waiting()), x.State().Waiting)
		require.NotEmpty(t, x.State().Reason, "it does not say why receipts wait")
	}
	m.repair()
	for hours := 0; len(s.waiting()) > 0 && hours < 12; hours++ {
		<-time.After(time.Hour)
	}
	require.Empty(t, s.waiting(), "everything works, and they still wait: %s", x.State().Reason)
	stop()
	m.pull(true)
	m.served.Wait()
	m.judge(t, s, sold, restarts)
}

// judge looks at the paper.
func (m *mortal) judge(t *testing.T, s *shop, sold, restarts int) {
	paperNow := m.Listing()
	euro, _ := money.Lookup("EUR")
	left := paperNow
	for n := 1; n <= sold; n++ {
		out := s.books.sales[wire.Key(fmt.Sprint("k", n))]
		whole := func(again bool) string {
			lines := receipt.Sale(receipt.Head{MerchantName: "Kiosk am Markt", Language: "en"}, euro, out, receipt.Customer, again)
			data, err := printer.Encode(m.prof, printqueue.Document(lines, fmt.Sprintf("R%d/%d T%s", out.Batch, out.Receipt, out.TransactionID), false))
			require.NoError(t, err)
			fresh := printertest.New(printertest.Config{Columns: m.prof.Columns, Dots: m.prof.Dots, Kanji: true})
			fresh.Take(data)
			return fresh.Listing()
		}
		original, again := strings.Count(paperNow, whole(false)), strings.Count(paperNow, whole(true))
		require.LessOrEqual(t, original, 1, "receipt %d is there %d times without a mark:\n%s", n, original, paperNow)
		require.Positive(t, original+again, "receipt %d is nowhere whole:\n%s", n, paperNow)
		left = strings.ReplaceAll(strings.ReplaceAll(left, whole(false), "\x00"), whole(true), "\x00")
	}
	unmarked := 0
	for rest := range strings.SplitSeq(left, "\x00") {
		if strings.TrimSpace(rest) != "" && !strings.Contains(rest, receipt.WordsFor("en").CutOff) {
			unmarked++
		}
	}
	require.LessOrEqual(t, unmarked, restarts, "pieces of receipts without a mark:\n%s", left)
	require.Empty(t, m.Strange())
}
