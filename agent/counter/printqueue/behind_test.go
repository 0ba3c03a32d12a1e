package printqueue_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout/drive/journal"
	"posagent/agent/counter/printqueue"
	"posagent/device/printer"
	"posagent/schemes/wire"
)

// jammed is a printer that cuts off what holds a word, and prints everything else.
type jammed struct {
	broken
	word string
	mu   sync.Mutex
	torn int
	out  []string // the receipt's number, and "copy" where it is one
	at   []time.Time
}

func (*jammed) Check(context.Context) error { return nil }

func (p *jammed) Print(_ context.Context, d printer.Document) error {
	all, number := "", ""
	for _, l := range d.Lines {
		all += l.Text + "|"
		if l.Text == "Receipt" {
			number = l.Right
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.word != "" && number == p.word {
		p.torn++
		return fmt.Errorf("%w: %w", printer.ErrUnknownEnd, printer.ErrStuck)
	}
	if strings.Contains(all, "COPY") {
		number += " copy"
	}
	p.out, p.at = append(p.out, number), append(p.at, time.Now())
	return nil
}

func (p *jammed) printed() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.out...)
}

func (p *jammed) cutOff() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.torn
}

// shopOf has so many sales, k1 with the receipt 1 and so on.
func shopOf(t *testing.T, n int) *shop {
	s := newShop(t)
	sale := s.books.sales["k42"]
	for i := range n {
		sale.Receipt = i + 1
		s.books.sales[wire.Key(fmt.Sprint("k", i+1))] = sale
	}
	return s
}

var customers = func(o *printqueue.Options) { o.Prints = printqueue.Prints{Customer: true} }

// TestOneDocumentDoesNotHoldTheOthers: after two tries what is cut off goes behind the others and is said to. It is tried again by
// itself and printed as a copy once the printer can, also by a later run.
func TestOneDocumentDoesNotHoldTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := shopOf(t, 5), &jammed{word: "0001"}
		x, stop := s.start(p, customers)
		for _, key := range []string{"k1", "k2", "k3"} {
			s.confirm(x, key)
		}
		<-time.After(90 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{"0002", "0003"}, p.printed(), "at most a minute later")
		require.LessOrEqual(t, p.cutOff(), 3)
		require.Equal(t, []string{"sale k1 customer"}, s.waiting())
		require.Equal(t, 1, x.State().Behind)
		require.Equal(t, 1, x.State().Waiting)
		require.Contains(t, x.State().Reason, "how much is on the paper is not known")

		began := time.Now()
		s.confirm(x, "k4")
		<-time.After(10 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{"0002", "0003", "0004"}, p.printed())
		require.Less(t, p.at[2].Sub(began), 6*time.Second, "what comes later does not wait at all")
		require.Equal(t, 1, x.State().Behind)
		stop()

		x, stop = s.start(p, customers) // the next run knows it still
		defer stop()
		s.confirm(x, "k5")
		<-time.After(30 * time.Second)
		synctest.Wait()
		require.Equal(t, "0005", p.printed()[3])
		require.Equal(t, 1, x.State().Behind)
		p.mu.Lock()
		p.word = ""
		p.mu.Unlock()
		<-time.After(time.Hour)
		synctest.Wait()
		require.Equal(t, []string{"0002", "0003", "0004", "0005", "0001 copy"}, p.printed())
		require.Empty(t, s.waiting())
		require.Zero(t, x.State().Behind)
		require.Empty(t, x.State().Reason)
	})
}

// TestManyDocumentsThatAreCutOff: a printer that cuts everything off costs as little paper with many documents as with one.
func TestManyDocumentsThatAreCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := shopOf(t, 20), &cutting{}
		x, stop := s.start(p, customers)
		defer stop()
		for i := range 20 {
			s.confirm(x, fmt.Sprint("k", i+1))
		}
		<-time.After(time.Hour)
		synctest.Wait()
		require.LessOrEqual(t, p.begun.Load(), int32(5))
		require.Equal(t, 20, x.State().Waiting)
	})
}

// TestTheSlipOfAnEndOfDayAgain: by its batch, marked as a copy and noted; there is none of a batch that was not closed.
func TestTheSlipOfAnEndOfDayAgain(t *testing.T) {
	s, path := newShop(t), filepath.Join(t.TempDir(), "paper")
	x, _ := s.start(toFile(t, path))
	printed, err := x.ReprintDay(t.Context(), 7)
	require.NoError(t, err)
	require.True(t, printed)
	require.Contains(t, listing(t, path), "           End of day\n  |              COPY\n")
	require.Equal(t, []string{"batch 7: end of day"}, s.notes)
	_, err = x.ReprintDay(t.Context(), 8)
	require.ErrorIs(t, err, journal.ErrUnknown)
	require.Empty(t, s.waiting())
}
