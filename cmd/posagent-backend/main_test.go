package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cmd/usage"
	"posagent/cmd/usage/usagetest"
	"posagent/cross/need"
	"posagent/schemes/payments"
	"posagent/schemes/webhooks"
	"posagent/schemes/wire"
	"posagent/store/postgres/pgtest"
)

// asProcess makes this test binary the program itself.
const asProcess = "AS_POSAGENT_BACKEND"

func TestMain(m *testing.M) {
	if os.Getenv(asProcess) != "" {
		main()
	}
	os.Exit(m.Run())
}

// ask runs the program.
func ask(args ...string) (code int, out, talk string) {
	var o, e bytes.Buffer
	code = execute(context.Background(), args, strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

// TestEveryVerbIsExplained: help, manual page and completion have every verb and every flag; the shells themselves are asked.
func TestEveryVerbIsExplained(t *testing.T) {
	usagetest.Run(t, usagetest.Subject{
		Program: program(), Tool: need.Tool, Call: ask,
		NoJSON: map[string]string{"posagent-backend serve": "it says its address", "posagent-backend books": "a list, as programs have always read it"},
	})
}

// process is one backend.
type process struct {
	t       *testing.T
	cmd     *exec.Cmd
	url     string
	monitor string // where its figures are, "" = nowhere
	dir     string
	said    *bytes.Buffer
}

// begin starts a backend on a database, with the key of another one.
func begin(t *testing.T, db string, like *process, config string, args ...string) *process {
	t.Helper()
	p := &process{t: t, dir: t.TempDir(), said: &bytes.Buffer{}}
	if like != nil {
		key, err := os.ReadFile(filepath.Join(like.dir, "backend.key"))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(p.dir, "backend.key"), key, 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "c.toml"), []byte(config), 0o600))
	p.begin(db, args...)
	return p
}

// begin starts a process on its directory.
func (p *process) begin(db string, args ...string) {
	t, file := p.t, filepath.Join(p.dir, "c.toml")
	p.cmd = exec.Command(os.Args[0], "--db", db, "--state", p.dir, "--config", file, "--listen", "127.0.0.1:0", "--tolerate", "no-fsync", "--drain", "1s")
	p.cmd.Args = append(p.cmd.Args, args...)
	p.cmd.Env = append(os.Environ(), asProcess+"=1")
	p.cmd.Stderr = p.said
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() })
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if monitor, ok := strings.CutPrefix(line, "monitor on "); ok {
		p.monitor = strings.TrimSpace(monitor)
		line, err = lines.ReadString('\n')
	}
	require.NoError(t, err, p.said)
	p.url = strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
}

// end ends a process in order.
func (p *process) end() {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(p.t, p.cmd.Wait(), p.said)
}

func (p *process) payments() *payments.Client {
	return &payments.Client{BaseURL: p.url, Doer: bearer{}}
}

func (p *process) ready() int {
	resp, err := http.Get(p.url + "/readyz")
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// bearer shows the sandbox's credentials.
type bearer struct{}

// Do implements wire.Doer.
func (bearer) Do(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer posagent-demo-bearer")
	return http.DefaultClient.Do(r)
}

// sale is a card payment that tells a receiver of it.
func sale(hook string) payments.CreateRequest {
	req := payments.CreateRequest{
		Type: payments.Moto, Amount: 500, CurrencyCode: "EUR", Processing: payments.ProcessSale,
		CardDetails: &payments.CardDetails{PAN: wire.NewPAN("4111111111111111"), ExpiryYear: 2090, ExpiryMonth: 1},
	}
	if hook != "" {
		req.Notifications = &payments.Notifications{WebHooks: []payments.WebHook{{EventName: string(webhooks.PaymentCreated), URL: hook, Authorization: "Basic abc"}}}
	}
	return req
}

// receiver counts what it is told, by the event's id.
type receiver struct {
	*httptest.Server
	mu  sync.Mutex
	got map[string]int
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{got: map[string]int{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got[req.Header.Get("Webhook-Id")]++
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) events() (events, times int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.got {
		times += n
	}
	return len(r.got), times
}

// Two processes on one database: a payment of one is the other's, too; a Key that reaches both has one effect; an event is sent once,
// also when the process that sends is killed.
func TestTwoProcesses(t *testing.T) {
	db := pgtest.Open(t)
	hook := newReceiver(t)
	place := db.Place()
	config := "[backend]\nwebhook_secret = \"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\"\nwebhook_allow = [\"" + strings.TrimPrefix(hook.URL, "http://") + "\"]\n"
	first := begin(t, place, nil, config)
	second := begin(t, place, first, config)
	both := []*process{first, second}
	for _, p := range both {
		require.Equal(t, http.StatusNoContent, p.ready(), p.said)
	}

	made := map[string]bool{}
	sell := func(n int, at ...*process) {
		t.Helper()
		for range n {
			key := wire.NewKey()
			ids := make([]string, 2*len(at))
			var wg sync.WaitGroup
			for i := range ids { // each process twice, all at once
				wg.Go(func() {
					out, err := at[i%len(at)].payments().Create(t.Context(), key, sale(hook.URL))
					if err != nil {
						t.Error(err)
						return
					}
					ids[i] = out.PaymentID
				})
			}
			wg.Wait()
			for _, id := range ids {
				require.Equal(t, ids[0], id, "one Key made two payments")
			}
			require.False(t, made[ids[0]])
			made[ids[0]] = true
		}
	}
	sell(10, both...)
	for id := range made {
		for _, p := range both {
			got, err := p.payments().Read(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, id, got.PaymentID)
		}
	}
	told := func(n int) { // and recorded: what is not is sent again by the next one, as it has to be
		t.Helper()
		need.Until(t, fmt.Sprint(n, " deliveries recorded"), func() bool {
			var v struct{ Hooks []struct{ State string } }
			code, out, talk := ask("hooks", "--db", place, "--tolerate", "no-fsync", "--json")
			require.Equal(t, usage.ExitOK, code, talk)
			require.NoError(t, json.Unmarshal([]byte(out), &v))
			done := 0
			for _, h := range v.Hooks {
				if h.State == "done" {
					done++
				}
			}
			return done == n
		})
	}
	told(10)

	// The one that came first has all the work. It is killed.
	require.NoError(t, first.cmd.Process.Kill())
	_ = first.cmd.Wait() // killed
	sell(5, second)
	told(15)
	events, times := hook.events()
	require.Equal(t, events, times, "an event was sent twice")

	require.Equal(t, 15, captured(t, place))
	code, out, talk := ask("hooks", "dead", "--db", place, "--tolerate", "no-fsync", "--json")
	require.Equal(t, usage.ExitOK, code, talk)
	require.JSONEq(t, `{"schema":"posagent.hooks/1","hooks":[]}`, out)
}

// captured is how many sales the books of a database have, each with its money.
func captured(t *testing.T, place string) int {
	t.Helper()
	return merchant(t, place) / 500
}

// merchant is what the merchant has, in minor units. All of the books has to sum to nothing.
func merchant(t *testing.T, place string) (n int) {
	t.Helper()
	code, out, talk := ask("books", "--db", place, "--tolerate", "no-fsync", "--json")
	require.Equal(t, usage.ExitOK, code, talk)
	var list []struct {
		Type     string
		Postings []struct {
			Account string
			Amount  int
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	sum := 0
	for _, e := range list {
		for _, p := range e.Postings {
			sum += p.Amount
			if p.Account == "merchant" {
				n += p.Amount
			}
		}
	}
	require.Zero(t, sum)
	return n
}

// A process that ends tells the balancer first, and serves on meanwhile.
func TestLeavesTheBalancer(t *testing.T) {
	db := pgtest.Open(t)
	p := begin(t, db.Place(), nil, "")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	need.Until(t, "the balancer to be told", func() bool { return p.ready() == http.StatusServiceUnavailable })
	_, err := p.payments().Create(t.Context(), wire.NewKey(), sale(""))
	require.NoError(t, err, "a request that was on its way is served")
	require.NoError(t, p.cmd.Wait(), p.said)
}

// A balancer is told when the database is away, and when it is back.
func TestTheDatabaseIsAway(t *testing.T) {
	db := pgtest.Start(t)
	p := begin(t, db.URL(""), nil, "")
	db.Crash()
	need.Until(t, "the balancer to be told", func() bool { return p.ready() == http.StatusServiceUnavailable })
	key := wire.NewKey()
	_, err := p.payments().Create(t.Context(), key, sale(""))
	require.Equal(t, wire.Unavailable, wire.CodeOf(err), "nothing was begun: %v", err)
	db.Start()
	need.Until(t, "the server to be found again", func() bool { return p.ready() == http.StatusNoContent })
	_, err = p.payments().Create(t.Context(), key, sale(""))
	require.NoError(t, err)
	require.Equal(t, 1, captured(t, db.URL("")))
}

// nothing is what services answer to an id with a NUL, each in its own way.
var nothing = map[string]int{
	"/api/v1/payments/a%00b": 400, "/api/v1/tokens/a%00b": 400, "/api/v1/onboarding/applications/a%00b": 400, "/ms/naa/terminal/method/list/a%00b": 404,
	"/pay/a%00b": 404, "/wallet/a%00b": 404, "/checkout/a%00b": 404, "/fields/a%00b": 404, "/fields/a/a%00b": 404, "/away/a%00b": 404,
	"/ms/aapay/v2/transaction/status/a%00b": 404,
}

// A standby that hangs: a process is not ready while no commit is confirmed, whatever else goes well; it is again afterwards, and what was
// asked meanwhile has one effect. What nothing can be found by is not found, as on a file.
func TestNotReadyWhileCommitsHang(t *testing.T) {
	db := pgtest.Start(t)
	standby := db.Standby("s1")
	db.Set("synchronous_standby_names", "ANY 1 (s1)")
	need.Until(t, "the standby to count", func() bool {
		return db.Count("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'quorum'") == 1
	})
	p := begin(t, db.URL(""), nil, "")
	require.Equal(t, http.StatusNoContent, p.ready())
	status := map[string]int{}
	for path := range nothing {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+path, nil)
		require.NoError(t, err)
		resp, err := bearer{}.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		status[path] = resp.StatusCode
	}
	require.Equal(t, nothing, status)

	standby.Stop()
	key, told := wire.NewKey(), make(chan error, 1)
	go func() {
		_, err := p.payments().Create(t.Context(), key, sale(""))
		told <- err
	}()
	need.Until(t, "a process that is not ready", func() bool { return p.ready() == http.StatusServiceUnavailable })
	require.Empty(t, told, "it leaves the balancer before a caller has given up")
	err := <-told
	require.Error(t, err)
	require.Equal(t, http.StatusServiceUnavailable, p.ready())
	commits := func() int { return db.Count("SELECT xact_commit FROM pg_stat_database WHERE datname = 'postgres'") }
	for until := commits() + 40; commits() < until; { // sweeps that change nothing go well
		require.Equal(t, http.StatusServiceUnavailable, p.ready())
		<-time.After(20 * time.Millisecond)
	}

	standby.Continue()
	need.Until(t, "a ready process", func() bool { return p.ready() == http.StatusNoContent })
	for range 2 {
		_, err = p.payments().Create(t.Context(), key, sale(""))
		require.NoError(t, err)
	}
	require.Equal(t, 1, captured(t, db.URL("")))
	p.end()
	require.NotContains(t, p.said.String(), "SQLSTATE 4", "the server refused a statement of ours")
	standby.Crash()
}

// refusedStart wants a start to end with an exit code, and with what to type.
func refusedStart(t *testing.T, code int, says string, args ...string) {
	t.Helper()
	got, out, talk := ask(append(args, "--listen", "127.0.0.1:0")...)
	require.Equal(t, code, got, talk)
	require.Contains(t, talk, says)
	require.NotContains(t, talk, "hunter2")
	require.Empty(t, out)
}

// What is refused before any server answers.
func TestRefusalsWithoutAServer(t *testing.T) {
	dir, away := t.TempDir(), "postgres://posagent:hunter2@127.0.0.1:1/x"
	refusedStart(t, usage.ExitUsage, "which database?", "--state", dir)
	refusedStart(t, usage.ExitUsage, "cannot be read", "--db", "postgres://posagent:hunter2@[/x", "--state", dir)
	refusedStart(t, usage.ExitUsage, "--drain -5s is negative", "--db", away, "--state", dir, "--drain", "-5s")
	refusedStart(t, usage.ExitUsage, `no danger "everything"`, "--db", away, "--tolerate", "everything", "--state", dir)
	refusedStart(t, usage.ExitNoBackend, "posagent-backend: ", "--db", away, "--state", filepath.Join(dir, "none"))
	file := filepath.Join(dir, "url")
	require.NoError(t, os.WriteFile(file, []byte(away+"\n"), 0o644))
	refusedStart(t, usage.ExitConfig, "chmod 600 "+file, "--db-file", file, "--state", dir)
	code, _, talk := ask("fleet", "list", "--db", away)
	require.Equal(t, usage.ExitNoBackend, code, talk)
	require.NotContains(t, talk, "hunter2")
}

// What is refused at the start, each with its own exit code and what to type.
func TestRefusals(t *testing.T) {
	db := pgtest.Open(t)
	place, dir := db.Place(), t.TempDir()
	p := begin(t, place, nil, "")
	refused := func(code int, says string, args ...string) { t.Helper(); refusedStart(t, code, says, args...) }
	refused(usage.ExitRefused, "--tolerate takes the danger", "--db", place, "--state", dir)
	refused(usage.ExitDamaged, "copy the one that the first process made", "--db", place, "--tolerate", "no-fsync", "--state", filepath.Join(dir, "other"))
	require.NoFileExists(t, filepath.Join(dir, "other", "backend.key"), "a key that fits nothing")
	refused(usage.ExitRefused, "give each its own --state DIR", "--db", place, "--tolerate", "no-fsync", "--state", p.dir)

	file := filepath.Join(dir, "url")
	require.NoError(t, os.WriteFile(file, []byte(place+"\n"), 0o600))
	code, _, talk := ask("books", "--db-file", file, "--tolerate", "no-fsync")
	require.Equal(t, usage.ExitOK, code, talk)
	code, _, talk = ask("books", "--db", db.Place(), "--tolerate", "no-fsync")
	require.Equal(t, usage.ExitFailed, code, "a schema without books: %s", talk)
	code, _, talk = ask("books", "--db", place)
	require.Equal(t, usage.ExitRefused, code, talk)

	code, out, talk := ask("database", "--db", place, "--tolerate", "no-fsync", "--state", p.dir, "--json")
	require.Equal(t, usage.ExitOK, code, talk)
	var v databaseView
	require.NoError(t, json.Unmarshal([]byte(out), &v))
	require.Equal(t, v.Remembered.System, v.Server.System)

	// Nothing is made in a place without books, and no key is left behind for a copy that cannot be made.
	none, to := filepath.Join(dir, "nobooks"), filepath.Join(dir, "to")
	code, _, talk = ask("migrate", "--give-up", "--from", "sqlite:"+none, "--state", dir)
	require.Equal(t, usage.ExitFailed, code, talk)
	require.Contains(t, talk, "posagent backend --state DIR has its books in DIR/backend")
	require.NoDirExists(t, none)
	code, _, talk = ask("migrate", "--dry-run", "--from", "sqlite:"+p.dir, "--to", db.URL("nowhere"), "--tolerate", "no-fsync", "--state", to)
	require.Equal(t, usage.ExitFailed, code, talk)
	require.NoFileExists(t, filepath.Join(to, "backend.key"))

	// Another server has taken its place.
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, p.cmd.Wait())
	other := pgtest.Start(t)
	refused(usage.ExitRefused, "database forget --reason TEXT", "--db", other.URL(""), "--tolerate", "no-fsync", "--state", p.dir)
	code, _, talk = ask("database", "forget", "--state", p.dir)
	require.Equal(t, usage.ExitUsage, code, talk)
	code, _, talk = ask("database", "forget", "--state", p.dir, "--reason", "moved")
	require.Equal(t, usage.ExitOK, code, talk)
	code, _, talk = ask("database", "forget", "--state", p.dir, "--reason", "moved")
	require.Equal(t, usage.ExitFailed, code, talk)
}

// An account that has no more than what is printed serves, and can neither change tables nor read what is not the backend's.
func TestLeastRights(t *testing.T) {
	db := pgtest.Start(t)
	db.Exec("", "CREATE ROLE serves LOGIN; CREATE SCHEMA pos")
	owner := &process{dir: t.TempDir()}
	code, out, talk := ask("database", "upgrade", "--db", db.URL("pos"), "--state", owner.dir, "--tolerate", "no-fsync")
	require.Equal(t, usage.ExitOK, code, talk)
	require.Contains(t, talk, "schema pos is up to date")
	serves := strings.Replace(db.URL("pos"), "posagent@", "serves@", 1)
	_, _, talk = ask("books", "--db", serves, "--tolerate", "no-fsync")
	require.Contains(t, talk, "database upgrade makes the tables")
	db.Exec("", strings.ReplaceAll(out, "SERVES", "serves"))
	p := begin(t, serves, owner, "")
	_, err := p.payments().Create(t.Context(), wire.NewKey(), sale(""))
	require.NoError(t, err)
	require.Equal(t, 1, captured(t, serves))
	for _, statement := range []string{
		"DROP TABLE books_posting", "CREATE TABLE mine (n INTEGER)", "ALTER TABLE books_posting ADD COLUMN n INTEGER", "TRUNCATE books_posting",
		"INSERT INTO store_steps (version, name, sum) VALUES (999, 'x', 'y')", "SELECT rolpassword FROM pg_authid", "CREATE SCHEMA other", "SET ROLE posagent",
		"SELECT setval('store_number_wallets_txn', 1)", "UPDATE store_server SET name = 'x'",
	} {
		require.Error(t, db.Try(serves, statement), statement)
	}
	// A table and a count that the owner makes for a newer program are no affair of a process that runs.
	db.Exec(db.URL("pos"), "CREATE TABLE newer (n INTEGER); INSERT INTO store_number (name, last) VALUES ('newer', 0)")
	// A right that is taken away later ends all work, and the balancer's hold on the process; given back, it serves again.
	for _, c := range []struct {
		change string
		code   int
	}{{"REVOKE UPDATE ON pos.books_ledger FROM serves", 503}, {"GRANT UPDATE ON pos.books_ledger TO serves", 204}} {
		db.Exec("", c.change)
		need.Until(t, fmt.Sprint(c.change, " to end in ", c.code), func() bool {
			res, err := http.Get(p.url + "/readyz")
			if err != nil {
				return false
			}
			_ = res.Body.Close()
			return res.StatusCode == c.code
		})
	}
	p.end()
	require.NotContains(t, p.said.String(), "newer")
	db.Exec(db.URL("pos"), "DROP TABLE newer; DROP SEQUENCE store_number_newer")
	db.Exec("", "REVOKE SELECT ON pos.cards_payment FROM serves")
	code, _, talk = ask("--db", serves, "--state", t.TempDir(), "--tolerate", "no-fsync")
	require.Equal(t, usage.ExitAuth, code, talk)
	require.Contains(t, talk, "SELECT on cards_payment")
	require.Contains(t, talk, "database upgrade, as the owner of the tables")
	// A table of somebody else's is no affair of the account's.
	db.Exec("", "GRANT SELECT ON pos.cards_payment TO serves; CREATE ROLE clerk; CREATE TABLE pos.notes (n INTEGER); ALTER TABLE pos.notes OWNER TO clerk")
	begin(t, serves, owner, "").end()

	// What lets numbers go on runs as the owner: it takes no table of the account's for one of the schema's.
	require.NoError(t, db.Try(serves, `CREATE TEMPORARY TABLE store_server (id BIGINT PRIMARY KEY, name TEXT NOT NULL);
		CREATE FUNCTION pg_temp.take() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'CREATE ROLE taken SUPERUSER'; RETURN NEW; END $$;
		CREATE TRIGGER take BEFORE INSERT ON store_server FOR EACH ROW EXECUTE FUNCTION pg_temp.take();
		SELECT store_numbers_by('x', true)`))
	require.Zero(t, db.Count("SELECT count(*) FROM pg_roles WHERE rolname = 'taken'"))
}
