package change

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// changes are what happens to the world.
func changes() []weighed {
	return []weighed{
		{"network", 40}, {"restart", 5}, {"kill", 12}, {"backup", 8}, {"restore", 12}, {"lost", 5}, {"address", 7}, {"account", 3}, {"currency", 3}, {"lines", 7},
		{"method", 5}, {"lock", 8}, {"fill", 5}, {"nothing", 4},
	}
}

// change changes the world. wait counts what goes on beside the run until it is over by itself.
func (w *world) change(e event, wait *sync.WaitGroup) error {
	w.net.set()
	w.note("change: %v", e)
	switch e.name {
	case "network":
		first, then := faulty(e), faulty(event{"", e.b, e.c, e.a})
		list := []fault{first, then}[:1+e.c/7%2]
		w.note("network: %+v", list)
		w.net.set(list...)
	case "restart":
		w.stop()
		return w.start()
	case "kill":
		w.terminal.Kill()
		if e.a%3 == 0 { // again while it picks up the pieces
			if err := w.start(); err != nil {
				return err
			}
			pass(w.ctx, time.Duration(e.b%150)*time.Millisecond)
			w.terminal.Kill()
		}
		return w.start()
	case "backup":
		w.backup()
	case "restore":
		return w.restore(e)
	case "lost":
		return w.lose()
	case "lock":
		w.lock(time.Duration(300+e.a%6000)*time.Millisecond, wait)
	case "fill":
		w.fill(time.Duration(300+e.a%3000)*time.Millisecond, wait)
	case "nothing":
	default:
		w.config.lines = slices.Clone(w.config.lines)
		w.configure(e)
		w.stop()
		return w.start()
	}
	return nil
}

// faulty is the fault of an event.
func faulty(e event) fault {
	f := fault{
		kind: faults[e.a%len(faults)], where: []string{"all", "writes", "reads"}[e.b%3], left: 1 + e.c%5, after: e.b/3%2 == 0,
		status: statuses[e.c/5%len(statuses)], hold: time.Duration(700+e.b%1500) * time.Millisecond,
	}
	if f.kind == "lag" { // for a while, so that an undo meets it
		f.left *= 5
	}
	return f
}

// configure changes what the configuration says.
func (w *world) configure(e event) {
	c := &w.config
	switch e.name {
	case "address":
		for i, at := range []*int{&c.base, &c.payments, &c.paylinks} {
			if e.a%4 == i || e.a%4 == 3 { // one service, or all
				*at = 1 - *at
			}
		}
	case "account":
		other := map[string]string{"changemerchant": "othermerchant", "othermerchant": "changemerchant", "1000001": "1000002", "1000002": "1000001"}
		if e.a%2 == 0 {
			c.merchant = other[c.merchant]
		} else {
			c.bax = other[c.bax]
		}
	case "currency":
		c.currency = map[string]string{"EUR": "SEK", "SEK": "EUR"}[c.currency]
	case "lines":
		switch named := func(i int) string { return c.lines[i].protocol + "-line" }; e.a % 3 {
		case 0: // one gets a name, or loses it
			i := slices.IndexFunc(c.lines, func(l spoken) bool {
				return l.protocol == lines()[e.b%5].protocol && l.name != "second" && l.name != "till2"
			})
			if i < 0 {
				return
			}
			if c.lines[i].name == "" {
				c.lines[i].name = named(i)
			} else {
				c.lines[i].name = ""
			}
		case 1: // their order changes
			slices.Reverse(c.lines)
		case 2: // the names of two are exchanged
			var of []int
			for i, l := range c.lines {
				if l.protocol == []string{"jsonl", "zvt"}[e.b%2] {
					of = append(of, i)
				}
			}
			c.lines[of[0]].name, c.lines[of[1]].name = c.lines[of[1]].name, c.lines[of[0]].name
		}
	case "method":
		switch e.a % 3 {
		case 0:
			c.link = !c.link
		default:
			c.exclude = []int{1, 2, 99}[e.b%3]
		}
	}
}

// backup takes a backup beside the terminal.
func (w *world) backup() {
	bundle := w.path(fmt.Sprintf("%d.bundle", len(w.bundles)))
	if _, err := w.verb("backup", bundle, "--key-file", w.path("backup.key")); err == nil {
		w.bundles = append(w.bundles, bundle)
	}
}

// gone notes which sales the terminal still worked on when its journal went: what their tills were told of an undo, nobody can know.
// What it named to a person by then was said.
func (w *world) gone(why string) {
	rows, err := w.rows()
	attention := ""
	if err == nil {
		attention, err = w.attention()
	}
	before := alerted(rows, attention)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.replaced++
	for _, s := range w.sales {
		s.named = s.named || before(s.amount)
		for _, r := range rows {
			if r.Amount == s.amount && !r.Settled {
				s.excused = why
			}
		}
		if err != nil {
			s.excused = why
		}
	}
}

// restore puts a backup in the place of the journal.
func (w *world) restore(e event) error {
	if len(w.bundles) == 0 {
		w.backup()
	}
	if e.a%2 == 0 {
		w.stop()
	} else {
		w.terminal.Kill()
	}
	if len(w.bundles) == 0 { // its disk is full, or its journal locked
		return w.start()
	}
	w.gone("a backup took the place of its journal")
	_, _ = w.verb("restore", w.bundles[e.b%len(w.bundles)], "--key-file", w.path("backup.key"), "--force", "older")
	return w.start()
}

// lose loses the journal.
func (w *world) lose() error {
	w.terminal.Kill()
	w.gone("its journal was lost")
	for _, name := range []string{"agent.db", "agent.db-wal", "agent.db-shm"} {
		if err := os.Remove(w.path("a", name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	_, _ = w.verb("reset", "--yes", "--lost-journal", "--reason", "the campaign lost it")
	return w.start()
}

// writeLock is where another program's lock keeps a terminal from writing (https://sqlite.org/walformat.html, WAL_WRITE_LOCK).
const writeLock = 120

// lock holds the journal's lock as a second program does.
func (w *world) lock(hold time.Duration, wait *sync.WaitGroup) {
	f, err := os.OpenFile(w.path("a", "agent.db-shm"), os.O_RDWR, 0)
	if err != nil {
		w.note("no lock: %v", err)
		return
	}
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Start: writeLock, Len: 1}
	for i := 0; syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &lock) != nil; i++ {
		if i == 500 || !pass(w.ctx, time.Millisecond) {
			w.note("no lock: another holds it")
			_ = f.Close()
			return
		}
	}
	wait.Go(func() {
		defer f.Close()
		pass(w.ctx, hold)
		w.note("the journal is free again")
	})
}

// fill fills the disk of the terminal, where it has one of its own.
func (w *world) fill(hold time.Duration, wait *sync.WaitGroup) {
	if !w.mounted {
		w.note("no disk of its own")
		return
	}
	f, err := os.Create(w.path("a", "filler"))
	if err != nil {
		return
	}
	block := make([]byte, 64<<10)
	for err == nil {
		_, err = f.Write(block)
	}
	for _, err = f.Write(block[:512]); err == nil; {
		_, err = f.Write(block[:512])
	}
	_ = f.Close()
	wait.Go(func() {
		pass(w.ctx, hold)
		_ = os.Remove(w.path("a", "filler"))
		w.note("the disk has room again")
	})
}
