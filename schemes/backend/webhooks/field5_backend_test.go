package webhooks_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/webhooks"
	"posagent/store"
)

// TestField5_AClockThatWasAheadHoldsNothingBack: what was queued while the machine's clock was a year ahead waited for that year once the
// clock was right. The kind: a first try, a retry, and the pause of an endpoint with what was queued in it, put off by the clock of this
// process (set back while it runs, and before a start). What another process on the same books has put off is found by the same look. No
// interval of a schedule is as long as what is called back.
func TestField5_AClockThatWasAheadHoldsNothingBack(t *testing.T) {
	for _, row := range []struct {
		name    string
		restart bool
	}{{"set back while it runs", false}, {"set back before a start", true}} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ahead atomic.Int64
				r := newRig(t, webhooks.Options{Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
				for _, s := range []webhooks.Schedule{webhooks.Standard, webhooks.Links} { // nothing of a right clock is called back
					for _, gap := range s.Gaps() {
						require.Less(t, gap, 25*time.Hour)
					}
				}
				well := false
				r.answer = func(host string, n int) reply {
					if host == "a.test" || well {
						return reply{status: 200}
					}
					return reply{status: 500}
				}
				r.start()
				r.register("s", hook("http://a.test/"))
				r.register("retry", hook("http://b.test/"))
				r.register("paused", hook("http://c.test/"))
				ahead.Store(int64(year))
				failed := message("failed")
				failed.Subject = "retry"
				r.emit(failed)
				sleep(time.Second)
				require.NoError(t, r.db.Write(t.Context(), func(tx store.Tx) error {
					_, err := tx.Exec(`INSERT INTO deliver_endpoint (origin, dead, until_ms, reason) VALUES ('http://c.test:80', 20, ?, 'dead')`, time.Now().Add(year+time.Hour).UnixMilli())
					return err
				}))
				paused := message("paused")
				paused.Subject = "paused"
				r.emit(paused)
				before := len(r.of("b.test"))
				if row.restart {
					r.stop()
					ahead.Store(0)
					r.start()
				} else {
					r.emit(message("first")) // not looked at before the clock is right
					ahead.Store(0)
				}
				well = true
				sleep(3 * time.Minute)
				for _, v := range r.list(webhooks.Filter{}) {
					require.Equal(t, webhooks.Done, v.State, "%s: %s", v.Message, time.UnixMilli(v.Due))
				}
				require.Greater(t, len(r.of("b.test")), before)
				require.NotEmpty(t, r.of("c.test"))
				r.stop()
			})
		})
	}
}
