package webhooks_test

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/webhooks"
	"posagent/store"
)

// TestField2_S4SendersAreKeptForEndpointsThatAnswer: whatever backlog of endpoints there is that hang, refuse, or answer late, an
// endpoint that is well has its first event within two seconds and the rest after it, each subject's in their order; an endpoint whose
// last try timed out has one attempt at a time. The kind: backlogs of few and of many such endpoints, met before and after a restart.
func TestField2_S4SendersAreKeptForEndpointsThatAnswer(t *testing.T) {
	names := func(n int) (list []string) {
		for i := range n {
			list = append(list, "hang"+strconv.Itoa(i)+".test")
		}
		return list
	}
	for _, row := range []struct {
		name    string
		sick    int
		each    int // events of each of them
		answer  reply
		restart bool
	}{
		{"six that hang", 6, 12, reply{status: 200, after: year}, false},
		{"sixty that hang", 60, 3, reply{status: 200, after: year}, false},
		{"a hundred that hang", 100, 1, reply{status: 200, after: year}, false},
		{"six that hang, after a restart", 6, 12, reply{status: 200, after: year}, true},
		{"six that answer after eight seconds", 6, 12, reply{status: 200, after: 8 * time.Second}, false},
		{"six that hang up", 6, 12, reply{}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sick := names(row.sick)
				r := newRig(t, webhooks.Options{Allow: append(sick, "well.test")})
				r.answer = func(host string, _ int) reply {
					if host == "well.test" {
						return reply{status: 200, after: 50 * time.Millisecond}
					}
					return row.answer
				}
				r.start()
				r.register("well", hook("http://well.test/"))
				for _, h := range sick {
					r.register(h, hook("http://"+h+"/"))
				}
				well := message("before")
				well.Subject = "well"
				r.emit(well)
				sleep(time.Second)
				require.NoError(t, r.db.Write(t.Context(), func(tx store.Tx) (err error) { // all at once: virtual time stands still
					for i := range row.each {
						for _, h := range sick {
							m := message(h + strconv.Itoa(i))
							m.Subject = h
							if _, err = r.d.Emit(tx, m); err != nil {
								return err
							}
						}
					}
					return err
				}))
				if row.restart {
					r.stop()
					r.start()
				}
				sleep(100 * time.Millisecond)
				began := time.Now()
				const events = 18
				for i := range events {
					well.ID, well.Body = "well"+strconv.Itoa(i), []byte(strconv.Itoa(i))
					r.emit(well)
				}
				sleep(30 * time.Second)
				hits := r.of("well.test")[1:]
				require.Len(t, hits, events)
				require.LessOrEqual(t, hits[0].at.Sub(began), 2*time.Second, "the first event")
				require.LessOrEqual(t, hits[events-1].at.Sub(began), 10*time.Second, "the last event")
				for i, h := range hits {
					require.Equal(t, strconv.Itoa(i), h.body, "in their order")
				}
				for _, h := range sick {
					if row.answer.after == year {
						require.LessOrEqual(t, len(r.of(h)), 4, "one attempt of ten seconds after the other at %s", h)
					}
				}
				r.stop()
			})
		})
	}
}
