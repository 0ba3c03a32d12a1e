package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"posagent/agent"
	"posagent/cross/need"
	"posagent/device"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/sqlite"
)

// sandbox is the configuration of the scripts that run a terminal.
const sandbox = `[port]
listen = "127.0.0.1:0"
[ecr]
tcp = "127.0.0.1:%s"
` + quick + `wallet_delay = "100ms"
`

// quick is what every sandbox has; it ends in [backend].
const quick = `[methods]
poll = "50ms"
[display]
console = false
[backend]
listen = "127.0.0.1:0"
`

// everyLine is a sandbox with a register line of each protocol and a local port.
const everyLine = quick + `wallet_delay = "100ms"
[port]
listen = "127.0.0.1:%s"
[[ecr]]
tcp = "127.0.0.1:%s"
[[ecr]]
protocol = "jsonl"
tcp = "127.0.0.1:%s"
password = "314159"
[[ecr]]
protocol = "nexo"
tcp = "127.0.0.1:%s"
poi_id = "POSAGENT-000020000001"
protocol_version = "3.1"
key_id = "till"
key_version = 2
passphrase = "correct horse battery staple"
[[ecr]]
protocol = "ecr17"
tcp = "127.0.0.1:%s"
lrc = "stx"
[[ecr]]
protocol = "caisse-ap"
tcp = "127.0.0.1:%s"
`

// remote is a terminal with a backend that can be cut off: ports of the register's line, the backend and the local port.
const remote = `[terminal]
bax_id = "10000001"
terminal_id = "20000001"
merchant_id = "demomerchant"
[ecr]
tcp = "127.0.0.1:%s"
[upstream]
base = "http://127.0.0.1:%s"
timeout = "2s"
[upstream.auth]
bearer = "posagent-demo-bearer"
consumer_key = "demo-consumer"
consumer_secret = "demo-consumer-secret"
instance = "demo"
secret = "demo-secret"
[port]
listen = "127.0.0.1:%s"
[offline]
answer_within = "10s"
[display]
console = false
`

func TestMain(m *testing.M) {
	// Scripts and terminals wait more than they compute: more of them run at a time than there are processors. A flag of the command line
	// has the last word.
	if err := flag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){"posagent": func() {
		signal.Ignore(syscall.SIGPIPE) // as main does
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		os.Exit(heldToSchema(context.WithValue(ctx, ownProcess{}, true), os.Args[1:]))
	}})
}

// pause lies between two looks of a script at what has to come. Each look is a process.
const pause = 20 * time.Millisecond

// TestScripts drives the program as a user does; `exits CODE posagent …` wants that exit code.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			var ports []any // for the register's line, a backend and a local port; of lines.toml for a local port and five lines
			for i, port := range need.Ports(t, 6) {
				env.Setenv([]string{"PORT", "PORT2", "PORT3", "PORT4", "PORT5", "PORT6"}[i], port)
				ports = append(ports, port)
			}
			text := fmt.Sprintf(sandbox, ports[0])
			cut := fmt.Sprintf(remote, ports[:3]...)
			keyless := strings.Replace(cut, "[offline]\n", "[offline]\nkeyless = [\"payments\"]\n", 1)
			for name, text := range map[string]string{"run.toml": text, "second.toml": text, "lines.toml": fmt.Sprintf(everyLine, ports...), "cut.toml": cut, "keyless.toml": keyless} {
				if err := os.WriteFile(filepath.Join(env.WorkDir, name), []byte(text), 0o600); err != nil {
					return err
				}
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"listening": func(ts *testscript.TestScript, neg bool, args []string) { // listening HOST:PORT, or a socket's path, waits for it
				network, at := "tcp", args[0]
				if strings.Contains(at, "/") {
					network, at = "unix", ts.MkAbs(at)
				}
				for end := need.Deadline(); ; <-time.After(pause) {
					conn, err := net.DialTimeout(network, at, need.Limit())
					if err == nil {
						_ = conn.Close()
						return
					}
					if time.Now().After(end) {
						ts.Fatalf("waited %s: %v", need.Limit(), err)
					}
				}
			},
			"frozen":  frozen,
			"spoil":   spoil,
			"damaged": damaged,
			"killed":  killed,
			"tamper":  tamper,
			"link":    link,
			"request": request,
			"browse":  browse,
			"first":   first,
			"field":   field,
			"pictured": func(ts *testscript.TestScript, neg bool, args []string) {
				ts.Check(pictured(ts.ReadFile(args[0]), ts.ReadFile(args[1]), guide(t, "README.md")))
			},
			"unpack": unpack,
			"mode": func(ts *testscript.TestScript, neg bool, args []string) { // mode 0600 FILE
				info, err := os.Stat(ts.MkAbs(args[1]))
				ts.Check(err)
				if got := fmt.Sprintf("%04o", info.Mode().Perm()); got != args[0] {
					ts.Fatalf("%s: mode %s, want %s", args[1], got, args[0])
				}
			},
			"eventually": func(ts *testscript.TestScript, neg bool, args []string) { // eventually PATTERN PROGRAM [ARG...] repeats it until it prints that
				end := need.Deadline()
				for want := regexp.MustCompile(args[0]); ; <-time.After(pause) {
					_ = ts.Exec(args[1], args[2:]...)
					if want.MatchString(ts.ReadFile("stdout")) {
						return
					}
					if time.Now().After(end) {
						ts.Fatalf("waited %s for %q", need.Limit(), args[0])
					}
				}
			},
			"decide": func(ts *testscript.TestScript, neg bool, args []string) { // decide VERB [ARG...] about the sale that is set aside
				ts.Check(ts.Exec("posagent", append([]string{"sale", "list", "--json"}, args[len(args)-4:]...)...))
				var list struct {
					Sales []struct{ ID, Aside string }
				}
				ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &list))
				for _, s := range list.Sales {
					if s.Aside != "" {
						ts.Check(ts.Exec("posagent", append([]string{"sale", args[0], s.ID}, args[1:]...)...))
						return
					}
				}
				ts.Fatalf("no sale is set aside")
			},
			"exits": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) < 2 {
					ts.Fatalf("usage: exits CODE PROGRAM [ARG...]")
				}
				want, err := strconv.Atoi(args[0])
				ts.Check(err)
				got := 0
				if err := ts.Exec(args[1], args[2:]...); err != nil {
					coded, ok := err.(interface{ ExitCode() int })
					if !ok {
						ts.Fatalf("%v", err)
					}
					got = coded.ExitCode()
				}
				if got != want {
					ts.Fatalf("exit code %d, want %d", got, want)
				}
			},
		},
	})
}

// tamper STATE SQL changes a journal from outside: nothing chains what it does.
func tamper(ts *testscript.TestScript, neg bool, args []string) {
	keys, err := device.OpenKeys(filepath.Join(ts.MkAbs(args[0]), "keys"))
	ts.Check(err)
	db, err := sqlite.Open(context.Background(), sqlite.Options{
		Path: filepath.Join(ts.MkAbs(args[0]), "agent.db"), Steps: agent.Schema(), Wrapper: keys, Ballast: -1,
	})
	ts.Check(err)
	ts.Check(db.Write(context.Background(), func(tx store.Tx) error { _, err := tx.Exec(args[1]); return err }))
	ts.Check(db.Close())
}

// tokenIn is the token in a file, once a terminal that starts has written it.
func tokenIn(ts *testscript.TestScript, path string) wire.Secret {
	for end := need.Deadline(); ; <-time.After(pause) {
		data, err := os.ReadFile(ts.MkAbs(path))
		if token := strings.TrimSpace(string(data)); token != "" {
			return wire.Secret(token)
		}
		if time.Now().After(end) {
			ts.Fatalf("no token in %s: %v", path, err)
		}
	}
}

// request STATUS METHOD URL TOKENFILE BODYFILE asks the local port as local software does.
func request(ts *testscript.TestScript, neg bool, args []string) {
	token := tokenIn(ts, args[3]).Reveal()
	var req *http.Request
	var resp *http.Response
	var body []byte
	for end := need.Deadline(); ; <-time.After(pause) {
		var err error
		req, err = http.NewRequest(args[1], args[2], strings.NewReader(ts.ReadFile(args[4])))
		ts.Check(err)
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		resp, err = (&http.Client{Timeout: need.Limit()}).Do(req)
		ts.Check(err)
		body, err = io.ReadAll(resp.Body)
		ts.Check(errors.Join(err, resp.Body.Close()))
		// A terminal that has just begun takes nothing for a service that it has not heard of yet.
		if resp.StatusCode != http.StatusServiceUnavailable || args[0] == "503" || time.Now().After(end) {
			break
		}
	}
	if fmt.Sprint(resp.StatusCode) != args[0] {
		ts.Fatalf("%s, want %s: %s", resp.Status, args[0], body)
	}
	if resp.StatusCode != http.StatusAccepted {
		return
	}
	// What was stored is found where the answer says.
	at, err := resp.Location()
	ts.Check(err)
	next, err := http.NewRequest(http.MethodGet, at.String(), http.NoBody)
	ts.Check(err)
	next.Header = req.Header
	found, err := (&http.Client{Timeout: need.Limit()}).Do(next)
	ts.Check(err)
	defer found.Body.Close()
	body, err = io.ReadAll(found.Body)
	ts.Check(err)
	if found.StatusCode != http.StatusOK || !strings.Contains(string(body), `"schema":"posagent.operation/1"`) || !strings.Contains(string(body), `"localId":"L`) {
		ts.Fatalf("%s: %s: %s", at, found.Status, body)
	}
}

// field NAME KEY PROGRAM [ARG...] sets a variable to the first text that stands under a key in the program's JSON.
func field(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(ts.Exec(args[2], args[3:]...))
	_, rest, _ := strings.Cut(ts.ReadFile("stdout"), `"`+args[1]+`": "`)
	text, _, found := strings.Cut(rest, `"`)
	if !found {
		ts.Fatalf("no %s", args[1])
	}
	ts.Setenv(args[0], text)
}

// unpack ARCHIVE DIR unpacks what posagent support has written. Each part that is named as JSON has to be JSON.
func unpack(ts *testscript.TestScript, neg bool, args []string) {
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	zip, err := gzip.NewReader(bytes.NewReader(data))
	ts.Check(err)
	for archive := tar.NewReader(zip); ; {
		head, err := archive.Next()
		if err == io.EOF {
			return
		}
		ts.Check(err)
		text, err := io.ReadAll(archive)
		ts.Check(err)
		_, name, _ := strings.Cut(head.Name, "/") // behind the marker
		path := filepath.Join(ts.MkAbs(args[1]), filepath.FromSlash(name))
		ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
		ts.Check(os.WriteFile(path, text, 0o600))
		if ext := filepath.Ext(name); ext != ".json" && ext != ".jsonl" {
			continue
		}
		for d := json.NewDecoder(bytes.NewReader(text)); ; {
			var v json.RawMessage
			if err := d.Decode(&v); err == io.EOF {
				break
			} else if err != nil {
				ts.Fatalf("%s is no JSON: %v\n%s", name, err, text)
			}
		}
	}
}

// first NAME PROGRAM [ARG...] sets a variable to the first key of an operation in the program's JSON.
func first(ts *testscript.TestScript, neg bool, args []string) {
	field(ts, neg, append([]string{args[0], "key"}, args[1:]...))
}
