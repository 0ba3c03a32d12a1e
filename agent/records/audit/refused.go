package audit

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"posagent/store"
)

// LoginRefused is the deed of a wrong credential at a door.
const LoginRefused = "login.refused"

const (
	refusedEvery   = time.Minute // one line for an address
	refusedMost    = 60          // visitors that have a line of their own in that time
	refusedGather  = time.Second // before the first line: a burst is one
	refusedSettle  = 3 * time.Second
	otherAddresses = "other addresses"
)

// Refusals writes refused logins, at most one line for each door and visitor in a minute.
type Refusals struct {
	db  store.DB
	now func() time.Time
	log *slog.Logger

	mu    sync.Mutex
	wake  chan struct{}
	doors map[[2]string]*refusal
}

// refusal is what one visitor was refused at one door.
type refusal struct {
	address string    // the first
	count   int       // not written yet
	last    time.Time // when its line was written; zero = never
}

// NewRefusals makes Refusals; it starts nothing.
func NewRefusals(db store.DB, now func() time.Time, log *slog.Logger) *Refusals {
	return &Refusals{db: db, now: now, log: log, wake: make(chan struct{}, 1), doors: map[[2]string]*refusal{}}
}

// Network is the part of an address that one visitor has: all of loopback, an IPv4 address, or the first 64 bits of an IPv6 one. A port
// is left out.
func Network(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		host = remote
	}
	a, err := netip.ParseAddr(host)
	if err != nil {
		return "other"
	}
	switch a = a.Unmap().WithZone(""); {
	case a.IsLoopback():
		return "loopback"
	case a.Is6():
		return netip.PrefixFrom(a, 64).Masked().String()
	}
	return a.String()
}

// Note counts a refused login. It never blocks. A port in the address is left out; of the addresses of one visitor (Network) the line
// names the first.
func (r *Refusals) Note(door, address string) {
	key := [2]string{door, Network(address)}
	if host, _, err := net.SplitHostPort(address); err == nil {
		address = host
	}
	r.mu.Lock()
	e := r.doors[key]
	if e == nil && len(r.doors) >= refusedMost {
		key[1], address = otherAddresses, otherAddresses
		e = r.doors[key]
	}
	if e == nil {
		e = &refusal{address: address}
		r.doors[key] = e
	}
	e.count++
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run writes the lines until ctx ends. It returns nil then.
func (r *Refusals) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	armed := false
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), refusedSettle)
			defer cancel()
			r.write(last, true)
			return nil
		case <-r.wake:
			if !armed {
				timer.Reset(refusedGather)
				armed = true
			}
		case <-timer.C:
			if armed = r.write(ctx, false); armed {
				timer.Reset(refusedGather)
			}
		}
	}
}

// write writes the lines that are due, all of them at the end, and says whether there is anything left to look after.
func (r *Refusals) write(ctx context.Context, end bool) bool {
	now := time.Now() // monotonic
	var lines []Line
	r.mu.Lock()
	for key, e := range r.doors {
		switch over := now.Sub(e.last) >= refusedEvery; {
		case e.count > 0 && (over || end):
			lines = append(lines, Line{At: r.now().UnixMilli(), Actor: Actor{Kind: Stranger, Name: key[0], Address: e.address}, Deed: Deed{
				Deed: LoginRefused, Detail: fmt.Sprintf("%d wrong credential(s)", e.count),
			}})
			e.count, e.last = 0, now
		case e.count == 0 && over:
			delete(r.doors, key)
		}
	}
	left := len(r.doors) > 0
	r.mu.Unlock()
	if len(lines) == 0 {
		return left
	}
	slices.SortFunc(lines, func(a, b Line) int { return slices.Compare([]string{a.Name, a.Address}, []string{b.Name, b.Address}) })
	err := r.db.Write(ctx, func(tx store.Tx) error {
		for _, l := range lines {
			if err := insert(tx, l); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		r.log.Warn("refused logins not written to the audit log", "addresses", len(lines), "err", err)
	}
	return left
}
