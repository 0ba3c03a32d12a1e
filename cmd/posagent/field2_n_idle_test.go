package main

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestField2_N7AnIdleDay: an enrolled terminal that sold nothing asked its fleet 2,880 times a day, each time over a TLS connection of its
// own. In virtual time: a day in which nothing happens, and one with a write each five minutes. The kind is what a terminal asks by
// itself: the fleet for a configuration, and the fleet with a report, which goes over the same connection; readiness asks nothing while
// the terminal is ready, the outbox nothing while it is empty.
func TestField2_N7AnIdleDay(t *testing.T) {
	for name, tc := range map[string]struct {
		writes        time.Duration // between two, 0 = none
		least, most   int           // rounds
		leastC, mostC int           // connections: rounds that find none of the one before
	}{
		"idle":  {0, 90, 140, 80, 140},
		"sales": {5 * time.Minute, 1300, 1600, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, began, last := newRounds(), time.Now(), time.Time{}
				asked, told, connections := 0, 0, 0
				for now := began; now.Sub(began) < 24*time.Hour; now = time.Now() {
					commits := int64(0)
					if tc.writes > 0 {
						commits = int64(now.Sub(began) / tc.writes)
					}
					o.look(now, commits, "", false)
					if o.refresh.due(now) {
						if now.Sub(last) > keepFleet {
							connections++
						}
						asked, last = asked+1, now
						o.refreshed(now, nil)
					}
					if o.report.due(now) {
						require.Equal(t, last, now, "they go together")
						told++
						o.report.asked(now, nil)
					}
					time.Sleep(lookAgain)
				}
				require.Equal(t, asked, told)
				require.GreaterOrEqual(t, asked, tc.least)
				require.LessOrEqual(t, asked, tc.most)
				require.GreaterOrEqual(t, connections, tc.leastC)
				require.LessOrEqual(t, connections, tc.mostC)
			})
		})
	}
}

// A terminal that has rested asks its fleet with its first write: whether it is the terminal still must not wait for a quarter of an hour.
func TestField2_N7TheFirstWriteAsksTheFleet(t *testing.T) {
	now := time.Date(2026, 11, 29, 6, 0, 0, 0, time.UTC)
	for name, wakes := range map[string]func(o *rounds){
		"a sale":                 func(o *rounds) { o.look(now, 8, "a", false) },
		"another enrolment":      func(o *rounds) { o.look(now, 7, "b", false) },
		"an unproven revision":   func(o *rounds) { o.look(now, 7, "a", true) },
		"nothing (a minute on)":  func(o *rounds) { o.look(now, 7, "a", false) },
		"nothing (it was asked)": func(o *rounds) {},
	} {
		o := newRounds()
		o.look(now.Add(-time.Hour), 7, "a", false)
		o.look(now.Add(-time.Second), 7, "a", false)
		o.refreshed(now.Add(-time.Second), nil)
		require.False(t, o.refresh.due(now.Add(5*time.Minute)), "it rests")
		wakes(&o)
		require.Equal(t, !strings.HasPrefix(name, "nothing"), o.refresh.due(now), name)
	}
}
