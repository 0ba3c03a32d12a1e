package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cmd/usage"
	binary "posagent/cross/program"
	"posagent/schemes/aapay"
	"posagent/store/postgres/pgserver"
	"posagent/store/postgres/pgtest"
)

// balancer passes requests on to a process, and counts those that begin a payment.
type balancer struct {
	*httptest.Server
	mu    sync.Mutex
	to    *url.URL
	begun int
}

func newBalancer(t *testing.T) *balancer {
	b := &balancer{}
	b.Server = httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if strings.HasPrefix(r.In.URL.Path, aapay.Prefix+"payment/initialize") {
			b.begun++
		}
		r.SetURL(b.to)
	}})
	t.Cleanup(b.Close)
	return b
}

// leads makes a process the one that is asked.
func (b *balancer) leads(p *process) {
	to, err := url.Parse(p.url)
	require.NoError(p.t, err)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.to = to
}

// payments is how many were begun so far.
func (b *balancer) payments() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.begun
}

// shop is a terminal that runs as a process, and a till that keeps a list of what it heard.
type shop struct {
	t        *testing.T
	bin, dir string
	line     string // of the register
	terminal *binary.Process
	till     []string // lines of the list
}

const shopConfig = `[terminal]
bax_id = "1000001"
terminal_id = "29001006"
merchant_id = "merchant"
[methods]
poll = "50ms"
` + binary.Demo

func newShop(t *testing.T, base string) *shop {
	t.Helper()
	s := &shop{t: t, dir: t.TempDir(), till: []string{"type,amount,paid,receipt,transaction"}}
	s.bin = filepath.Join(s.dir, "posagent")
	require.NoError(t, binary.Build(s.bin, nil))
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "config.toml"), fmt.Appendf(nil, shopConfig, base), 0o600))
	s.start()
	return s
}

var tcpLine = regexp.MustCompile(`register=\S*?(tcp:[^,\s]+)`)

// start starts the terminal, and returns when a register may ask.
func (s *shop) start() {
	s.t.Helper()
	p, ready, err := binary.Start(s.command("run", "--state", s.state()), "ready ")
	require.NoError(s.t, err)
	s.t.Cleanup(p.Kill)
	line := tcpLine.FindStringSubmatch(ready)
	require.NotNil(s.t, line, ready)
	s.terminal, s.line = p, line[1]
}

func (s *shop) state() string { return filepath.Join(s.dir, "state") }

func (s *shop) command(args ...string) *exec.Cmd {
	return exec.Command(s.bin, append(args, "--config", filepath.Join(s.dir, "config.toml"))...)
}

// register asks the terminal as a cash register does, and returns whether it approves. The till puts what is approved on its list.
func (s *shop) register(verb, of, kind, amount string, more ...string) (approved bool) {
	s.t.Helper()
	cmd := s.command(append([]string{"register", verb, of, "--line", s.line, "--json"}, more...)...)
	var talk strings.Builder
	cmd.Stderr = &talk
	out, _ := cmd.Output() // what it printed says how it ended
	var heard struct {
		Approved      bool
		Receipt       int
		TransactionID string
	}
	require.NoError(s.t, json.Unmarshal(out, &heard), "%s%s", out, &talk)
	if heard.Approved {
		s.till = append(s.till, fmt.Sprintf("%s,%s,yes,%d,%s", kind, amount, heard.Receipt, heard.TransactionID))
	}
	return heard.Approved
}

func (s *shop) sell(amount string) bool {
	s.t.Helper()
	return s.register("pay", amount, "payment", amount)
}

// found is one finding of a comparison.
type found struct {
	Class string
	Till  struct {
		Line int
		Paid bool
	}
	Journal struct {
		Sale, Kind, Says string
		Amount, Receipt  int
	}
	Backend struct{ Says string }
	Remedy  string
}

// reconcile compares the till's list.
func (s *shop) reconcile(code int) (counts map[string]int, findings []found) {
	s.t.Helper()
	list := filepath.Join(s.dir, "till.csv")
	require.NoError(s.t, os.WriteFile(list, []byte(strings.Join(s.till, "\n")+"\n"), 0o600))
	cmd := s.command("reconcile", list, "--state", s.state(), "--json")
	var talk strings.Builder
	cmd.Stderr = &talk
	out, _ := cmd.Output() // its exit code is compared
	require.Equal(s.t, code, cmd.ProcessState.ExitCode(), "%s%s", out, &talk)
	var v struct {
		Counts   map[string]int
		Findings []found
	}
	require.NoError(s.t, json.Unmarshal(out, &v))
	maps.DeleteFunc(v.Counts, func(_ string, n int) bool { return n == 0 })
	return v.Counts, v.Findings
}

// open is what the terminal's outbox has not done yet.
func (s *shop) open() string {
	s.t.Helper()
	out, err := s.command("ops", "list", "--open", "--state", s.state(), "--json").Output()
	require.NoError(s.t, err)
	return string(out)
}

// effects are the transactions of a database's books that moved money, with what came to the merchant.
func effects(t *testing.T, place string) (list []string) {
	t.Helper()
	code, out, talk := ask("books", "--db", place, "--tolerate", "no-fsync", "--json")
	require.Equal(t, usage.ExitOK, code, talk)
	var books []binary.Entry
	require.NoError(t, json.Unmarshal([]byte(out), &books))
	for _, e := range books {
		if e.Net() != 0 {
			list = append(list, fmt.Sprintf("%s %d", e.Type, e.Net()))
		}
	}
	return list
}

// A terminal sold before the point to which the server is restored, and after it. Its comparison names exactly what the restore lost:
// what was approved at the till and in the journal, and is not known to the backend. The remedy is a person's: by itself the terminal
// asks for no money, also not when it starts again.
func TestATerminalNamesWhatARestoreLost(t *testing.T) {
	db := pgtest.Start(t, "archive_mode=on")
	place, front := db.URL(""), newBalancer(t)
	backend := begin(t, place, nil, "[backend]\nwallet_delay = \"0s\"\n")
	front.leads(backend)
	s := newShop(t, front.URL)
	const declined = "900.03" // by the backend's table of amounts
	require.True(t, s.sell("10.01"))
	require.NoError(t, db.Backup())
	require.True(t, s.sell("10.02"))
	require.False(t, s.sell(declined))
	db.Exec("", "SELECT pg_create_restore_point('lunch')")
	upTo := func(number int64) { // the server leaves a few out after a crash: without this none would be given twice by so few sales
		db.Exec("", fmt.Sprintf("SELECT nextval('store_number_wallets_txn') FROM generate_series(1, %d - (SELECT last FROM store_number WHERE name = 'wallets_txn'))", number))
	}
	numbers, err := pgserver.Column[int64](place, "SELECT last + 100 FROM store_number WHERE name = 'wallets_txn'")
	require.NoError(t, err)
	upTo(numbers[0])
	require.True(t, s.sell("10.03"))
	require.True(t, strings.HasSuffix(s.till[len(s.till)-1], fmt.Sprintf(",%d", numbers[0]+1)), s.till)
	require.True(t, s.sell("10.04"))
	require.False(t, s.sell(declined))
	require.True(t, s.register("reverse", "2", "reversal", "10.02")) // of a sale that is there after the restore
	counts, findings := s.reconcile(usage.ExitOK)
	require.Empty(t, findings)
	require.Equal(t, map[string]int{"agree": 5 + 2}, counts) // rows of the list, and the declined sales, which it lacks
	require.Equal(t, 6, front.payments())

	backend.end()
	db.Crash()
	require.NoError(t, db.Restore("recovery_target_name='lunch'"))
	code, _, talk := ask("database", "forget", "--reason", "restored to lunch", "--state", backend.dir)
	require.Equal(t, usage.ExitOK, code, talk)
	backend.begin(place)
	front.leads(backend)

	upTo(numbers[0])
	require.True(t, s.sell("500.00"))
	counts, findings = s.reconcile(usage.ExitFailed)
	require.Equal(t, map[string]int{"agree": 3 + 2, "journal_backend_differ": 3}, counts)
	require.Len(t, findings, 3)
	for i, lost := range []struct {
		line, receipt int
		kind          string
		amount        int
	}{
		{4, 3, "payment", 1003},
		{5, 4, "payment", 1004},
		{6, 5, "reversal", 1002},
	} {
		f := findings[i]
		require.Equal(t, "journal_backend_differ", f.Class)
		require.Equal(t, lost.line, f.Till.Line)
		require.True(t, f.Till.Paid)
		require.Equal(t, lost.receipt, f.Journal.Receipt)
		require.Equal(t, lost.kind, f.Journal.Kind)
		require.Equal(t, lost.amount, f.Journal.Amount)
		require.Equal(t, "paid", f.Journal.Says)
		require.Equal(t, "not known", f.Backend.Says)
		require.NotEmpty(t, f.Journal.Sale)
		require.Equal(t, "do not repeat and do not refund it before the operator of the backend has said which is right (posagent sale show "+f.Journal.Sale+")", f.Remedy)
	}

	// Nobody else's money is given back for a lost sale: its number is nobody else's. What is there is given back.
	require.False(t, s.register("refund", "10.03", "refund", "10.03", "--original", "R3"))
	require.Equal(t, []string{"payment 1001", "payment 1002", "payment 50000"}, effects(t, place))

	require.NoError(t, s.terminal.Stop())
	s.start()
	require.True(t, s.sell("10.07"))
	require.True(t, s.register("refund", "2.00", "refund", "2.00", "--original", "R1"))
	require.JSONEq(t, `{"schema": "posagent.operations/1", "operations": []}`, s.open())
	require.Equal(t, 6+2, front.payments(), "the two sales after the restore, and nothing else")
	require.Equal(t, []string{"payment 1001", "payment 1002", "payment 50000", "payment 1007", "refund -200"}, effects(t, place))
	require.NoError(t, s.terminal.Stop())
	backend.end()
}
