package backend

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/config"
	"posagent/agent/doctor/exam"
	"posagent/cmd/usage"
	"posagent/schemes/backend"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/store"
)

// golden are the ids. One that was released keeps its meaning for ever: add behind the last of its group, remove none.
const golden = `DIR-001 DIR-002 DIR-003 DIR-004 DIR-005 SET-001 SET-002 SET-003 RUN-001 RUN-002 BKS-001 BKS-002 BKS-003 BKS-004 BKS-005 RUN-003 DLV-001 DLV-002 DLV-003`

// TestEachCheckIsExplained: each id is one that was released, has words of its own, and its remedy destroys nothing.
func TestEachCheckIsExplained(t *testing.T) {
	bad := regexp.MustCompile(`(?i)\b(rm|delete|erase|purge|mkfs|truncate|drop)\b`)
	var ids []string
	for _, c := range Checks(Server{}) {
		ids = append(ids, strings.TrimPrefix(c.ID, "PA-"))
		for _, text := range []string{c.Title, c.Means, c.How, c.Do, c.Command} {
			require.NotEmpty(t, text, c.ID)
			require.Empty(t, bad.FindString(text), "%s: %s", c.ID, text)
			require.LessOrEqual(t, len(strings.Fields(text)), 32, "%s: %s", c.ID, text)
		}
	}
	require.Equal(t, strings.Fields(golden), ids)
	require.Len(t, exam.Texts(doctorText), len(ids))
}

// bench is a backend whose fault is to be found.
type bench struct {
	t      *testing.T
	dir    string
	config config.Config
	bad    error // of the configuration
	listen string

	tolerate string
}

// do writes to the books as something else than the backend does.
func (b *bench) do(query string, args ...any) {
	b.t.Helper()
	db := b.open()
	require.NoError(b.t, db.Write(b.t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	}))
	require.NoError(b.t, db.Close())
}

// open has the books as a process has them that works.
func (b *bench) open() store.Store {
	b.t.Helper()
	keys, err := backend.OpenKey(b.dir)
	require.NoError(b.t, err)
	db, _, err := backend.OpenFile(b.t.Context(), backend.StoreOptions{Dir: b.dir, Steps: backend.Schema(), Wrapper: keys, Log: slog.New(slog.DiscardHandler)})
	require.NoError(b.t, err)
	return db
}

// runs lets the books be had by a process that answers so.
func (b *bench) runs(ready http.HandlerFunc) {
	db := b.open()
	b.t.Cleanup(func() { require.NoError(b.t, db.Close()) })
	b.at(b.answers(ready))
}

// answers is a backend that a balancer can ask.
func (b *bench) answers(ready http.HandlerFunc) string {
	mux := http.NewServeMux()
	mux.HandleFunc("/livez", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/readyz", ready)
	srv := httptest.NewServer(mux)
	b.t.Cleanup(srv.Close)
	return srv.URL
}

func (b *bench) at(url string) {
	require.NoError(b.t, os.WriteFile(filepath.Join(b.dir, addressFile), []byte(url+"\n"), 0o600))
}

func isReady(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }

// examine runs doctor.
func (b *bench) examine() (results []exam.Result, code int) {
	b.t.Helper()
	var out bytes.Buffer
	c := &Call{
		Program: "posagent backend", Out: &out, Err: io.Discard, JSON: true, State: b.dir, Log: slog.New(slog.DiscardHandler),
		Config: func() (config.Config, error) { return b.config, b.bad }, Dir: func(config.Config) string { return b.dir },
	}
	fs := flag.NewFlagSet("doctor", flag.ContinueOnError)
	c.doctor.register(fs)
	require.NoError(b.t, fs.Parse([]string{"--listen", b.listen, "--tolerate", b.tolerate}))
	err := runDoctor(b.t.Context(), c)
	var coded *usage.Exit
	if err != nil {
		require.ErrorAs(b.t, err, &coded)
		code = coded.Code
	}
	var report exam.Report
	require.NoError(b.t, json.Unmarshal(out.Bytes(), &report))
	require.Equal(b.t, "posagent.doctor/1", report.Schema)
	return report.Checks, code
}

// TestOneFaultOneName: each fault alone makes doctor name its check, and no other one.
func TestOneFaultOneName(t *testing.T) {
	for _, f := range []struct {
		name, want, seen string
		status           exam.Status
		code             int
		seed             func(b *bench)
	}{
		{name: "nothing, and no backend runs", seed: func(*bench) {}},
		{name: "nothing, and one runs", seed: func(b *bench) { b.runs(isReady) }},
		{name: "no directory", want: "PA-DIR-001", seen: "not there", code: 1, seed: func(b *bench) { b.dir = filepath.Join(b.dir, "none") }},
		{name: "a directory for everybody", want: "PA-DIR-002", seen: "0755", code: 1, seed: func(b *bench) { require.NoError(b.t, os.Chmod(b.dir, 0o755)) }},
		{name: "a key for everybody", want: "PA-DIR-005", seen: "0644", code: 9, seed: func(b *bench) {
			require.NoError(b.t, os.Chmod(filepath.Join(b.dir, backend.KeyName), 0o644))
		}},
		{name: "half a key", want: "PA-DIR-005", seen: "damaged", code: 9, seed: func(b *bench) { b.key([]byte("half")) }},
		{name: "another key", want: "PA-BKS-003", seen: "does not verify", code: 9, seed: func(b *bench) { b.key(bytes.Repeat([]byte("k"), 32)) }},
		{name: "no key", want: "PA-BKS-003", seen: "is not there", code: 9, seed: func(b *bench) { require.NoError(b.t, os.Remove(filepath.Join(b.dir, backend.KeyName))) }},
		{name: "a configuration that cannot be read", want: "PA-SET-001", seen: "line 7", code: 3, seed: func(b *bench) { b.bad = errors.New("c.toml: line 7") }},
		{name: "a seed that is not there", want: "PA-SET-001", seen: "seed", code: 3, seed: func(b *bench) { b.config.Backend.Seed = filepath.Join(b.dir, "none.json") }},
		{name: "no address", want: "PA-SET-001", seen: "address", code: 3, seed: func(b *bench) { b.listen = "nowhere" }},
		{name: "open to others with printed credentials", want: "PA-SET-002", seen: "bearer, consumer_secret, client_secret, secret, api_key, fleet_token", code: 3, seed: func(b *bench) { b.listen = "0.0.0.0:0" }},
		{name: "open to others with one of them", want: "PA-SET-002", seen: "printed value: fleet_token", code: 3, seed: func(b *bench) {
			b.listen, b.config = "0.0.0.0:0", owned()
			b.config.Backend.FleetToken = config.Default().Backend.FleetToken
		}},
		{name: "open to others, tolerated", want: "PA-SET-002", seen: "tolerated: ", status: exam.Warn, seed: func(b *bench) {
			b.listen, b.tolerate = "0.0.0.0:0", DemoCredentials
		}},
		{name: "open to others with its own", seed: func(b *bench) { b.listen, b.config = "0.0.0.0:0", owned() }},
		{name: "an address that something else has", want: "PA-RUN-001", seen: "no backend", code: 1, seed: func(b *bench) {
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(b.t, err)
			b.t.Cleanup(func() { _ = ln.Close() })
			srv := &http.Server{Handler: http.NotFoundHandler()}
			go func() { _ = srv.Serve(ln) }()
			b.listen = ln.Addr().String()
		}},
		{name: "an address that another backend has", want: "PA-RUN-001", seen: "another directory", code: 1, seed: func(b *bench) {
			b.listen = strings.TrimPrefix(b.answers(isReady), "http://")
		}},
		{name: "a process that is silent", want: "PA-RUN-002", seen: "does not answer", code: 1, seed: func(b *bench) {
			db := b.open()
			b.t.Cleanup(func() { require.NoError(b.t, db.Close()) })
		}},
		{name: "a process that is not ready", want: "PA-RUN-003", seen: "about to end", code: 1, seed: func(b *bench) {
			b.runs(func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, "not ready: about to end", http.StatusServiceUnavailable)
			})
		}},
		{name: "books that are no books", want: "PA-BKS-001", code: 1, seed: func(b *bench) {
			require.NoError(b.t, os.WriteFile(filepath.Join(b.dir, "backend.db"), bytes.Repeat([]byte("x"), 4096), 0o600))
		}},
		{name: "books of a newer program", want: "PA-BKS-002", seen: "future/9", code: 1, seed: func(b *bench) {
			b.do("INSERT INTO store_steps (version, name, sum) VALUES (999, 'future/9 everything', 'x')")
		}},
		{name: "books of an older program", want: "PA-BKS-002", seen: "1 steps", status: exam.Warn, seed: func(b *bench) {
			b.do("DELETE FROM store_steps WHERE name = 'lease/1 tasks'")
		}},
		{name: "books that were moved", want: "PA-BKS-004", seen: "postgres://there", code: 1, seed: func(b *bench) {
			b.do(`INSERT INTO store_meta (name, value) VALUES ('moved to', CAST('{"to":"postgres://there"}' AS BLOB))`)
		}},
		{name: "a posting that something else wrote", want: "PA-BKS-005", seen: "payments x: 5", code: 9, seed: func(b *bench) {
			b.do("INSERT INTO books_posting (service, txn, seq, payment, account, amount, currency, at_ms) VALUES ('payments', 'x', 1, 'p', 'merchant', 5, 'EUR', 1)")
		}},
		{name: "a delivery that waits", want: "PA-DLV-001", seen: "1 deliveries", code: 1, seed: func(b *bench) {
			b.do("INSERT INTO deliver_hook (id, subject, event, url, origin, live) VALUES (1, 's', 'e', 'https://shop/', 'https://shop', 1)")
			b.do("INSERT INTO deliver_message (id, event, subject, body, content_type, headers, schedule, created_ms) VALUES ('m', 'e', 's', x'00', 't', '{}', '[]', 1)")
			b.do("INSERT INTO deliver_delivery (id, message, hook, origin, state, tries, step, due_ms) VALUES (1, 'm', 1, 'https://shop', 'queued', 0, 0, 1)")
			b.runs(isReady)
		}},
		{name: "an endpoint that is paused", want: "PA-DLV-002", seen: "https://shop: 500", status: exam.Warn, seed: func(b *bench) {
			b.do("INSERT INTO deliver_endpoint (origin, dead, until_ms, reason) VALUES ('https://shop', 5, 4102444800000, '500')")
		}},
		{name: "a payment that should have ended", want: "PA-DLV-003", seen: "cards since", code: 1, seed: func(b *bench) {
			b.do("UPDATE cards_payment SET next_ms = 1000")
			b.runs(isReady)
		}},
	} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			b := &bench{t: t, dir: t.TempDir(), config: config.Default(), listen: "127.0.0.1:0"}
			require.NoError(t, os.Chmod(b.dir, 0o700))
			b.config.Methods.TimeoutUnit = "m"
			b.fill()
			f.seed(b)
			results, code := b.examine()
			if f.want != "" && f.status == "" {
				f.status = exam.Fail
			}
			var bad []string
			for _, r := range results {
				if r.Status == exam.Fail || r.Status == exam.Warn {
					bad = append(bad, r.ID+" "+string(r.Status)+" "+r.Evidence["seen"])
					require.Contains(t, r.Evidence["seen"], f.seen)
					require.NotEmpty(t, r.Remedy.Command)
				}
				if id := r.Evidence[exam.WaitsFor]; id != "" {
					require.Equal(t, f.want, id, r.ID)
				}
			}
			if f.want == "" {
				require.Empty(t, bad)
			} else {
				require.Len(t, bad, 1, bad)
				require.True(t, strings.HasPrefix(bad[0], f.want+" "+string(f.status)), bad)
			}
			require.Equal(t, f.code, code)
		})
	}
}

func (b *bench) key(key []byte) {
	require.NoError(b.t, os.WriteFile(filepath.Join(b.dir, backend.KeyName), key, 0o600))
}

// fill makes books with a payment that is reserved.
func (b *bench) fill() {
	ctx := context.Background()
	open, err := backend.Open(ctx, backend.Config{Dir: b.dir, PublicURL: "http://127.0.0.1:1"})
	require.NoError(b.t, err)
	_, err = open.Payments().Create(ctx, wire.NewKey(), payments.CreateRequest{
		Type: payments.Moto, Amount: 500, CurrencyCode: "EUR", Processing: payments.ProcessAuthorize,
		CardDetails: &payments.CardDetails{PAN: wire.NewPAN("4111111111111111"), ExpiryYear: 2090, ExpiryMonth: 1},
	})
	require.NoError(b.t, err)
	require.NoError(b.t, open.Close())
}

// TestDoctorChangesNothing: what it looks at stays as it is, and where nothing is it makes nothing.
func TestDoctorChangesNothing(t *testing.T) {
	for name, fill := range map[string]bool{"books": true, "an empty directory": false} {
		b := &bench{t: t, dir: t.TempDir(), config: config.Default(), listen: "127.0.0.1:0"}
		require.NoError(t, os.Chmod(b.dir, 0o700))
		if fill {
			b.fill()
		}
		list := func() map[string]time.Time {
			all := map[string]time.Time{}
			entries, err := os.ReadDir(b.dir)
			require.NoError(t, err)
			for _, e := range entries {
				info, err := e.Info()
				require.NoError(t, err)
				if !strings.HasSuffix(e.Name(), "-wal") && !strings.HasSuffix(e.Name(), "-shm") { // a reader of the engine has them, empty
					all[e.Name()] = info.ModTime()
				}
			}
			return all
		}
		before := list()
		_, code := b.examine()
		require.Equal(t, usage.ExitOK, code, name)
		require.Equal(t, before, list(), name)
	}
}
