package webhooks_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/webhooks"
	"posagent/schemes/wire"
	"posagent/store"
)

func readFile(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

type wireSecret = wire.Secret

const year = 365 * 24 * time.Hour

func minutes(list ...time.Duration) []time.Duration {
	for i := range list {
		list[i] *= time.Minute
	}
	return list
}

// S0 6.1: at once, ten retries by the first ten intervals, then silence; over a whole year, to the nanosecond.
func TestEveryTryComesInItsMinuteForAYear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, webhooks.Options{})
		r.answer = func(string, int) reply { return reply{status: 500, body: "no"} }
		r.start()
		r.register("s", hook("http://a.test/"))
		r.register("l", webhooks.Hook{Event: "e", URL: "http://b.test/"})
		sleep(time.Second)
		began := time.Now()
		require.Equal(t, 1, r.emit(message("m1")))
		link := message("l1")
		link.Subject, link.Schedule = "l", webhooks.Links
		require.Equal(t, 1, r.emit(link))
		sleep(year)
		standard, links := r.of("a.test"), r.of("b.test")
		require.Less(t, standard[0].at.Sub(began), 10*time.Millisecond)
		want := minutes(2, 5, 10, 15, 20, 25, 30, 40, 50, 60)
		require.Equal(t, want, gaps(standard))
		const day = 24 * 60
		require.Equal(t, minutes(1, 15, 60, 120, 240, day, day, day, day, day), gaps(links))
		require.Len(t, standard, 11)
		require.Len(t, links, 11)
		require.Equal(t, []string{`{"id":"m1"}`}, bodies(standard))
		dead, err := r.d.Dead(t.Context())
		require.NoError(t, err)
		require.Empty(t, dead, "forgotten after the retention")
		r.stop()
	})
}

// Whichever try is acknowledged, it is the last.
func TestAnAcknowledgementEndsIt(t *testing.T) {
	for k := range 11 {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, webhooks.Options{})
			r.answer = func(_ string, n int) reply {
				if n == k {
					return reply{status: 200, body: "thanks"}
				}
				return reply{status: 202}
			}
			r.start()
			r.register("s", hook("http://a.test/"))
			r.emit(message("m1"))
			sleep(24 * time.Hour)
			require.Len(t, r.of("a.test"), k+1)
			list := r.list(webhooks.Filter{})
			require.Len(t, list, 1)
			require.Equal(t, webhooks.Done, list[0].State)
			require.Len(t, list[0].Attempts, k+1)
			require.Equal(t, webhooks.Attempt{N: k + 1, At: list[0].Attempts[k].At, Status: 200, Note: "thanks"}, list[0].Attempts[k])
			r.stop()
		})
	}
}

func TestOnly200Acknowledges(t *testing.T) {
	for _, status := range []int{201, 202, 203, 204, 206, 226, 299, 300, 301, 302, 307, 308, 304, 400, 401, 404, 410, 429, 500, 503, 599, 0} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, webhooks.Options{})
				r.answer = func(string, int) reply { return reply{status: status, head: "Location: http://b.test/\r\n"} }
				r.start()
				r.register("s", hook("http://a.test/"))
				r.emit(message("m1"))
				sleep(time.Minute)
				require.Len(t, r.of("a.test"), 1)
				sleep(time.Minute + time.Second)
				require.Len(t, r.of("a.test"), 2, "tried again after two minutes")
				require.Empty(t, r.of("b.test"), "no redirect is followed")
				require.Equal(t, status, r.list(webhooks.Filter{})[0].Attempts[0].Status)
				r.stop()
			})
		})
	}
}

// A receiver has ten seconds; the interval counts from the try's start all the same.
func TestASlowReplyFails(t *testing.T) {
	for _, row := range []struct {
		schedule webhooks.Schedule
		after    time.Duration
		ok       bool
	}{
		{webhooks.Standard, 9900 * time.Millisecond, true},
		{webhooks.Standard, 10100 * time.Millisecond, false},
		{webhooks.Links, 19900 * time.Millisecond, true},
		{webhooks.Links, 20100 * time.Millisecond, false},
		{webhooks.Standard, year, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, webhooks.Options{})
			r.answer = func(string, int) reply { return reply{status: 200, after: row.after} }
			r.start()
			r.register("s", hook("http://a.test/"))
			m := message("m1")
			m.Schedule = row.schedule
			r.emit(m)
			sleep(30 * time.Second)
			a := r.list(webhooks.Filter{})[0].Attempts[0]
			if row.ok {
				require.Equal(t, 200, a.Status)
				require.InDelta(t, row.after.Milliseconds(), a.Took, 2)
			} else {
				require.Equal(t, webhooks.Attempt{N: 1, At: a.At, Took: row.schedule.Limit().Milliseconds(), Note: "no reply in time"}, a)
				sleep(5 * time.Minute)
				require.Equal(t, row.schedule.Gaps()[0], gaps(r.of("a.test"))[0])
			}
			r.stop()
		})
	}
}

// One endpoint that never answers takes one sender; the others are served at once, and never more than eight at a time.
func TestASlowEndpointHoldsOnlyItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, webhooks.Options{})
		r.answer = func(host string, _ int) reply {
			if host == "a.test" {
				return reply{status: 200, after: year}
			}
			return reply{status: 200, after: 100 * time.Millisecond}
		}
		r.start()
		hosts := []string{"a.test", "b.test", "c.test", "d.test", "e.test", "f.test"}
		for _, h := range hosts {
			r.register(h, hook("http://"+h+"/"))
		}
		const each = 40
		for i := range each {
			for _, h := range hosts {
				m := message(h + strconv.Itoa(i))
				m.Subject = h
				r.emit(m)
			}
		}
		sleep(9 * time.Second)
		require.Len(t, r.of("a.test"), 1)
		for _, h := range hosts[1:] {
			require.Len(t, r.of(h), each)
			require.LessOrEqual(t, r.peak(h), 2)
		}
		require.LessOrEqual(t, r.peak(""), 8)
		require.Greater(t, r.peak(""), 4, "they do run in parallel")
		r.stop()
	})
}

// The end of the process loses nothing: what was queued is sent, what was cut off is sent again, what was acknowledged
// is not, and the schedule goes on.
func TestARestartKeepsTheSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, webhooks.Options{})
		r.answer = func(host string, n int) reply {
			switch {
			case host == "a.test" && n == 0:
				return reply{status: 200, after: 5 * time.Second}
			case host == "b.test":
				return reply{status: 500}
			}
			return reply{status: 200}
		}
		r.start()
		r.register("s", hook("http://a.test/"), hook("http://b.test/"), hook("http://c.test/"))
		r.emit(message("m1"))
		sleep(time.Second)
		r.stop() // a is being asked
		r.start()
		sleep(time.Second)
		require.Len(t, r.of("a.test"), 2, "asked again")
		require.Len(t, r.of("c.test"), 1, "acknowledged before")
		for range 60 {
			r.stop()
			r.start()
			sleep(5 * time.Minute)
		}
		require.Len(t, r.of("a.test"), 2)
		require.Len(t, r.of("c.test"), 1)
		require.Equal(t, minutes(2, 5, 10, 15, 20, 25, 30, 40, 50, 60), gaps(r.of("b.test")))
		require.Equal(t, []string{`{"id":"m1"}`}, bodies(r.of("")))
		r.stop()
	})
}

func TestWhatIsQueuedWithTheProcessDownIsSentLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, webhooks.Options{})
		r.answer = func(string, int) reply { return reply{status: 500} }
		r.start()
		r.register("s", hook("http://a.test/"))
		r.emit(message("m1"))
		sleep(time.Second)
		r.stop()
		sleep(time.Hour)
		r.start()
		sleep(5*time.Minute + time.Second)
		hits := r.of("a.test")
		require.Len(t, hits, 3)
		require.Equal(t, 5*time.Minute, hits[2].at.Sub(hits[1].at), "the next interval counts from the late try")
		r.stop()
	})
}

func TestAnEndpointThatLetsTwentyDieIsPaused(t *testing.T) {
	for _, resumed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, webhooks.Options{})
			var ok atomic.Bool
			r.answer = func(host string, _ int) reply {
				if host == "b.test" || ok.Load() {
					return reply{status: 200}
				}
				return reply{status: 500}
			}
			r.start()
			r.register("s", hook("http://a.test/"), hook("http://b.test/"))
			for i := range 19 {
				r.emit(message(strconv.Itoa(i)))
			}
			sleep(6 * time.Hour)
			require.Len(t, r.list(webhooks.Filter{State: webhooks.Dead}), 19)
			r.emit(message("twentieth"))
			sleep(257*time.Minute + time.Second)
			require.Len(t, r.of("a.test"), 20*11, "every one had its eleven tries")
			r.emit(message("held"))
			sleep(30 * time.Minute)
			require.Len(t, r.of("a.test"), 20*11)
			require.Len(t, r.of("b.test"), 21, "another endpoint is none the worse")
			list := r.list(webhooks.Filter{State: webhooks.Queued})
			require.Len(t, list, 1)
			require.Equal(t, "20 deliveries in a row were given up, the last one after status 500", list[0].Paused)
			r.stop()
			r.start()
			sleep(29*time.Minute + 58*time.Second)
			require.Len(t, r.of("a.test"), 20*11, "a restart does not end the pause")
			ok.Store(true)
			if resumed {
				require.NoError(t, r.d.Resume(t.Context(), "http://a.test/whatever"))
				sleep(time.Second)
			} else {
				sleep(2 * time.Second)
			}
			require.Len(t, r.of("a.test"), 20*11+1)
			r.emit(message("after"))
			sleep(time.Second)
			require.Len(t, r.of("a.test"), 20*11+2)
			require.Empty(t, r.list(webhooks.Filter{State: webhooks.Queued}))
			r.stop()
		})
	}
}

// A try that is under way when the pause begins obeys it too.
func TestAPauseHoldsWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, webhooks.Options{})
		var slow atomic.Bool
		r.answer = func(string, int) reply {
			if slow.CompareAndSwap(true, false) {
				return reply{status: 500, after: 5 * time.Second}
			}
			return reply{status: 500}
		}
		r.start()
		r.register("s", hook("http://a.test/"))
		for i := range 20 {
			r.emit(message(strconv.Itoa(i)))
		}
		sleep(257*time.Minute - time.Second)
		slow.Store(true)
		r.emit(message("slow"))
		sleep(time.Minute)
		sent := len(r.of(""))
		require.Equal(t, 20*11+1, sent)
		list := r.list(webhooks.Filter{State: webhooks.Queued})
		require.Len(t, list, 1)
		require.Len(t, list[0].Attempts, 1)
		require.NotEmpty(t, list[0].Paused)
		sleep(58 * time.Minute)
		require.Len(t, r.of(""), sent)
		sleep(2 * time.Minute)
		require.Len(t, r.of(""), sent+1)
		r.stop()
	})
}

func TestReplayAndResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, webhooks.Options{})
		var status atomic.Int64
		status.Store(500)
		r.answer = func(string, int) reply { return reply{status: int(status.Load())} }
		r.start()
		r.register("s", hook("http://a.test/"))
		r.emit(message("m1"))
		sleep(5 * time.Hour)
		since := time.Now()
		r.emit(message("m2"))
		sleep(5 * time.Hour)
		require.Len(t, r.of(""), 22)
		status.Store(200)
		n, err := r.d.ReplaySince(t.Context(), since)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		sleep(time.Second)
		require.Len(t, r.of(""), 23)
		require.Equal(t, `{"id":"m2"}`, r.of("")[22].body)
		n, err = r.d.ReplayOne(t.Context(), "m1")
		require.NoError(t, err)
		require.Equal(t, 1, n)
		sleep(time.Second)
		require.Equal(t, `{"id":"m1"}`, r.of("")[23].body)
		dead, err := r.d.Dead(t.Context())
		require.NoError(t, err)
		require.Empty(t, dead)
		a, err := r.d.Attempts(t.Context(), 1)
		require.NoError(t, err)
		require.Len(t, a, 12)
		_, err = r.d.ReplayOne(t.Context(), "m3")
		require.ErrorContains(t, err, "no such event")
		r.stop()
	})
}

func TestAnEmitBelongsToItsCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, webhooks.Options{})
		r.start()
		r.register("s", hook("http://a.test/"), webhooks.Hook{Event: "other", URL: "http://b.test/"})
		require.ErrorIs(t, r.db.Write(t.Context(), func(tx store.Tx) error {
			_, err := r.d.Emit(tx, message("m0"))
			require.NoError(t, err)
			return errStop
		}), errStop)
		require.Equal(t, 1, r.emit(message("m1")), "only hooks that name the event")
		require.Equal(t, 0, r.emit(message("m1")), "an id has one effect")
		m := message("m2")
		m.Subject = "nobody"
		require.Equal(t, 0, r.emit(m))
		m = message("m3")
		m.Event = "E"
		require.Equal(t, 0, r.emit(m))
		sleep(time.Second)
		require.Equal(t, []string{`{"id":"m1"}`}, bodies(r.of("")))
		r.register("s", hook("http://c.test/"))
		r.emit(message("m4"))
		sleep(time.Second)
		require.Len(t, r.of("a.test"), 1)
		require.Len(t, r.of("c.test"), 1)
		for _, bad := range []webhooks.Message{{}, {ID: "x", Event: "e"}, {ID: "x", Subject: "s", Event: "e", Body: make([]byte, webhooks.MaxBody+1)}} {
			require.Error(t, r.db.Write(t.Context(), func(tx store.Tx) error { _, err := r.d.Emit(tx, bad); return err }))
		}
		r.stop()
	})
}

func TestAForgottenPokeCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, webhooks.Options{})
		r.start()
		r.register("s", hook("http://a.test/"))
		sleep(30 * time.Hour)
		began := time.Now()
		require.NoError(t, r.db.Write(t.Context(), func(tx store.Tx) error {
			_, err := r.d.Emit(tx, message("m1"))
			return err
		}))
		sleep(time.Minute)
		require.Less(t, r.of("")[0].at.Sub(began), 100*time.Millisecond)
		r.stop()
	})
}

// A commit that takes its time is found all the same.
func TestASlowCommitIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, webhooks.Options{})
		r.start()
		r.register("s", hook("http://a.test/"))
		sleep(time.Hour)
		require.NoError(t, r.db.Write(t.Context(), func(tx store.Tx) error {
			_, err := r.d.Emit(tx, message("m1"))
			sleep(10 * time.Second) // as a card does that is at its end
			return err
		}))
		sleep(30 * time.Second)
		require.Len(t, r.of(""), 1)
		r.stop()
	})
}

func TestSecretsAreEchoedAndSealed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, webhooks.Options{})
		r.answer = func(string, int) reply {
			return reply{status: 500, body: "you said Bearer whisper-1 and\x00\x1b[31m whisper-2 " + strings.Repeat("é", 300)}
		}
		r.start()
		r.register("s", webhooks.Hook{Event: "e", URL: "http://a.test/x?token=whisper-3", Authorization: "Bearer whisper-1",
			Headers: [][2]string{{"X-Shop", "whisper-2"}, {"X-Shop", "second"}}})
		m := message("m1")
		m.Headers, m.ContentType = [][2]string{{"X-Sum", "abc"}}, "application/vnd.x+json"
		r.emit(m)
		sleep(2*time.Minute + time.Second)
		hits := r.of("")
		require.Len(t, hits, 2)
		for _, h := range hits {
			require.Equal(t, []string{"Bearer whisper-1"}, h.head["Authorization"])
			require.Equal(t, []string{"whisper-2", "second"}, h.head["X-Shop"])
			require.Equal(t, "abc", h.head.Get("X-Sum"))
			require.Equal(t, "application/vnd.x+json", h.head.Get("Content-Type"))
			require.NotContains(t, h.head, "Webhook-Signature")
		}
		list := r.list(webhooks.Filter{})
		note := list[0].Attempts[0].Note
		require.Len(t, []rune(note), 200)
		require.True(t, strings.HasPrefix(note, "you said [secret] and  [31m [secret] é"), note)
		require.Equal(t, "http://a.test/x", list[0].URL)
		require.False(t, contains(t, r, "whisper-1"))
		require.False(t, contains(t, r, "whisper-2"))
		require.True(t, contains(t, r, "application/vnd.x"), "the search would find it")
		r.stop()
	})
}

func TestSignaturesOfBothSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, webhooks.Options{Sign: []wireSecret{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "older"}})
		r.opt.Now = func() time.Time { return time.Unix(1614265330, 0) }
		r.start()
		r.register("s", hook("http://a.test/"))
		m := message("msg_p5jXN8AQM9LWM0D4loKWxJek")
		m.Body = []byte(`{"test": 2432232314}`)
		r.emit(m)
		sleep(time.Second)
		h := r.of("")[0].head
		require.Equal(t, "msg_p5jXN8AQM9LWM0D4loKWxJek", h.Get("Webhook-Id"))
		require.Equal(t, "1614265330", h.Get("Webhook-Timestamp"))
		list := strings.Fields(h.Get("Webhook-Signature"))
		require.Len(t, list, 2)
		require.Equal(t, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", list[0])
		require.NotEqual(t, list[0], list[1])
		r.stop()
	})
}

// said is a log that several write to.
type said struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// A process that woke after its lease was taken sends what another one is sending, too: the attempt is recorded once, and the schedule
// goes on as if it had been made once. What another process has emitted is looked for within a second.
func TestTwoProcessesMakeOneAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said said
		r := newRig(t, webhooks.Options{Shared: true, Log: slog.New(slog.NewTextHandler(&said, nil))})
		r.answer = func(_ string, n int) reply { return reply{status: 500, after: time.Duration(n+1) * 3 * time.Second} }
		r.start()
		other := webhooks.New(r.opt)
		ctx, end := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- other.Run(ctx) }()
		r.register("s", hook("http://a.test/x"))
		sleep(time.Hour) // whoever slept for as long as there was nothing to do
		r.emit(message("m1"))
		sleep(9 * time.Second)
		require.Len(t, r.of("a.test"), 2, "both have sent it")
		list := r.list(webhooks.Filter{})
		require.Len(t, list, 1)
		require.Len(t, list[0].Attempts, 1)
		end()
		require.ErrorIs(t, <-done, context.Canceled)
		sleep(24 * time.Hour)
		require.Greater(t, len(r.list(webhooks.Filter{})[0].Attempts), 1, "it goes on")
		r.stop()
		require.Contains(t, said.String(), "another process has made this attempt, too")
		require.NotContains(t, said.String(), "delivery not recorded")
	})
}
