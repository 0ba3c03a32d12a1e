package engines

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/cross/program"
	"posagent/schemes/aapay/aapaytest"
	"posagent/schemes/backend"
	"posagent/schemes/backend/backendtest"
	"posagent/schemes/backend/room/roomtest"
	"posagent/schemes/disputes/disputestest"
	"posagent/schemes/fleet/fleettest"
	"posagent/schemes/hosted/hostedtest"
	"posagent/schemes/onboarding/onboardingtest"
	"posagent/schemes/paylinks/paylinkstest"
	"posagent/schemes/payments"
	"posagent/schemes/payments/paymentstest"
	"posagent/schemes/tokens/tokenstest"
	"posagent/schemes/webhooks"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/postgres/pgtest"
	"posagent/store/sqlite"
)

// few are rows of tables in which the contracts' suites leave none.
var few = []string{
	`INSERT INTO books_trace (service, txn, trace) VALUES ('payments', 't', '4bf92f3577b34da6a3ce929d0e0e4736')`,
	`INSERT INTO deliver_endpoint (origin, dead, until_ms, reason) VALUES ('http://127.0.0.1:2', 1, 0, 'gone')`,
	`INSERT INTO fleet_outcome (enrolment, version, kept, reason, at, seen_ms, lifted) VALUES ('e', '1.3.0', 1, '', '2026-11-27T10:00:00Z', 1, 0)`,
	`INSERT INTO fleet_roll (seq, id, state, reason, asked, stage, enough, soak_s, silence_s, started_ms, stage_ms, ended_ms)
		VALUES (1000, 'r', 'DONE', '', '{"settings":[{"key":"offline.max_count","value":"50"}],"stages":[100]}', 1, 90, 60, 300, 1, 1, 2)`,
	`INSERT INTO fleet_roll_box (roll, enrolment, place, number, was, taken_ms, healthy_ms, seen_ms, done_ms, failed_ms, lifted, back)
		VALUES ('r', 'e', 0, 2, '', 1, 1, 1, 1, 0, 0, 0)`,
	`INSERT INTO form_token (nonce, expires_ms) VALUES ('spent', 4102444800000)`,
	`INSERT INTO links_file (upload, seq, link, data, at_ms) VALUES ('u', 0, NULL, x'00', 1)`,
	`INSERT INTO links_once (mark) VALUES ('seen')`,
	`INSERT INTO room_owner (resource, id, merchant) VALUES ('once', 'o', 'm')`,
	`INSERT INTO sessions_contract (id, data) VALUES ('c', '{}')`,
	`INSERT INTO wallets_once (mark, at_ms) VALUES ('seen', 1)`,
}

// fleetPasses is more than the fleet's suite lets pass.
const fleetPasses = 8 * 365 * 24 * time.Hour

// work fills the books of a backend in dir: every table has rows but that of the processes.
func work(t *testing.T, dir string) {
	t.Helper()
	good := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(good.Close)
	bad := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }))
	t.Cleanup(bad.Close)
	var ahead atomic.Int64
	began := time.Now().Add(-fleetPasses)
	now := func() time.Time { return began.Add(time.Duration(ahead.Load())) } // it stands still: a slow machine is no quarter of an hour
	pass := func(d time.Duration) { ahead.Add(int64(d)) }
	never := -time.Second // nobody pays by himself
	b, err := backend.Open(t.Context(), backend.Config{
		Dir: dir, WalletDelay: &never, PublicURL: "http://127.0.0.1:1", Synchronous: "OFF", Fleet: true, Now: now,
		HookAllow: []string{strings.TrimPrefix(good.URL, "http://"), strings.TrimPrefix(bad.URL, "http://")}, HookSecrets: []wire.Secret{"k"},
	})
	require.NoError(t, err)
	require.NoError(t, b.Init(t.Context()))
	t.Run("fleet", func(t *testing.T) {
		fleettest.Run(t, fleettest.Fixture{Service: b.Fleet(), Desk: b.Fleet(), Now: now, Pass: pass, Advance: b.Fleet().Advance})
	})
	require.Less(t, time.Duration(ahead.Load()), fleetPasses)
	ahead.Store(int64(fleetPasses - time.Minute)) // the same day for everybody, but for a minute
	for _, url := range []string{good.URL, bad.URL} {
		_, err = b.Payments().Create(t.Context(), wire.NewKey(), payments.CreateRequest{
			Type: payments.Moto, Amount: 500, CurrencyCode: "EUR", Processing: payments.ProcessSale,
			CardDetails:   &payments.CardDetails{PAN: wire.NewPAN(backendtest.Visa), ExpiryYear: 2090, ExpiryMonth: 1},
			Notifications: &payments.Notifications{WebHooks: []payments.WebHook{{EventName: string(webhooks.PaymentCreated), URL: url, Authorization: "Basic abc"}}},
		})
		require.NoError(t, err)
	}
	stop := roomtest.Start(t, b.Run)
	need.Until(t, "both receivers are asked", func() bool {
		list, err := backend.ReadHooks(t.Context(), backend.Place{Dir: dir}, "")
		return err == nil && len(list) == 2 && len(list[0].Attempts) > 0 && len(list[1].Attempts) > 0
	})
	stop()
	t.Run("wallets", func(t *testing.T) { aapaytest.Run(t, backendtest.Aapay(b)) })
	t.Run("payments", func(t *testing.T) { paymentstest.Run(t, backendtest.Payments(b)) })
	t.Run("tokens", func(t *testing.T) { tokenstest.Run(t, backendtest.Tokens(b)) })
	t.Run("hosted", func(t *testing.T) { hostedtest.Run(t, backendtest.Hosted(b)) })
	t.Run("links", func(t *testing.T) { paylinkstest.Run(t, backendtest.Links(b)) })
	t.Run("onboarding", func(t *testing.T) { onboardingtest.Run(t, backendtest.Onboarding(b)) })
	t.Run("disputes", func(t *testing.T) { disputestest.Run(t, backendtest.Disputes(b, pass)) })
	require.NoError(t, b.Close())

	keys, err := backend.OpenKey(dir)
	require.NoError(t, err)
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, "backend.db"), Steps: backend.Schema(), Wrapper: keys, Synchronous: "OFF"})
	require.NoError(t, err)
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		for _, row := range few {
			if _, err := tx.Exec(row); err != nil {
				return err
			}
		}
		return nil
	}))
	require.NoError(t, s.Close())
}

// onEmptyBooks are tests of the backend that hold on empty books alone, with the reason. Each fails on others.
var onEmptyBooks = map[string]string{
	"TestHooksAreSentShownAndReplayed":             "it wants the only delivery to be its own",
	"TestSaleAndUndoOverHTTP":                      "it wants the books to have its own entries alone",
	"TestInitializeRows":                           "it wants each reference of the books to have one entry, and a sale that was undone has two",
	"TestField_P14SignatureOfNothingWritesNothing": "it wants the books to have its own entries alone",
	"TestLinkCallersAreProven":                     "it wants the books to have no entry",
	"TestLinkOverHTTP":                             "it wants the books to have its own entries alone",
	"TestFleetIsReadFromTheDirectory":              "it wants the fleet's list to have its own boxes alone",
	"TestFigures":                                  "it wants no delivery to wait, and those to the suites' receivers do",
}

// migrated is what the verb says.
type migrated struct {
	Tables []struct {
		Table string
		Rows  int
	}
}

// TestServicesOnMigratedBooks: the suites of the backend's services pass on books that were written on a file and moved to PostgreSQL by
// the verb; each has a copy of its own. MIGRATED=full runs all tests of the backend, and not some of their conformance suites alone.
func TestServicesOnMigratedBooks(t *testing.T) {
	pgtest.Need(t) // before the programs are built
	dir, state, bin := t.TempDir(), t.TempDir(), t.TempDir()
	out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", bin, "posagent/schemes/backend").CombinedOutput()
	require.NoError(t, err, "%s", out)
	work(t, dir)
	server := pgtest.Start(t, "max_connections=400")
	server.Exec("", "CREATE DATABASE books")
	out, err = exec.CommandContext(t.Context(), program.Path(t, "posagent-backend"), "migrate", "--from", "sqlite:"+dir,
		"--to", pgtest.In(server.URL(""), "books"), "--state", state, "--tolerate", "no-fsync", "--json").Output()
	require.NoError(t, err, "%s", out)
	var said migrated
	require.NoError(t, json.Unmarshal(out, &said))
	require.NotEmpty(t, said.Tables)
	var empty []string
	for _, one := range said.Tables {
		if one.Rows == 0 {
			empty = append(empty, one.Table)
		}
	}
	require.Empty(t, empty, "work leaves no row in them")

	suites := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "backend.test"), append([]string{"-test.v"}, args...)...)
		cmd.Dir = "../../schemes/backend"
		cmd.Env = append(os.Environ(), pgtest.Env+"="+server.URL(""), pgtest.EnvBooks+"=books", pgtest.EnvKey+"="+filepath.Join(dir, backend.KeyName))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	copies := func() int { return server.Count("SELECT count(*) FROM pg_database WHERE datname LIKE 'file%'") }
	if os.Getenv("MIGRATED") != "full" {
		text, err := suites("-test.run=^Test(|Payments|Tokens|Methods|Hosted)Conformance$")
		require.NoError(t, err, text)
		require.GreaterOrEqual(t, copies(), 5, "the suites began with other books")
		return
	}
	listed := "^(" + strings.Join(slices.Sorted(maps.Keys(onEmptyBooks)), "|") + ")$"
	text, err := suites("-test.skip="+listed, "-test.timeout=40m")
	require.NoError(t, err, text)
	require.GreaterOrEqual(t, copies(), 100, "the suites began with other books")
	text, err = suites("-test.run=" + listed)
	require.Error(t, err)
	for name := range onEmptyBooks {
		require.Contains(t, text, "\n--- FAIL: "+name+" ", "%s holds on migrated books: take it off the list", name)
	}
}
