package gateway_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/cross/need"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/store"
)

// The tests of this file bring a client's write to each moment at which something is to be decided, change
// the world there, and let its client repeat it until it has an end. The backend's books are the judge.
// They are the cells of cross/decisions that are said of every moment at once.

// repeated is a sale of 10.00 and a refund of 3.00 of it, each under a key of its client.
type repeated struct {
	*shop
	refunds bool   // what is decided about is the refund, else the sale
	id      string // of the sale, as its client knows it
	other   []byte // the answer to another client's create
	person  bool   // a person releases what is held
	held    bool   // and has to decide about the repeat still
}

const (
	strangers = 7_77
	slow      = 25 * time.Second // of virtual time
)

// ask repeats the write under its key; nil = it is at its end, and went well.
func (p *repeated) ask() (pending *wire.Pending, err error) {
	if p.refunds {
		d, err := p.pay.Refund(p.t.Context(), "r1", p.id, payments.RefundRequest{Amount: some(300)})
		return d.Operation, err
	}
	c, err := p.pay.Create(p.t.Context(), "p1", moto(payments.ProcessSale, 1000))
	if err == nil {
		p.id = c.PaymentID
	}
	return c.Operation, err
}

// stages are where a write can stand.
func stages() map[string]func(p *repeated) {
	stand := func(refund, off bool, way mode, d time.Duration) func(p *repeated) {
		return func(p *repeated) {
			if p.refunds = refund; refund {
				c, err := p.pay.Create(p.t.Context(), "p1", moto(payments.ProcessSale, 1000))
				require.NoError(p.t, err)
				require.Nil(p.t, c.Operation)
				p.id = c.PaymentID
			}
			p.cable.set(off, way)
			_, err := p.ask()
			require.NoError(p.t, err)
			p.pass(d)
		}
	}
	return map[string]func(p *repeated){
		"sale waits":             stand(false, true, nil, time.Second),
		"sale sent, no answer":   stand(false, false, lost, 10*time.Second),
		"sale done, told":        stand(false, false, nil, time.Second),
		"refund waits":           stand(true, true, nil, time.Second),
		"refund sent, no answer": stand(true, false, lost, 10*time.Second),
		"refund done, told":      stand(true, false, nil, time.Second),
	}
}

// ends mends the way and lets the client repeat its write until it has its end; then the books are read.
func (p *repeated) ends() {
	p.t.Helper()
	p.mend()
	p.pass(2 * time.Minute)
	if p.person {
		p.release()
	}
	done := false
	for range 10 {
		pending, err := p.ask()
		if done = err == nil && pending == nil; done {
			break
		}
		p.pass(2 * time.Minute)
	}
	require.Equal(p.t, !p.held, done, "asked again and again it comes to its end, or is held")
	entries, err := p.backend.Books(p.t.Context())
	require.NoError(p.t, err)
	sales, back := map[string]bool{}, 0
	for _, e := range entries {
		switch {
		case strings.Contains(strings.ToLower(e.Type), "refund"):
			back++
			require.EqualValues(p.t, 300, e.Amount)
		case e.Amount != strangers:
			sales[e.Reference] = true
		}
	}
	require.Len(p.t, sales, 1, "one sale under one key: %v", entries)
	require.Equal(p.t, map[bool]int{true: 1, false: 0}[p.refunds], back, "one refund under one key: %v", entries)
}

// repeats runs a change at every stage.
func repeats(t *testing.T, change func(p *repeated)) {
	t.Helper()
	for name, reach := range stages() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
				p := &repeated{shop: s}
				s.cable.set(false, func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
					resp, err := answer()
					if err != nil || r.Method == http.MethodGet {
						return resp, err
					}
					p.other, err = io.ReadAll(resp.Body)
					resp.Body = io.NopCloser(bytes.NewReader(p.other))
					return resp, err
				})
				_, err := s.pay.Create(t.Context(), "", moto(payments.ProcessSale, strangers))
				require.NoError(t, err)
				s.cable.set(false, nil)
				reach(p)
				change(p)
				p.ends()
			})
		})
	}
}

func TestDecisions_TheProcessStartsAgain(t *testing.T) {
	t.Parallel()
	repeats(t, func(p *repeated) { p.stop(); p.start(); p.pass(time.Minute) })
}

// An older backup: the write came to its end since.
func TestDecisions_AnOlderBackup(t *testing.T) {
	t.Parallel()
	repeats(t, func(p *repeated) {
		backup := p.backup()
		p.mend()
		p.pass(2 * time.Minute)
		p.person = true
		p.restore(backup)
	})
}

// A new journal in the place of a lost one; what makes our Keys of the clients' has outlived it.
func TestDecisions_ANewJournal(t *testing.T) {
	t.Parallel()
	repeats(t, func(p *repeated) {
		if p.refunds { // its client knows the backend's id, or asks for the sale under its key first
			p.mend()
			p.pass(2 * time.Minute)
		}
		p.lose()
		p.person, p.held = true, p.refunds // it may have been sent under the Key of a payment that is not known here
	})
}

// The next commits fail, before or after what they hold was run.
func TestDecisions_AWriteFails(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]bool{"not run": false, "run": true} {
		t.Run(name, func(t *testing.T) {
			repeats(t, func(p *repeated) {
				var n atomic.Int64
				p.db.stand(func(ctx context.Context, write func() error) error {
					if n.Add(1) > 5 {
						return write()
					}
					return store.ErrFull
				})
				if run {
					p.mend()
				}
				p.pass(time.Minute)
			})
		})
	}
}

// onTheWay lets every answer to a write from now on pass a mode, for a while.
func onTheWay(how mode) func(p *repeated) {
	return func(p *repeated) {
		p.cable.set(false, how)
		p.box.Online()
		p.pass(time.Duration(need.Size(3, 20)) * time.Minute)
	}
}

func TestDecisions_TheAnswerIsLate(t *testing.T) {
	t.Parallel()
	repeats(t, onTheWay(func(_ *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
		<-time.After(slow)
		return answer()
	}))
}

func TestDecisions_TheAnswerIsDoubled(t *testing.T) {
	t.Parallel()
	repeats(t, func(p *repeated) {
		onTheWay(func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
			if r.Method == http.MethodGet {
				return answer()
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			twin := r.Clone(r.Context())
			twin.Body, r.Body = io.NopCloser(bytes.NewReader(body)), io.NopCloser(bytes.NewReader(body))
			if resp, err := p.cable.to.Do(twin); err == nil {
				_ = resp.Body.Close()
			}
			return answer()
		})(p)
	})
}

// Every answer to a write is the one to another client's create.
func TestDecisions_TheAnswerIsAnothers(t *testing.T) {
	t.Parallel()
	repeats(t, func(p *repeated) {
		onTheWay(func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
			resp, err := answer()
			if err == nil && r.Method != http.MethodGet {
				resp.Body = io.NopCloser(bytes.NewReader(p.other))
			}
			return resp, err
		})(p)
	})
}

// Every answer is a page of a proxy, good or bad, or cut.
func TestDecisions_TheAnswerIsUnreadable(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]string{"a page": "<html>busy</html>", "nothing": "", "half of it": `{"paymentId":"1`} {
		for _, status := range []int{200, 404, 502}[:need.Size(2, 3)] {
			t.Run(name+" "+http.StatusText(status), func(t *testing.T) {
				repeats(t, onTheWay(func(*http.Request, func() (*http.Response, error)) (*http.Response, error) {
					return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(page))}, nil
				}))
			})
		}
	}
}

// Another client asks the same under the same key of its own: it is another sale.
func TestDecisions_AnotherClientAsksTheSame(t *testing.T) {
	t.Parallel()
	for name, reach := range stages() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
				p := &repeated{shop: s}
				reach(p)
				s.mend()
				kiosk := wire.WithCaller(t.Context(), wire.Caller{Name: "kiosk", Own: true})
				if p.refunds {
					_, err := s.pay.Refund(kiosk, "r1", p.id, payments.RefundRequest{Amount: some(300)})
					require.Equal(t, wire.NotFound, wire.CodeOf(err), "it is not the kiosk's: %v", err)
				} else {
					c, err := s.pay.Create(kiosk, "p1", moto(payments.ProcessSale, strangers))
					require.NoError(t, err, "its key is its own, whatever the other's body")
					require.NotEqual(t, p.id, c.PaymentID)
				}
				p.ends()
			})
		})
	}
}

// While the journal cannot be written nothing of an old operation is gone; then it goes whole, and what is
// kept of its client's key stays for ever: it is never sent again.
func TestDecisions_NothingIsForgottenByHalf(t *testing.T) {
	t.Parallel()
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		s.stop()
		s.retention = time.Hour
		s.start()
		s.pass(time.Second)
		p := &repeated{shop: s}
		pending, err := p.ask()
		require.NoError(t, err)
		require.Nil(t, pending)
		id := p.id
		s.db.stand(func(context.Context, func() error) error { return store.ErrFull })
		s.pass(5 * time.Hour)
		s.db.stand(nil)
		require.Len(t, s.ops(), 1)
		_, err = p.ask()
		require.NoError(t, err)
		require.Equal(t, id, p.id, "its frozen answer")
		s.pass(5 * time.Hour)
		require.Empty(t, s.ops())
		for range 2 {
			_, err = p.ask()
			require.Equal(t, wire.Gone, wire.CodeOf(err), "%v", err)
			s.pass(time.Hour)
		}
		require.Len(t, s.cable.writes(), 1)
	})
}
