package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/device"
	"posagent/schemes/backend"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
	"posagent/store"
	"posagent/store/sqlite"
)

// What is looked for: a card number and a name that stand nowhere else.
const (
	canaryPAN  = "4111111111111111"
	canaryName = "Kanarie Vogelsang"
	retention  = 48 * time.Hour
)

// way leads to the backend while it is not cut.
type way struct {
	to  wire.Doer
	cut atomic.Bool
}

func (w *way) Do(r *http.Request) (*http.Response, error) {
	if w.cut.Load() {
		return nil, &net.OpError{Op: "dial", Err: context.DeadlineExceeded}
	}
	r.Header.Set("Authorization", "Bearer "+backend.DemoCredentials().Bearer.Reveal())
	return w.to.Do(r)
}

// spellings are the bytes by which a text could be found.
func spellings(text string) map[string][]byte {
	wide := func(order ...int) (b []byte) {
		for _, u := range utf16.Encode([]rune(text)) {
			pair := []byte{byte(u >> 8), byte(u)}
			b = append(b, pair[order[0]], pair[order[1]])
		}
		return b
	}
	all := map[string][]byte{
		"plain": []byte(text), "UTF-16LE": wide(1, 0), "UTF-16BE": wide(0, 1),
		"hex": []byte(hex.EncodeToString([]byte(text))), "HEX": []byte(strings.ToUpper(hex.EncodeToString([]byte(text)))),
	}
	for shift := range 3 { // inside a longer text: what does not depend on its neighbours
		for name, enc := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding, "base64url": base64.RawURLEncoding} {
			coded := enc.EncodeToString(append(make([]byte, shift), text...))
			all[name+" "+string(rune('0'+shift))] = []byte(coded[(shift*8+5)/6 : len(coded)-1])
		}
	}
	if bcd, err := hex.DecodeString(text); err == nil {
		all["digits packed"] = bcd
	}
	return all
}

// pieces are the parts by which a value is found that lies on several pages, or was overwritten in part.
func pieces(value []byte) (list [][]byte) {
	for ; len(value) >= 16; value = value[16:] {
		list = append(list, value[:16])
	}
	return list
}

// found says which of the values lies in the files in part.
func found(files map[string][]byte, values map[string][]byte) (list []string) {
	for file, data := range files {
		for name, value := range values {
			for _, p := range pieces(value) {
				if bytes.Contains(data, p) {
					list = append(list, name+" in "+file)
					break
				}
			}
		}
	}
	return list
}

// canaries fails when a canary lies in any of the files.
func canaries(t *testing.T, files map[string][]byte) {
	t.Helper()
	for file, data := range files {
		for _, text := range []string{canaryPAN, canaryName} {
			for how, b := range spellings(text) {
				require.False(t, bytes.Contains(data, b), "%s lies in %s as %s", text, file, how)
			}
		}
	}
}

func filesOf(t *testing.T, paths ...string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, p := range paths {
		data, err := os.ReadFile(p)
		require.NoError(t, err)
		all[filepath.Base(p)] = data
	}
	return all
}

// A card operation leaves nothing: neither in the journal, nor in a backup, nor in an export is its card at any time; its sealed payload and
// the key of it are destroyed when it ends, and its row when it is purged.
func TestNothingOfAPurgedCardOperationIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, dir := t.Context(), t.TempDir()
		state := filepath.Join(dir, "s")
		keys, err := device.OpenKeys(filepath.Join(state, "keys"))
		require.NoError(t, err)
		db, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(state, "agent.db"), Steps: agent.Schema(), Wrapper: keys, Ballast: -1, Synchronous: "OFF"})
		require.NoError(t, err)
		b, err := backend.Open(ctx, backend.Config{Dir: t.TempDir(), Synchronous: "OFF", PublicURL: "http://127.0.0.1:1", Hosts: []string{"backend.test"}})
		require.NoError(t, err)
		link := &way{to: wiretest.Direct(b.Handler())}
		front := gateway.NewFront(gateway.Options{DB: db, Payments: &payments.Client{BaseURL: "http://backend.test", Doer: link}})
		box := outbox.NewOutbox(outbox.Options{DB: db, Kinds: front.Kinds(), Watch: front.Watch, Retention: retention})
		front.Attach(box)
		running, stop := context.WithCancel(ctx)
		done := make(chan error, 2)
		go func() { done <- box.Run(running) }()
		go func() { done <- front.Run(running) }()
		end := sync.OnceFunc(func() {
			stop()
			require.NoError(t, errors.Join(<-done, <-done, db.Close(), b.Close()))
		})
		defer end() // or the bubble would say nothing else
		pass := func(d time.Duration) { time.Sleep(d); synctest.Wait() }
		journal := func() map[string][]byte {
			base := filepath.Join(state, "agent.db")
			return filesOf(t, base, base+"-wal", base+"-shm")
		}
		secret := filepath.Join(dir, "backup.key")
		require.NoError(t, os.WriteFile(secret, []byte("a key of more than sixteen bytes"), 0o600))
		copies := func() map[string][]byte {
			t.Helper()
			bundle, export := filepath.Join(dir, "x.bundle"), filepath.Join(dir, "x.jsonl")
			for _, args := range [][]string{{"backup", bundle, "--key-file", secret}, {"backup", "--export", export}} {
				require.NoError(t, dispatch(ctx, append(args, "--state", state), std{strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}}))
			}
			return filesOf(t, bundle, export)
		}
		pass(time.Second)

		link.cut.Store(true)
		made, err := front.Payments().Create(ctx, "canary-1", payments.CreateRequest{
			Type: payments.Moto, Amount: 1250, CurrencyCode: "EUR", Processing: payments.ProcessSale, PaymentNumber: "A1",
			CardDetails: &payments.CardDetails{PAN: wire.NewPAN(canaryPAN), ExpiryYear: 2099, ExpiryMonth: 12},
			Customer:    &payments.Customer{Type: payments.Individual, FirstName: canaryName, LastName: canaryName},
		})
		require.NoError(t, err)
		require.NotNil(t, made.Operation, "stored, not sent")
		key := made.Operation.Key

		sealed := map[string][]byte{"the payload": nil, "the wrapped key": nil}
		require.NoError(t, db.Read(ctx, func(r store.Reader) error {
			var payload, wrapped []byte
			err := r.QueryRow(`SELECT payload, data_key FROM outbox_ops WHERE key = ?`,
				string(key)).Scan(&payload, &wrapped)
			sealed["the payload"], sealed["the wrapped key"] = payload, wrapped
			return err
		}))
		require.Subset(t, pieced(found(journal(), sealed)), []string{"the payload", "the wrapped key"}, "while it waits")
		canaries(t, journal())
		canaries(t, copies())

		link.cut.Store(false)
		box.Online()
		pass(5 * time.Minute)
		var op outbox.Op
		get := func() error {
			return db.Read(ctx, func(r store.Reader) (err error) { op, err = box.Get(r, key); return err })
		}
		require.NoError(t, get())
		require.Equal(t, outbox.Done, op.State, op.Reason)
		require.Empty(t, found(journal(), sealed), "at its end")
		canaries(t, journal())

		// What is left is destroyed with the row.
		require.NoError(t, db.Read(ctx, func(r store.Reader) error {
			var digest, mac []byte
			err := r.QueryRow(`SELECT digest, mac FROM outbox_ops WHERE key = ?`, string(key)).Scan(&digest, &mac)
			sealed["the digest"], sealed["the MAC"] = digest, mac
			return err
		}))
		require.Subset(t, pieced(found(journal(), sealed)), []string{"the digest", "the MAC"})
		require.NoError(t, db.Write(ctx, func(tx store.Tx) error { // what an interrupted end would have left
			_, err := db.Seal(tx, store.Cell{Table: "outbox_ops", Key: string(key), Column: "memo"}, []byte("left over"))
			if err == nil {
				var wrapped []byte
				err = tx.QueryRow(`SELECT wrapped FROM store_keys WHERE tbl = 'outbox_ops' AND key = ?`, string(key)).Scan(&wrapped)
				sealed["a key left over"] = wrapped
			}
			return err
		}))
		pass(retention + 2*time.Hour)
		require.ErrorIs(t, get(), outbox.ErrUnknown)
		require.Empty(t, found(journal(), sealed), "purged")
		canaries(t, journal())
		after := copies()
		canaries(t, after)
		require.Empty(t, found(after, sealed))
		require.NotContains(t, string(after["x.jsonl"]), string(key))

		end()
		canaries(t, filesOf(t, filepath.Join(state, "agent.db")))
		require.Empty(t, found(filesOf(t, filepath.Join(state, "agent.db")), sealed), "closed")
	})
}

// pieced is what was found, whatever file it lies in.
func pieced(list []string) (names []string) {
	for _, s := range list {
		name, _, _ := strings.Cut(s, " in ")
		names = append(names, name)
	}
	return names
}
