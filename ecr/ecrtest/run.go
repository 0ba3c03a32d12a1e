package ecrtest

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/ecr"
	"posagent/ecr/ecrtest/desk"
)

// Run holds a protocol to its fixture on every kind of line that it runs on.
func Run(t *testing.T, f Fixture) {
	ran := false
	for _, kind := range []Kind{Serial, TCP} {
		if kind == Serial && f.Protocol.Serial == nil || kind == TCP && f.Protocol.TCP == nil {
			continue
		}
		ran = true
		t.Run(string(kind), func(t *testing.T) {
			for name, play := range map[string]func(*rig){
				"sale":                     sale,
				"decline":                  decline,
				"refusal":                  refusal,
				"abort":                    abort,
				"the lost answer":          lostAnswer,
				"asked while it runs":      askedWhileItRuns,
				"the lost decline":         lostDecline,
				"restart":                  restart,
				"a slow desk":              slowDesk,
				"a disk that fails":        diskFails,
				"another sale instead":     anotherSale,
				"asked twice":              askedTwice,
				"another body":             anotherBody,
				"the same after a restart": sameAfterRestart,
				"two registers, one line":  twoOnOneLine,
				"two registers by name":    twoByName,
				"two lines":                twoLines,
				"an old answer":            oldAnswer,
				"asked while it is taken":  askedWhileItIsTaken,
				"end of day":               endOfDay,
			} {
				t.Run(name, func(t *testing.T) { inTime(t, f, kind, play) })
			}
			t.Run("a cable cut at every byte", func(t *testing.T) { cutAtEveryByte(t, f, kind) })
			t.Run("asked by id after every byte", func(t *testing.T) { askedAtEveryByte(t, f, kind) })
			t.Run("hostile bytes", func(t *testing.T) { hostile(t, f, kind) })
		})
	}
	require.True(t, ran, "the protocol runs on no line")
	if f.Protocol.TCP != nil {
		t.Run("a day over sockets", func(t *testing.T) { overSockets(t, f) })
	}
}

func sale(r *rig) {
	till := r.line("one").register("1")
	r.hears(Approved, 1250, r.pay(till, 1250, "7"), "the approval")
	r.settle()
	require.Equal(r.t, []string{"begin s1", "told s1"}, r.desk.Log)
	require.EqualValues(r.t, 1250, r.desk.Begun[0].Amount)
	require.NotEmpty(r.t, r.desk.Begun[0].Line)
	require.Equal(r.t, r.f.Can.IDs, r.desk.Begun[0].Sequence != "", "the request's id")
	r.hears(Approved, 99, r.pay(till, 99, "8"), "the next one")
	r.settle()
	require.Equal(r.t, []string{"begin s1", "told s1", "begin s2", "told s2"}, r.desk.Log)
}

func decline(r *rig) {
	till := r.line("one").register("1")
	r.hears(Declined, 0, r.pay(till, desk.Declines, "7"), "the decline")
	r.settle()
	require.Equal(r.t, []string{"begin s1", "told s1"}, r.desk.Log)
}

func refusal(r *rig) {
	till := r.line("one").register("1")
	r.hears(Refused, 0, r.pay(till, desk.NoMethod, "7"), "nothing is offered for it")
	r.hears(Approved, 1250, r.pay(till, 1250, "8"), "the next one")
	require.Equal(r.t, 1, r.begun())
}

func abort(r *rig) {
	if !r.f.Can.Abort {
		r.t.Log("the protocol has no abort")
		return
	}
	till := r.line("one").register("1")
	paid := r.begin(till, "7")
	done, err := till.Abort(r.ctx)
	require.NoError(r.t, err)
	require.True(r.t, done)
	r.hears(Aborted, 0, <-paid, "the sale that was aborted")
	r.settle()
	done, err = till.Abort(r.ctx)
	require.NoError(r.t, err)
	require.False(r.t, done, "there is nothing to abort")
	r.hears(Approved, 1250, r.pay(till, 1250, "8"), "the next one")
	r.settle()
	require.Equal(r.t, []string{"begin s1", "told s1", "begin s2", "told s2"}, r.desk.Log)
}

func (r *rig) cut(l *line) {
	l.wire.cutAfter(0)
	if r.kind == TCP {
		_ = l.wire.ends[0].Close()
	}
}

// lost lets a sale run, cuts its line, and ends the sale before the line is there again.
func (r *rig) lost(l *line) {
	till := l.register("1")
	paid := r.begin(till, "7")
	r.cut(l)
	r.desk.Approve()
	require.False(r.t, (<-paid).heard, "the line is cut")
	r.settle()
	require.Equal(r.t, []string{"begin s1", "lost s1"}, r.desk.Log)
	l.wire.mend()
}

func lostAnswer(r *rig) {
	if r.f.Can.Mute {
		r.t.Log("the protocol cannot ask: the next sale shows what became of it")
		return
	}
	l := r.line("one")
	r.lost(l)
	till := l.register("1")
	r.hears(Approved, desk.StaysOpen, r.again(till, desk.StaysOpen, "7"), "asked again")
	r.settle()
	require.Equal(r.t, []string{"begin s1", "lost s1", "told s1"}, r.desk.Log)
	r.hears(Approved, desk.StaysOpen, r.again(till, desk.StaysOpen, "7"), "and once more")
	require.Equal(r.t, 1, r.begun())
}

// askedWhileItRuns: a register that lost its line in the middle of a sale joins it again, and hears
// its end. A register that cannot ask has aborted the sale by leaving.
func askedWhileItRuns(r *rig) {
	l := r.line("one")
	paid := r.begin(l.register("1"), "7")
	r.cut(l)
	require.False(r.t, (<-paid).heard, "the line is cut")
	l.wire.mend()
	if r.f.Can.Mute {
		r.settle()
		require.Equal(r.t, ecr.Aborted, r.desk.Sales[0].Outcome.Result)
		require.Equal(r.t, []string{"begin s1", "lost s1"}, r.desk.Log)
		return
	}
	joined := make(chan answer, 1)
	till := l.register("1")
	go func() { joined <- r.again(till, desk.StaysOpen, "7") }()
	<-time.After(time.Minute)
	require.Empty(r.t, joined, "it runs")
	r.desk.Approve()
	r.hears(Approved, desk.StaysOpen, <-joined, "its end")
	r.settle()
	require.Equal(r.t, 1, r.begun())
	require.True(r.t, r.told(1))
}

// restart: a terminal that starts again in the middle of a sale tells its end to the register that asks.
func restart(r *rig) {
	l := r.line("one")
	paid := r.begin(l.register("1"), "7")
	l.stop()
	require.False(r.t, (<-paid).heard, "the terminal is gone")
	r.desk.Approve()
	if r.f.Can.Mute {
		r.hears(Approved, 2000, r.pay(r.line("one").register("1"), 2000, "8"), "the next sale")
		require.False(r.t, r.told(1))
		return
	}
	r.hears(Approved, desk.StaysOpen, r.again(r.line("one").register("1"), desk.StaysOpen, "7"), "asked again")
	r.settle()
	require.Equal(r.t, []string{"begin s1", "told s1"}, r.desk.Log)
}

// slowDesk: what a register is told in time stands, and what it is not told is not taken for told.
func slowDesk(r *rig) {
	till := r.line("one").register("1")
	r.desk.Slow = 2 * time.Second
	r.hears(Approved, 1250, r.pay(till, 1250, "7"), "after a moment")
	r.settle()
	require.True(r.t, r.told(1))
	r.desk.Slow = 20 * time.Second
	got := r.pay(till, 99, "8")
	r.settle()
	require.Equal(r.t, got.Said == Approved, r.told(2), "it heard %+v, the desk %v", got, r.desk.Log)
}

// diskFails: a telling that the desk cannot record at once is recorded later.
func diskFails(r *rig) {
	r.desk.Failures = 3
	r.hears(Approved, 1250, r.pay(r.line("one").register("1"), 1250, "7"), "the approval")
	r.settle()
	require.Equal(r.t, []string{"begin s1", "told s1"}, r.desk.Log)
}

// lostDecline: what was declined is not told as anything better.
func lostDecline(r *rig) {
	l := r.line("one")
	till := l.register("1")
	r.hears(Declined, 0, r.pay(till, desk.Declines, "7"), "the decline")
	if r.f.Can.Mute {
		return
	}
	if r.kind == TCP {
		require.NoError(r.t, till.Close())
	}
	r.hears(Declined, 0, r.again(l.register("1"), desk.Declines, "7"), "asked again")
	require.Equal(r.t, 1, r.begun())
}

// anotherSale: a register that asks for a new sale instead of its lost one does not know that one.
// It is handed back before the new one begins, and nothing tells it as approved.
func anotherSale(r *rig) {
	l := r.line("one")
	r.lost(l)
	r.hears(Approved, 2000, r.pay(l.register("1"), 2000, "8"), "the new sale")
	r.settle()
	require.Equal(r.t, []string{"begin s1", "lost s1", "begin s2", "told s2"}, r.desk.Log)
	require.True(r.t, r.desk.Sales[0].Undone)
	require.False(r.t, r.desk.Sales[0].Told)
}

// askedTwice: the same bytes again are the same sale where the protocol can say so, and a new one
// where it cannot.
func askedTwice(r *rig) {
	till := r.line("one").register("1")
	r.hears(Approved, 1250, r.pay(till, 1250, "7"), "the sale")
	r.settle()
	r.hears(Approved, 1250, r.pay(till, 1250, "7"), "the same again")
	r.settle()
	want := 2
	if r.f.Can.IDs {
		want = 1
	}
	require.Equal(r.t, want, r.begun())
	for n := range want {
		require.True(r.t, r.told(n+1))
	}
}

func anotherBody(r *rig) {
	if !r.f.Can.IDs {
		r.t.Log("the protocol has no ids")
		return
	}
	till := r.line("one").register("1")
	r.hears(Approved, 1250, r.pay(till, 1250, "7"), "the sale")
	r.settle()
	r.hears(Refused, 0, r.pay(till, 1300, "7"), "another body under its id")
	require.Equal(r.t, []string{"begin s1", "told s1"}, r.desk.Log)
	require.EqualValues(r.t, 1250, r.desk.Sales[0].Outcome.Amount)
}

// twoOnOneLine: while one connection runs a sale, another is told so at once and is told nothing of
// it.
func twoOnOneLine(r *rig) {
	if r.kind == Serial {
		r.t.Log("a cable has one register")
		return
	}
	l := r.line("one")
	a := l.register("1")
	paid := r.begin(a, "7")
	b := l.register("1")
	began := time.Now()
	r.hears(Busy, 0, r.pay(b, 2000, "8"), "another sale runs")
	require.Less(r.t, time.Since(began), 5*time.Second, "at once")
	if !r.f.Can.Repeats && !r.f.Can.Mute {
		other := r.again(b, 2000, "8")
		require.NotEqual(r.t, Approved, other.Said, "asked for by the other connection")
	}
	require.Empty(r.t, r.desk.Recorded())
	r.desk.Approve()
	r.hears(Approved, desk.StaysOpen, <-paid, "the one that asked")
	r.settle()
	require.Equal(r.t, []string{"begin s1", "told s1"}, r.desk.Log)
	r.hears(Approved, 2000, r.pay(b, 2000, "8"), "the other's own sale")
}

func twoByName(r *rig) {
	if !r.f.Can.Names || r.f.Can.Repeats || r.kind == Serial {
		r.t.Log("the registers of a line have no names, or ask by id")
		return
	}
	l := r.line("one")
	if r.f.Can.Mute {
		r.lost(l)
		r.hears(Approved, 2000, r.pay(l.register("2"), 2000, "8"), "another name")
		r.settle()
		require.False(r.t, r.desk.Sales[0].Undone, "it says nothing of the first one's sale")
		r.hears(Approved, 2000, r.pay(l.register("1"), 2000, "9"), "the first one again")
		require.True(r.t, r.desk.Sales[0].Undone)
		return
	}
	r.hears(Approved, 1250, r.pay(l.register("1"), 1250, "7"), "the first register")
	r.hears(NotFound, 0, r.again(l.register("2"), 1250, "7"), "the second has no sale")
	r.hears(Approved, 1250, r.again(l.register("1"), 1250, "7"), "the first has")
}

// oldAnswer: what a register has acknowledged is no answer to what it asks for much later, but what
// it never acknowledged is.
func oldAnswer(r *rig) {
	fades := r.f.Can.Fades
	if fades == 0 {
		r.t.Log("the protocol tells an outcome again for ever")
		return
	}
	l := r.line("one")
	r.hears(Approved, 1250, r.pay(l.register("1"), 1250, "7"), "the sale")
	<-time.After(fades - 10*time.Second)
	r.hears(Approved, 1250, r.again(l.register("1"), 1250, "7"), "it is its last one still")
	<-time.After(20 * time.Second)
	r.hears(NotFound, 0, r.again(l.register("1"), 1250, "7"), "it may mean another one by now")
	require.True(r.t, r.told(1))
	require.False(r.t, r.desk.Sales[0].Undone)
	paid := r.begin(l.register("1"), "8")
	r.cut(l)
	r.desk.Approve()
	require.False(r.t, (<-paid).heard, "the line is cut")
	l.wire.mend()
	<-time.After(2 * fades)
	r.hears(Approved, desk.StaysOpen, r.again(l.register("1"), desk.StaysOpen, "8"), "it never heard of that one")
	r.settle()
	require.True(r.t, r.told(2))
}

// twoLines: a line hears of its own sales only.
func twoLines(r *rig) {
	one, two := r.line("one").register("1"), r.line("two").register("1")
	r.hears(Approved, 1250, r.pay(one, 1250, "7"), "on the first line")
	r.settle()
	if !r.f.Can.Repeats && !r.f.Can.Mute {
		r.hears(NotFound, 0, r.again(two, 1250, "7"), "the second has no sale")
	}
	r.hears(Approved, 2000, r.pay(two, 2000, "7"), "the same id on another line is another sale")
	r.settle()
	require.Equal(r.t, []string{"begin s1", "told s1", "begin s2", "told s2"}, r.desk.Log)
	require.NotEqual(r.t, r.desk.Begun[0].Line, r.desk.Begun[1].Line)
}

func endOfDay(r *rig) {
	if !r.f.Can.EndOfDay {
		r.t.Log("the protocol has no end of day")
		return
	}
	one, two := r.line("one").register("1"), r.line("two").register("1")
	r.hears(Approved, 1250, r.pay(one, 1250, "1"), "a sale")
	r.hears(Declined, 0, r.pay(one, desk.Declines, "2"), "a decline")
	r.hears(Approved, 750, r.pay(one, 750, "3"), "another sale")
	paid := r.begin(two, "4")
	ended, _, _, err := one.EndOfDay(r.ctx)
	require.NoError(r.t, err)
	require.False(r.t, ended, "a sale is open")
	require.Zero(r.t, r.desk.Closed)
	r.desk.Approve()
	r.hears(Approved, desk.StaysOpen, <-paid, "the open sale")
	r.settle()
	ended, count, sum, err := one.EndOfDay(r.ctx)
	require.NoError(r.t, err)
	require.True(r.t, ended)
	require.Contains(r.t, []int{3, -1}, count)
	require.EqualValues(r.t, 1250+750+desk.StaysOpen, sum)
	require.Equal(r.t, 1, r.desk.Closed)
}

// cutAtEveryByte cuts the line after every byte of a sale, in either direction, and lets the
// register ask again.
func cutAtEveryByte(t *testing.T, f Fixture, kind Kind) {
	bytes := 0
	inTime(t, f, kind, func(r *rig) {
		l := r.line("one")
		till := l.register("1")
		l.wire.cutAfter(1 << 30)
		r.hears(Approved, 1250, r.pay(till, 1250, "7"), "no cut")
		synctest.Wait()
		bytes = l.wire.mend()
	})
	require.Greater(t, bytes, 10)
	outcomes := map[string]int{}
	all := cuts(bytes)
	for _, n := range all {
		inTime(t, f, kind, func(r *rig) {
			l := r.line("one")
			till := l.register("1")
			l.wire.cutAfter(n)
			first := r.pay(till, 1250, "7")
			r.settle()
			at := fmt.Sprintf("cut after %d of %d bytes; it heard %+v, the desk %v", n, bytes, first, r.desk.Log)
			if first.heard {
				r.hears(Approved, 1250, first, at)
			}
			require.LessOrEqual(t, r.begun(), 1, at)
			require.True(t, !r.told(1) || first.heard, "told what was not heard: "+at)
			before := r.begun()
			l.wire.mend()
			outcomes[fmt.Sprintf("begun %d, heard %t", before, first.heard)]++
			if f.Can.Mute {
				r.hears(Approved, 1250, r.pay(l.register("1"), 1250, "8"), "the next sale: "+at)
				require.Equal(t, before+1, r.begun(), at)
				require.True(t, before == 0 || r.told(1) || r.desk.Sales[0].Undone, "neither heard nor undone: "+at)
				return
			}
			second := r.again(l.register("1"), 1250, "7")
			r.settle()
			at += fmt.Sprintf("; asked again it heard %+v, the desk %v", second, r.desk.Log)
			if before == 0 && !f.Can.Repeats {
				r.hears(NotFound, 0, second, at)
				require.False(t, first.heard, at)
				require.Zero(t, r.begun(), at)
			} else {
				r.hears(Approved, 1250, second, at)
				require.Equal(t, 1, r.begun(), at)
				require.True(t, r.told(1), at)
			}
		})
	}
	t.Logf("%d cuts: %v", len(all), outcomes)
	require.Len(t, outcomes, 3, "before the sale, before the answer, after it")
}

// cuts are the places at which a line that carries so many bytes is cut: behind each of them. In short behind every third, and behind
// each of the last ones, where the answer's end and its acknowledgement are.
func cuts(bytes int) (list []int) {
	for n := range bytes + 1 {
		if n%need.Size(max(3, bytes/300), 1) == 0 || n > bytes-16 {
			list = append(list, n)
		}
	}
	return list
}

// hostile sends what is no request; nothing is begun, and a register is served afterwards.
func hostile(t *testing.T, f Fixture, kind Kind) {
	rnd := rand.New(rand.NewPCG(1, 7))
	random := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rnd.UintN(256))
		}
		return string(b)
	}
	all := slices.Concat(f.Hostile, []string{
		"\x00", "\xff", strings.Repeat("\xff", 4096), strings.Repeat("\x00", 4096), strings.Repeat("A", 70000),
		"GET / HTTP/1.1\r\nHost: terminal\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
		"{\"pay\":1250}", "\r\n\r\n\r\n", "\x10\x02\x10\x02\x06", "\x02\x03", "\x15\x15\x15", random(7), random(300), random(5000),
	})
	for i, bytes := range all {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			inTime(t, f, kind, func(r *rig) {
				l := r.line("one")
				var wire *wire
				if kind == Serial {
					l.register("1")
					wire = l.wire
				} else {
					wire = newWire(kind)
					l.pipes.Connect(wire.end(1))
					go func() { _, _ = io.Copy(io.Discard, wire.ends[0]) }()
					defer func() { _ = wire.ends[0].Close() }()
				}
				stuck := time.AfterFunc(limit, func() { _ = wire.ends[0].Close() })
				defer stuck.Stop()
				_, _ = wire.end(0).Write([]byte(bytes))
				<-time.After(time.Minute)
				require.Zero(t, r.begun(), "%q", bytes)
				r.hears(Approved, 1250, r.pay(l.register("1"), 1250, "7"), "the next sale")
				r.settle()
				require.Equal(t, []string{"begin s1", "told s1"}, r.desk.Log)
			})
		})
	}
}
