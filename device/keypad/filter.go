package keypad

import (
	"time"

	"posagent/device/keypad/entry"
)

const (
	defaultBounce = 30 * time.Millisecond
	heldTooLong   = 10 * time.Second // no person holds a key so long
	mostPresses   = 8                // of one key within rateWindow: no person is faster
	rateWindow    = time.Second      // and how long a contact that floods has to be quiet to count again
)

// contact is one key of the pad.
type contact struct {
	down   bool
	since  time.Time // when it went down, on our clock
	ours   bool      // its last press that was no bounce was delivered: it may repeat
	downAt time.Duration
	edge   time.Duration // the last time that it went down or up
	edged  bool
	again  time.Duration // its last press or repeat
	recent [mostPresses]time.Duration
	n      int // presses that were delivered
	floods bool
}

// filter turns events into presses. It is pure: the time of an event is in it.
type filter struct {
	keys     Map
	bounce   time.Duration
	contacts map[uint16]*contact
	dropping bool // the kernel dropped events: nothing counts until it says that it is whole again
	counts   counts
}

// counts are what became of contacts.
type counts struct {
	presses, bounced, flooded, overflows, unknown uint64

	unknownCode uint16
}

func newFilter(keys Map, bounce time.Duration) *filter {
	f := &filter{keys: keys, bounce: bounce, contacts: make(map[uint16]*contact, len(keys))}
	for code := range keys {
		f.contacts[code] = &contact{}
	}
	return f
}

// feed takes an event. It returns the key that was pressed by it, Gap or None; and whether the state of the pad has to be asked
// for now, because events are missing before this one.
func (f *filter) feed(e event, now time.Time) (k entry.Key, resync bool) {
	switch {
	case e.kind == evSyn && e.code == synDropped:
		f.dropping = true
		return entry.None, false
	case f.dropping:
		if e.kind != evSyn || e.code != synReport {
			return entry.None, false
		}
		f.dropping = false
		f.counts.overflows++
		return entry.None, true
	case e.kind != evKey:
		return entry.None, false
	}
	c := f.contacts[e.code]
	switch {
	case c == nil:
		if e.value == down {
			f.counts.unknown++
			f.counts.unknownCode = e.code
		}
		return entry.None, false
	case e.value == up:
		c.down, c.edge, c.edged = false, e.at, true
		return entry.None, false
	case e.value == repeat:
		return f.repeated(c, e), false
	case e.value == down:
		return f.pressed(c, e, now), false
	}
	return entry.None, false
}

// pressed judges a contact that closes.
func (f *filter) pressed(c *contact, e event, now time.Time) entry.Key {
	quiet := apart(e.at, c.edge)
	bounces := c.down || c.edged && quiet < f.bounce
	if !c.down {
		c.down, c.since, c.downAt = true, now, e.at
	}
	wasEdged := c.edged
	c.edge, c.edged = e.at, true
	switch {
	case bounces:
		f.counts.bounced++
		return entry.None
	case c.floods && wasEdged && quiet < rateWindow:
		f.counts.flooded++
		return entry.None
	}
	c.ours = false
	c.floods = c.n >= mostPresses && apart(e.at, c.recent[c.n%mostPresses]) < rateWindow
	if c.floods {
		f.counts.flooded++
		return entry.Gap
	}
	c.recent[c.n%mostPresses] = e.at
	c.n++
	c.ours, c.again = true, e.at
	f.counts.presses++
	return f.keys[e.code]
}

// repeated judges the repetition of a key that is held: Correct alone takes digit after digit back.
func (f *filter) repeated(c *contact, e event) entry.Key {
	if f.keys[e.code] != entry.Correct || !c.down || !c.ours || apart(e.at, c.again) < f.bounce || apart(e.at, c.downAt) >= heldTooLong {
		return entry.None
	}
	c.again = e.at
	return entry.Correct
}

// apart returns the time between two events. A clock that went back says nothing: then they are far apart.
func apart(later, earlier time.Duration) time.Duration {
	if d := later - earlier; d >= 0 {
		return d
	}
	return heldTooLong
}

// resync takes over which contacts are closed, without a press of any: nobody knows how they came to be.
func (f *filter) resync(closed *bits, now time.Time) {
	for code, c := range f.contacts {
		if is := closed.has(code); is != c.down {
			c.down, c.since = is, now
		}
		c.ours, c.edged = false, false
	}
}

// held returns since when the key is down that has been down longest; the zero time where none is.
func (f *filter) held() (since time.Time) {
	for _, c := range f.contacts {
		if c.down && (since.IsZero() || c.since.Before(since)) {
			since = c.since
		}
	}
	return since
}
