package million

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"posagent/agent"
	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/cross/env"
	"posagent/cross/need"
	"posagent/cross/program"
	"posagent/device"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/sqlite"
)

// The goals. A start, a status and an Accept must not grow with the queue, and memory must not either.
const (
	memoryGoal = 64 << 20
	acceptGoal = 1.25 // p99 beside that on an empty queue
	slack      = 2
	tries      = 3 // of what is measured, as neighbours on the machine spoil it
)

// What a start and a status may take: two seconds and a fifth of one on an idle machine.
func readyGoal() time.Duration  { return need.Limit() / 30 }
func statusGoal() time.Duration { return need.Limit() / 300 }

// gogc is what the daemon sets on a small box.
const gogc = "GOGC=20"

const token = "million-port-token"

const config = `[terminal]
bax_id = "1000001"
terminal_id = "29001006"
merchant_id = "million"
merchant_name = "Million"
[port]
listen = "127.0.0.1:0"
token = %q
` + program.Demo

// shop is a terminal and the backend it cannot reach.
type shop struct {
	t        *testing.T
	bin, dir string
	http     string // the local port, while it runs
	pid      string
	process  *program.Process
}

type list struct{}

func (list) List(context.Context, methods.Query) ([]methods.Definition, error) {
	return []methods.Definition{{
		Priority: 1, PaymentProviderID: 1, Name: "SWISH_E_COM", Label: "Swish", MeanDelay: 10, Trigger: []methods.Trigger{methods.QR},
		TransactionTypes: []methods.TransactionType{methods.Payment, methods.Refund, methods.Reversal},
	}}, nil
}

// newShop makes a terminal that has seen its backend once.
func newShop(t *testing.T) *shop {
	s := &shop{t: t, dir: t.TempDir(), bin: program.Path(t, "posagent")}
	mux := http.NewServeMux()
	mux.Handle(methods.Prefix, methods.Handler(list{}, methods.HandlerOptions{}))
	server := httptest.NewServer(mux)
	require.NoError(t, os.WriteFile(s.config(), fmt.Appendf(nil, config, token, server.URL), 0o600))
	s.start()
	s.stop()
	server.Close() // from here on nobody answers
	return s
}

func (s *shop) config() string   { return filepath.Join(s.dir, "config.toml") }
func (s *shop) state() string    { return filepath.Join(s.dir, "state") }
func (s *shop) database() string { return filepath.Join(s.state(), "agent.db") }

// start runs the binary until a register may ask.
func (s *shop) start() time.Duration {
	s.t.Helper()
	cmd := exec.Command(s.bin, "run", "--config", s.config(), "--state", s.state())
	cmd.Env = append(os.Environ(), gogc)
	began := time.Now()
	process, ready, err := program.Start(cmd, "ready ") // the backend's first answer may take a while
	took := time.Since(began)
	require.NoError(s.t, err)
	s.process, s.http, s.pid = process, program.Said(ready, "port="), strconv.Itoa(cmd.Process.Pid)
	return took
}

func (s *shop) stop() {
	s.t.Helper()
	require.NoError(s.t, s.process.Stop())
}

// get asks the local port and returns the body and how long it took.
func (s *shop) get(path string) ([]byte, time.Duration) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.http+path, nil)
	require.NoError(s.t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	began := time.Now()
	resp, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	body, err := io.ReadAll(resp.Body)
	took := time.Since(began)
	require.NoError(s.t, err)
	require.NoError(s.t, resp.Body.Close())
	require.Equal(s.t, http.StatusOK, resp.StatusCode, "%s: %s", path, body)
	return body, took
}

// openStore opens the terminal's own file with its own keys.
func openStore(ctx context.Context, state string) (store.Journal, error) {
	keys, err := device.OpenKeys(filepath.Join(state, "keys"))
	if err != nil {
		return nil, err
	}
	return sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(state, "agent.db"), Steps: agent.Schema(), Wrapper: keys})
}

// fresh is one operation that nobody has seen yet.
func fresh() (outbox.New, error) {
	key := wire.NewKey()
	ref := "R" + string(key)
	payload, err := json.Marshal(gateway.UndoPayload{
		Request: aapay.Request{
			MerchantID: "million", Method: "SWISH_E_COM", TerminalReference: ref, OriginalReference: ref,
			PurchaseAmount: &aapay.Amount{CurrencyCode: "EUR", NominalAmount: 1250, TotalAmount: 1250},
		},
		OKWords: []string{"REVERSED"},
	})
	return outbox.New{Key: key, Kind: gateway.KindReversal, Aggregate: ref, Payload: payload, Note: "undo of R17", AmountMin: 1250, Currency: "EUR"}, err
}

// batch is how many operations fill puts into one caller's commit.
const batch = 500

// fill accepts n operations.
func (s *shop) fill(n int) time.Duration {
	db, err := openStore(s.t.Context(), s.state())
	require.NoError(s.t, err)
	o := outbox.NewOutbox(outbox.Options{DB: db, Kinds: gateway.Undos(nil, nil, nil, nil)})
	began := time.Now()
	var left atomic.Int64
	left.Store(int64(n))
	g, ctx := errgroup.WithContext(s.t.Context())
	for range 2 {
		g.Go(func() error {
			for {
				some := min(batch, batch+left.Add(-batch))
				if some <= 0 {
					return nil
				}
				ops := make([]outbox.New, some)
				for i := range ops {
					var err error
					if ops[i], err = fresh(); err != nil {
						return err
					}
				}
				err := db.Write(ctx, func(tx store.Tx) error {
					for _, n := range ops {
						if err := o.Accept(tx, n); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					return err
				}
			}
		})
	}
	require.NoError(s.t, g.Wait())
	took := time.Since(began)
	require.NoError(s.t, db.Close())
	return took
}

// peak is the most a process ever had in memory.
func peak(pid string) int64 {
	data, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n << 10
		}
	}
	return 0
}

// figure is one thing measured.
type figure struct {
	what      string
	got, goal float64
	unit      string
}

// judge prints the figures and tells whether one is missed by too much.
func judge(t *testing.T, figures []figure) (bad []string) {
	for _, f := range figures {
		goal := ""
		if f.goal > 0 {
			goal = fmt.Sprintf("goal %.4g", f.goal)
		}
		t.Logf("%-52s %10.4g %-6s %s", f.what, f.got, f.unit, goal)
		if f.goal > 0 && f.got > slack*f.goal {
			bad = append(bad, f.what)
		}
	}
	return bad
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// TestMillion fills N operations in (20000; a million in the campaign).
func TestMillion(t *testing.T) {
	need.Verify(t, "measures")
	n := env.Number("N", 20000)
	s := newShop(t)
	empty := s.start()
	s.stop()
	took := s.fill(n)
	size := int64(0)
	if fi, err := os.Stat(s.database()); err == nil {
		size = fi.Size()
	}
	t.Logf("%d operations accepted in %v, %.0f/s in commits of %d; the file has %d MiB", n, took.Round(time.Millisecond), float64(n)/took.Seconds(), 2*batch, size>>20)
	var bad []string
	for range tries {
		if bad = s.measure(n, empty); len(bad) == 0 {
			break
		}
	}
	require.Empty(t, bad)
}

// measure starts the binary on what is there, and then a process that drains some of it.
func (s *shop) measure(n int, empty time.Duration) []string {
	t := s.t
	ready := s.start()
	times := map[string]time.Duration{}
	for range 5 {
		for _, path := range []string{
			"status", "operations?limit=100", "operations?limit=100&open=true", "operations?limit=100&state=pending", "operations?limit=100&state=doubt",
			"operations?limit=100&kind=" + gateway.KindRefund,
		} {
			s.get("/agent/v1/operations?limit=1&kind=" + gateway.KindRefund) // after it, the rest that a large read owes is over
			body, took := s.get("/agent/v1/" + path)
			times[path] = max(times[path], took)
			if path != "status" {
				continue
			}
			var v struct{ Operations []struct{ Count int64 } }
			require.NoError(t, json.Unmarshal(body, &v))
			sum := int64(0)
			for _, o := range v.Operations {
				sum += o.Count
			}
			require.GreaterOrEqual(t, sum, int64(n))
		}
	}
	_, metrics := s.get("/metrics")
	figures := []figure{
		{"start to ready", ms(ready), ms(readyGoal()), "ms"}, {"the same with an empty queue", ms(empty), 0, "ms"},
		{"figures for a monitor", ms(metrics), ms(statusGoal()), "ms"},
	}
	for _, path := range []string{
		"status", "operations?limit=100", "operations?limit=100&open=true", "operations?limit=100&state=pending", "operations?limit=100&state=doubt",
		"operations?limit=100&kind=" + gateway.KindRefund,
	} {
		figures = append(figures, figure{"slowest of 5: " + path, ms(times[path]), ms(statusGoal()), "ms"})
	}
	figures = append(figures, figure{"memory of the daemon at its peak", float64(peak(s.pid)) / (1 << 20), memoryGoal >> 20, "MiB"})
	s.stop()
	r := s.child(n)
	figures = append(figures,
		figure{"accept p50", ms(r.P50), 0, "ms"}, figure{"accept p99", ms(r.P99), 0, "ms"},
		figure{"accept p50 beside an empty queue", r.P50Ratio, acceptGoal, ""}, figure{"accept p99 beside an empty queue", r.P99Ratio, acceptGoal, ""},
		figure{"drained, a backend that answers at once", r.Drained, 0, "ops/s"},
		figure{"memory while accepting and draining, at its peak", float64(r.Peak) / (1 << 20), memoryGoal >> 20, "MiB"})
	return judge(t, figures)
}

// child measures the queue in a process of its own, whose memory is the queue's.
func (s *shop) child(n int) (r result) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), gogc, fmt.Sprintf("%s=%d %s", envChild, n, s.state()))
	out, err := cmd.Output()
	require.NoError(s.t, err, "%s", out)
	line, _, _ := strings.Cut(string(out), "\n")
	require.NoError(s.t, json.Unmarshal([]byte(line), &r), "%s", out)
	return r
}
