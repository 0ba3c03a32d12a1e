package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
	"posagent/store"
)

// about is a thing that a client makes and one write about it, under keys of its own.
type about struct {
	path  *regexp.Regexp // of the write
	about string
	make  func(t *testing.T, s *shop) (id string, pending bool)
	write func(t *testing.T, s *shop, id string) (*wire.Pending, error)
}

// everything is every write about a thing that is made here. A transaction of a link (charge, capture, refund, cancel) is not: the
// service makes it, and its id is the only one.
func everything() map[string]about {
	pay := func(processing, path string, write func(t *testing.T, s *shop, id string) (payments.Done, error)) about {
		return about{
			path: regexp.MustCompile("(?i)" + path + "$"), about: "payment",
			make: func(t *testing.T, s *shop) (string, bool) {
				c, err := s.pay.Create(t.Context(), "c1", moto(processing, 1000))
				require.NoError(t, err)
				return c.PaymentID, c.Operation != nil
			},
			write: func(t *testing.T, s *shop, id string) (*wire.Pending, error) {
				d, err := write(t, s, id)
				return d.Operation, err
			},
		}
	}
	return map[string]about{
		"payments.authorize": pay(payments.ProcessVerify, "/authorize", func(t *testing.T, s *shop, id string) (payments.Done, error) {
			return s.pay.Authorize(t.Context(), "w1", id, payments.AuthorizeRequest{Amount: some(1000)})
		}),
		"payments.capture": pay(payments.ProcessAuthorize, "/capture", func(t *testing.T, s *shop, id string) (payments.Done, error) {
			return s.pay.Capture(t.Context(), "w1", id, payments.CaptureRequest{Amount: some(300)})
		}),
		"payments.cancel": pay(payments.ProcessAuthorize, "/cancel", func(t *testing.T, s *shop, id string) (payments.Done, error) {
			return s.pay.Cancel(t.Context(), "w1", id, payments.CancelRequest{})
		}),
		"payments.refund": pay(payments.ProcessSale, "/refund", func(t *testing.T, s *shop, id string) (payments.Done, error) {
			return s.pay.Refund(t.Context(), "w1", id, payments.RefundRequest{Amount: some(300)})
		}),
		"tokens.verify": {
			path: regexp.MustCompile("/Verify$"), about: "token",
			make: func(t *testing.T, s *shop) (string, bool) {
				c, err := s.tok.Create(t.Context(), "c1", tokens.CreateRequest{CardDetails: &tokens.CardDetails{PAN: wire.NewPAN(visa), ExpiryYear: 2099, ExpiryMonth: 12}})
				require.NoError(t, err)
				return c.TokenizationID, c.Operation != nil
			},
			write: func(t *testing.T, s *shop, id string) (*wire.Pending, error) {
				c, err := s.tok.Verify(t.Context(), "w1", id)
				return c.Operation, err
			},
		},
		"paylinks.delete": {
			path: regexp.MustCompile("/Invoice/[0-9]+/?$"), about: "link",
			make: func(t *testing.T, s *shop) (string, bool) {
				c, err := s.front.Links().Create(t.Context(), "c1", order(func(r *paylinks.CreateRequest) { r.ReferenceID = "ORDER-7" }))
				require.NoError(t, err)
				return strconv.FormatInt(c.ID, 10), c.Operation != nil
			},
			write: func(t *testing.T, s *shop, id string) (*wire.Pending, error) {
				n, err := strconv.ParseInt(id, 10, 64)
				require.NoError(t, err)
				d, err := s.front.Links().Delete(t.Context(), "w1", n)
				return d.Operation, err
			},
		},
	}
}

// anID is the backend's id in its answer to a create.
var anID = regexp.MustCompile(`"(?:paymentId|tokenizationId|id)": ?"?([0-9a-f]+)`)

// keysOf are the Keys under which a write of a thing reached the backend.
func (s *shop) keysOf(a about) map[string]bool {
	keys := map[string]bool{}
	for _, w := range s.cable.writes() {
		if a.path.MatchString(w.path) {
			keys[w.key] = true
		}
	}
	return keys
}

// named is the backend's id of the only thing of a kind, "" = it is not known.
func (s *shop) named(about string) (id string) {
	s.t.Helper()
	require.NoError(s.t, s.db.Read(s.t.Context(), func(r store.Reader) error {
		return r.QueryRow(`SELECT COALESCE(MAX(backend), '') FROM offline_things WHERE about = ?`, about).Scan(&id)
	}))
	return id
}

// lose begins a new journal in the place of one that was lost, as reset --lost-journal does.
func (s *shop) lose() {
	s.t.Helper()
	secret := filepath.Join(filepath.Dir(s.path), "callers.secret")
	s.stop()
	s.path, s.secret, s.restored = filepath.Join(s.t.TempDir(), "agent.db"), secret, "the journal was lost"
	s.start()
	require.NoError(s.t, s.db.Write(s.t.Context(), func(tx store.Tx) error {
		return store.KeepLost(tx, store.Lost{Before: store.Before{Kind: store.WasLost}, Generation: 2, RunMS: 1})
	}))
	s.pass(time.Second)
}

// release is what a person does after a restore, before any client has repeated a key.
func (s *shop) release() {
	s.t.Helper()
	_, err := s.box.ReleaseEach(s.t.Context())
	require.NoError(s.t, err)
	s.pass(time.Minute)
}

// One Idempotency-Key of a client is one Key, whichever id names the thing and whatever is mapped meanwhile, also after a restore or a
// loss; or it is held for a person. Kind: every write about what is made here. Held: what the journal cannot know to be the same.
func TestField2_M19OneKeyOfAClientIsOneKey(t *testing.T) {
	for kind, a := range everything() {
		// before makes the thing and asks for the write while the thing has no id of the backend's, and lets both be done.
		before := func(t *testing.T, s *shop) (local, backup string) {
			s.cut()
			local, pending := a.make(t, s)
			require.True(t, pending)
			s.pass(2 * time.Second)
			backup = s.backup()
			op, err := a.write(t, s, local)
			require.NoError(t, err)
			require.NotNil(t, op)
			s.mend()
			s.pass(time.Minute)
			require.Equal(t, outbox.Done, s.op(op.Key).State, s.op(op.Key).Reason)
			require.Len(t, s.keysOf(a), 1, "%v", s.cable.writes())
			return local, backup
		}
		// again asks for the write again; held says that it waits for a person then.
		again := func(t *testing.T, s *shop, id string, held bool) {
			t.Helper()
			for range 2 {
				op, err := a.write(t, s, id)
				require.NoError(t, err)
				require.Equal(t, held, op != nil && s.op(op.Key).State == outbox.Held, "%s", id)
				s.pass(time.Hour)
			}
		}
		t.Run(kind+", restored", func(t *testing.T) {
			inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
				_, backup := before(t, s)
				backend := s.named(a.about)
				s.restore(backup)
				again(t, s, backend, true) // nothing says yet that it was made here
				require.Len(t, s.keysOf(a), 1, "%v", s.cable.writes())
			})
			inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
				local, backup := before(t, s)
				s.restore(backup)
				s.release()
				if a.about == "link" { // the backend of the test knows its keys, the contract does not: a person has released it
					again(t, s, s.named(a.about), false)
					return
				}
				again(t, s, local, false)
				again(t, s, s.named(a.about), false)
				require.Len(t, s.keysOf(a), 1, "%v", s.cable.writes())
			})
		})
		t.Run(kind+", lost", func(t *testing.T) {
			inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
				local, _ := before(t, s)
				backend := s.named(a.about)
				s.lose()
				s.release()
				again(t, s, backend, true) // released or not: it may have been asked for by another name
				require.Len(t, s.keysOf(a), 1, "%v", s.cable.writes())
				if a.about == "link" {
					return // its create is another link
				}
				_, pending := a.make(t, s)
				require.False(t, pending)
				again(t, s, backend, true)
				again(t, s, local, true)
				require.Len(t, s.keysOf(a), 1, "%v", s.cable.writes())
			})
			if a.about == "link" {
				return
			}
			inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
				local, _ := before(t, s)
				backend := s.named(a.about)
				s.lose()
				s.release()
				a.make(t, s)
				again(t, s, local, false)
				again(t, s, backend, false)
				require.Len(t, s.keysOf(a), 1, "%v", s.cable.writes())
			})
		})
		t.Run(kind+", named by the backend's id before that was known here", func(t *testing.T) {
			inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
				var answer []byte
				s.cable.set(false, func(_ *http.Request, do func() (*http.Response, error)) (*http.Response, error) {
					r, err := do()
					if err == nil {
						answer, err = io.ReadAll(r.Body)
					}
					return nil, errors.Join(err, &net.OpError{Op: "read", Err: context.DeadlineExceeded})
				})
				local, _ := a.make(t, s)
				s.cut()
				backend := string(anID.FindSubmatch(answer)[1])
				first, err := a.write(t, s, backend)
				require.NoError(t, err)
				require.NotNil(t, first)
				s.mend()
				s.pass(5 * time.Minute)
				require.Equal(t, backend, s.named(a.about))
				again(t, s, backend, false)
				again(t, s, local, false)
				require.Equal(t, map[string]bool{string(first.Key): true}, s.keysOf(a))
			})
		})
	}
}

// What a program has stored under a client's key before our Keys were made of the creates' is found under it. In a backup that such a
// program has made the Keys may be those or these: what comes under a client's key about a thing that has an id waits for a person.
func TestField2_M19WhatAnOlderProgramStored(t *testing.T) {
	older := func(t *testing.T, s *shop, id string) wire.Key {
		return wire.MakeKey(s.callers(), "posagent caller key 1", "", gateway.KindPaymentCapture, id, "w1")
	}
	part := payments.CaptureRequest{Amount: some(300)}
	for name, named := range map[string]func(s *shop, local string) string{
		"the local id":     func(_ *shop, local string) string { return strings.ToLower(local) },
		"the backend's id": func(s *shop, local string) string { return s.backendID(local) },
	} {
		t.Run(name, func(t *testing.T) {
			inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
				s.cut()
				c, err := s.pay.Create(t.Context(), "c1", moto(payments.ProcessAuthorize, 1000))
				require.NoError(t, err)
				s.mend()
				s.pass(time.Minute)
				s.cut()
				first, err := s.pay.Capture(t.Context(), "w1", c.PaymentID, part)
				require.NoError(t, err)
				key := older(t, s, named(s, c.PaymentID))
				require.NotEqual(t, key, first.Operation.Key)
				s.rename(first.Operation.Key, key)
				for _, id := range []string{c.PaymentID, s.backendID(c.PaymentID)} {
					again, err := s.pay.Capture(t.Context(), "w1", id, part)
					require.NoError(t, err)
					require.Equal(t, key, again.Operation.Key)
				}
				require.Len(t, s.ops(), 2)
			})
		})
	}
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		c, err := s.pay.Create(t.Context(), "c1", moto(payments.ProcessAuthorize, 1000))
		require.NoError(t, err)
		backup := s.backup()
		s.restore(backup)
		require.NoError(t, s.db.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec(`UPDATE offline_purged SET canonical = (SELECT age_ms FROM outbox_clock)`) // the step is made as the backup is put back
			return err
		}))
		held, err := s.pay.Capture(t.Context(), "w1", c.PaymentID, part)
		require.NoError(t, err)
		require.NotNil(t, held.Operation)
		require.Contains(t, s.op(held.Operation.Key).Reason, "older than the program")
		made, err := s.pay.Create(t.Context(), "c3", moto(payments.ProcessAuthorize, 1000))
		require.NoError(t, err)
		require.Nil(t, made.Operation, "a create is about nothing: its Key is as it was")
	})
}

// callers is the secret that our Keys are made of.
func (s *shop) callers() []byte {
	s.t.Helper()
	secret, err := s.db.Secret(s.t.Context(), "callers", s.secret)
	require.NoError(s.t, err)
	return secret
}

// rename gives a stored operation another Key, as another program would have made it.
func (s *shop) rename(was, is wire.Key) {
	s.t.Helper()
	var op outbox.Op
	var digest, name []byte
	require.NoError(s.t, s.db.Write(s.t.Context(), func(tx store.Tx) (err error) {
		if op, err = s.box.Get(tx, was); err != nil {
			return err
		}
		if err := tx.QueryRow(`SELECT digest, name FROM offline_claims WHERE op = ?`, op.ID).Scan(&digest, &name); err != nil {
			return err
		}
		for _, table := range []string{`offline_claims WHERE op`, `outbox_ops WHERE id`} {
			if _, err := tx.Exec(`DELETE FROM `+table+` = ?`, op.ID); err != nil {
				return err
			}
		}
		n := op.New
		n.Key = is
		if err := s.box.Accept(tx, n); err != nil {
			return err
		}
		var body struct{ Body json.RawMessage }
		if err := json.Unmarshal(op.Payload, &body); err != nil {
			return err
		}
		_, err = tx.Exec(`INSERT INTO offline_claims (op, name, digest, body, key) SELECT id, ?, ?, ?, key FROM outbox_ops WHERE key = ?`,
			name, digest, s.db.MAC("offline_keys", string(is), digest, []byte(body.Body)), string(is))
		return err
	}))
}

// TestField2_M50TheKeyIsLookedForFirst: a terminal that takes nothing new says what became of what it has taken.
func TestField2_M50TheKeyIsLookedForFirst(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		made, err := s.pay.Create(t.Context(), "c1", moto(payments.ProcessSale, 1000))
		require.NoError(t, err)
		done, err := s.pay.Refund(t.Context(), "w1", made.PaymentID, payments.RefundRequest{Amount: some(300)})
		require.NoError(t, err)
		s.front.Bar(func() string { return "this box is not the terminal any more" })
		again, err := s.pay.Refund(t.Context(), "w1", made.PaymentID, payments.RefundRequest{Amount: some(300)})
		require.NoError(t, err)
		require.Equal(t, done, again)
		for _, key := range []wire.Key{"", "w2"} {
			_, err = s.pay.Refund(t.Context(), key, made.PaymentID, payments.RefundRequest{Amount: some(300)})
			require.Equal(t, wire.Unavailable, wire.CodeOf(err), "%v", err)
		}
		require.Len(t, s.ops(), 2)
	})
}
