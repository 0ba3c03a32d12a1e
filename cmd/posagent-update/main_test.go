package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"posagent/cmd/usage"
	"posagent/cmd/usage/usagetest"
	"posagent/cross/need"
)

// asProcess makes this test binary the program itself.
const asProcess = "POSAGENT_UPDATE_AS_PROCESS"

func TestMain(m *testing.M) {
	if os.Getenv(asProcess) != "" {
		main()
	}
	os.Exit(m.Run())
}

// ask runs the program.
func ask(args ...string) (code int, out, talk string) { return askUntil(context.Background(), args...) }

func askUntil(ctx context.Context, args ...string) (code int, out, talk string) {
	var o, e bytes.Buffer
	code = execute(ctx, args, &o, &e)
	return code, o.String(), e.String()
}

// TestEveryVerbIsExplained: help, manual page and completion have every verb and every flag; the shells themselves are asked.
func TestEveryVerbIsExplained(t *testing.T) {
	usagetest.Run(t, usagetest.Subject{Program: program(), Tool: need.Tool, Call: ask})
}

// place is a box with a program that says its version, whose terminal does not run.
type place struct {
	t   *testing.T
	dir string
}

func newPlace(t *testing.T) place {
	p := place{t, t.TempDir()}
	p.write("posagent", "#!/bin/sh\necho '{\"schema\":\"posagent.version/1\",\"version\":\"1.0.0\"}'\n")
	require.NoError(t, os.MkdirAll(p.at("updates"), 0o755))
	require.NoError(t, os.MkdirAll(p.at("settings"), 0o755))
	return p
}

func (p place) at(name string) string { return filepath.Join(p.dir, name) }

func (p place) write(name, text string) {
	p.t.Helper()
	require.NoError(p.t, os.WriteFile(p.at(name), []byte(text), 0o700))
}

// verb is a call of a verb on the place.
func (p place) verb(name string, more ...string) []string {
	args := []string{name, "--program", p.at("posagent"), "--terminal", p.at("state"), "--dir", p.at("updates"), "--settings", p.at("settings")}
	return append(append(args, "--target", "posagent-test"), more...)
}

// record writes down an update from a program to another one, of which the one in place is either.
func (p place) record(state, inPlace string) {
	p.t.Helper()
	data, err := os.ReadFile(p.at("posagent"))
	require.NoError(p.t, err)
	is := fmt.Sprintf("%x", sha256.Sum256(data))
	sums := map[string]string{"from": "00", "to": "11", inPlace: is}
	p.write("updates/record.json", fmt.Sprintf(`{"schema": "posagent.update-record/1", "box": "a box", "state": %q,
		"from": {"version": "0.9.0", "sha256": %q}, "to": {"version": "1.0.0", "sha256": %q}, "reason": "it printed nothing"}`, state, sums["from"], sums["to"]))
}

// keyFile writes a new key as openssl does, and returns its path.
func keyFile(t *testing.T) string {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600))
	return path
}

// repository makes a repository in which a version of posagent-test is offered, and trusts it. It returns its folder, and it with its keys
// as flags.
func (p place) repository(version string) (dir string, keys []string) {
	p.t.Helper()
	dir = p.at("repository")
	keys = []string{"--repository", dir, "--targets-key", keyFile(p.t), "--targets-key", keyFile(p.t), "--online-key", keyFile(p.t)}
	code, out, talk := ask(append([]string{"repository", "init", "--root-key", keyFile(p.t), "--root-key", keyFile(p.t), "--json"}, keys...)...)
	require.Zero(p.t, code, talk)
	p.schema("posagent.update-repository/1", out)
	p.write("posagent-test", "the program "+version)
	code, out, talk = ask(append([]string{"repository", "add", p.at("posagent-test"), "--version", version, "--json"}, keys...)...)
	require.Zero(p.t, code, talk)
	p.schema("posagent.update-repository/1", out)
	root, err := os.ReadFile(filepath.Join(dir, "1.root.json"))
	require.NoError(p.t, err)
	p.write("settings/root.json", string(root))
	return dir, keys
}

// schema wants one document of a schema, and no word of talk in it.
func (p place) schema(want, out string) map[string]any {
	p.t.Helper()
	var v map[string]any
	require.NoError(p.t, json.Unmarshal([]byte(out), &v), out)
	require.Equal(p.t, want, v["schema"], out)
	return v
}

// TestEveryExitCode: each code that the manual names, and no other: 4 and 5 are of terminals that run and are enrolled.
func TestEveryExitCode(t *testing.T) {
	seen := map[int]bool{}
	exits := func(t *testing.T, want int, said string, args ...string) {
		t.Helper()
		code, out, talk := ask(args...)
		require.Equal(t, want, code, out+talk)
		require.Contains(t, talk, said)
		if want != 0 {
			require.Empty(t, out, "data is of what succeeds")
		}
		seen[code] = true
	}
	t.Run("0", func(t *testing.T) { exits(t, 0, "", newPlace(t).verb("status")...) })
	t.Run("1 what a cut-off update is taken back from", func(t *testing.T) {
		p := newPlace(t)
		p.record("RETURNING", "from")
		exits(t, 1, "the new program was taken back: it printed nothing; 0.9.0 is in place again (posagent doctor; posagent history)", p.verb("resume")...)
		code, out, _ := ask(p.verb("status")...)
		require.Zero(t, code)
		require.Contains(t, out, "from 0.9.0 to 1.0.0, which was taken back: it printed nothing")
	})
	t.Run("2", func(t *testing.T) {
		p := newPlace(t)
		for said, args := range map[string][]string{
			"which verb?": {},
			`no verb "upate": did you mean "update"?`: {"upate"},
			`no verb "roll"`:                          {"repository", "roll"},
			"which of init, add, refresh?":            {"repository"},
			"flag provided but not defined: -at-once": p.verb("update", "--at-once"),
			`takes no argument "now"`:                 p.verb("update", "now"),
			"for which shell?":                        {"completion", "tcsh"},
			"--online-key is missing":                 {"repository", "refresh", "--repository", p.at("none")},
			"--root-key and --targets-key are miss":   {"repository", "init", "--online-key", keyFile(t), "--repository", p.at("none")},
			"repository add --version 1.2.3":          {"repository", "add", "--online-key", keyFile(t), "--repository", p.at("none")},
		} {
			exits(t, 2, said, args...)
		}
		require.NoDirExists(t, p.at("none"))
		require.NoFileExists(t, p.at("updates/lock"), "nothing was begun")
	})
	t.Run("3", func(t *testing.T) {
		p := newPlace(t)
		exits(t, 3, "no repository is configured", p.verb("check")...)
		p.write("settings/root.json", "{}")
		exits(t, 3, "write its address there, or --url, or --from FOLDER", p.verb("update")...)
		exits(t, 3, "--program FILE names it", p.verb("status", "--program", p.at("none"))...)
	})
	t.Run("6 another update is at work", func(t *testing.T) {
		p := newPlace(t)
		p.repository("2.0.0")
		lock, err := os.OpenFile(p.at("updates/lock"), os.O_CREATE|os.O_RDWR, 0o600)
		require.NoError(t, err)
		defer lock.Close()
		require.NoError(t, unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB))
		for _, verb := range []string{"check", "update", "resume", "rollback"} {
			args := p.verb(verb)
			if verb == "check" || verb == "update" {
				args = append(args, "--from", p.at("repository"))
			}
			exits(t, 6, "another update is at work (posagent-update status shows it)", args...)
		}
	})
	t.Run("6 no terminal would prove it", func(t *testing.T) {
		p := newPlace(t)
		dir, _ := p.repository("2.0.0")
		exits(t, 6, "no terminal runs on", p.verb("update", "--from", dir)...)
	})
	t.Run("6 there is nothing to go back to", func(t *testing.T) {
		exits(t, 6, "there is no way back: there is no ", newPlace(t).verb("rollback")...)
	})
	t.Run("6 a cut-off update ended well before the way back", func(t *testing.T) {
		p := newPlace(t)
		p.record("CONFIRMING", "to")
		exits(t, 6, "an update that was cut off has ended first, and nothing was put back", p.verb("rollback")...)
		code, out, _ := ask(p.verb("status")...)
		require.Zero(t, code)
		require.Contains(t, out, "from 0.9.0 to 1.0.0, which is in place")
	})
	t.Run("7", func(t *testing.T) {
		p := newPlace(t)
		p.repository("2.0.0")
		for said, from := range map[string][]string{
			"connection refused":     {"--url", "http://" + need.ClosedPort(t)},
			"none is no folder":      {"--from", p.at("none")},
			"there is no repository": {"--from", p.at("updates")},
		} {
			exits(t, 7, said, p.verb("check", from...)...)
		}
	})
	t.Run("8", func(t *testing.T) {
		p, other := newPlace(t), newPlace(t)
		p.repository("2.0.0")
		dir, _ := other.repository("2.0.0")
		exits(t, 8, "the repository is not trusted", p.verb("check", "--from", dir)...)
		exits(t, 8, "want https, or a folder", p.verb("check", "--url", "http://updates.example")...)
	})
	t.Run("9", func(t *testing.T) {
		for _, text := range []string{"no JSON", "{}", `{"schema": "posagent.update-record/1", "box": "b", "state": "LATER"}`} {
			p := newPlace(t)
			dir, _ := p.repository("2.0.0")
			p.write("updates/record.json", text)
			for _, args := range [][]string{p.verb("status"), p.verb("resume"), p.verb("rollback"), p.verb("check", "--from", dir), p.verb("update", "--from", dir)} {
				exits(t, 9, "the record of updates is damaged", args...)
			}
			data, err := os.ReadFile(p.at("updates/record.json"))
			require.NoError(t, err)
			require.Equal(t, text, string(data), "it is kept")
		}
	})
	t.Run("130", func(t *testing.T) {
		p := newPlace(t)
		p.repository("2.0.0")
		asked := make(chan struct{}, 1)
		slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- struct{}{}; <-r.Context().Done() }))
		defer slow.Close()
		cmd := exec.Command(os.Args[0], p.verb("update", "--url", slow.URL)...)
		cmd.Env = append(os.Environ(), asProcess+"=1", "NO_PROXY=127.0.0.1")
		var talk strings.Builder
		cmd.Stderr = &talk
		require.NoError(t, cmd.Start())
		need.Receive(t, "a request", asked)
		require.NoError(t, cmd.Process.Signal(os.Interrupt))
		require.Error(t, cmd.Wait())
		require.Equal(t, 130, cmd.ProcessState.ExitCode(), talk.String())
		require.Contains(t, talk.String(), "posagent-update resume goes on with it")
		seen[130] = true
	})

	var numbers []int
	for _, c := range exitCodes() {
		numbers = append(numbers, c.Number)
		require.True(t, seen[c.Number], "nothing ended with %d", c.Number)
	}
	require.Equal(t, []int{0, 1, 2, 3, 6, 7, 8, 9, 130}, numbers)
	for _, e := range ends {
		require.Contains(t, numbers, e.code, e.err)
	}
	require.NotContains(t, seen, usage.ExitNoDaemon)
	require.NotContains(t, seen, usage.ExitNotEnrolled)
	_, page, _ := ask("man")
	require.Contains(t, page, "4, for a terminal that does not run, and 5, for one that is not enrolled, never\ncome from this program.\n")
}

// TestEveryVerbPrintsItsSchema: with --json each verb prints one document, of a schema that its help names.
func TestEveryVerbPrintsItsSchema(t *testing.T) {
	p := newPlace(t)
	dir, keys := p.repository("2.0.0")
	old := newPlace(t)
	older, _ := old.repository("0.5.0")
	cut := func(inPlace, state string) place {
		p := newPlace(t)
		p.record(state, inPlace)
		return p
	}
	back := newPlace(t) // with another program before
	back.write("posagent.previous", "#!/bin/sh\necho '{\"schema\":\"posagent.version/1\",\"version\":\"0.9.0\"}'\n")
	ran := map[string]bool{}
	for _, c := range []struct {
		verb, schema string
		args         []string
		has          map[string]any
	}{
		{"check", "posagent.update-offer/1", p.verb("check", "--from", dir), map[string]any{"installed": "1.0.0", "offered": "2.0.0", "updated": false}},
		{"update", "posagent.update-offer/1", old.verb("update", "--from", older),
			map[string]any{"offered": "0.5.0", "updated": false, "why": "1.0.0 is in place, and the repository offers 0.5.0"}},
		{"resume", "posagent.update-resumed/1", p.verb("resume"), map[string]any{"resumed": false}},
		{"resume", "posagent.update-resumed/1", cut("to", "CONFIRMING").verb("resume"), map[string]any{"resumed": true}},
		{"rollback", "posagent.update/1", back.verb("rollback", "--reason", "it printed nothing"),
			map[string]any{"state": "IDLE", "takenBack": []any{"1.0.0 (1 times: it printed nothing)"}}},
		{"status", "posagent.update/1", p.verb("status"), map[string]any{"state": "IDLE"}},
		{"repository refresh", "posagent.update-repository/1", append([]string{"repository", "refresh"}, keys...), map[string]any{"timestamp": 3.0}},
		{"completion", "posagent.update-completion/1", []string{"completion", "fish"}, nil},
		{"man", "posagent.update-man/1", []string{"man"}, nil},
		{"version", "posagent.update-version/1", []string{"version"}, map[string]any{"version": linked}},
		{"version", "posagent.update-version/1", []string{"--version"}, nil},
	} {
		ran["posagent-update "+c.verb] = true
		code, out, talk := ask(append(c.args, "--json")...)
		require.Zero(t, code, "%s: %s", c.verb, talk)
		v := p.schema(c.schema, out)
		for key, want := range c.has {
			require.Equal(t, want, v[key], "%s: %s", c.verb, out)
		}
	}
	ran["posagent-update repository init"], ran["posagent-update repository add"] = true, true // repository
	for _, r := range program().Rows() {
		require.True(t, ran[r.Path] || r.Sub != nil, r.Path)
		require.Equal(t, r.Sub == nil, len(r.JSON) == 1, r.Path)
	}
	data, err := os.ReadFile(back.at("posagent"))
	require.NoError(t, err)
	require.Contains(t, string(data), "0.9.0", "the program before is in place")
}

// TestAFlagMayStandAnywhere: also behind the files of repository add, where it was taken for a file.
func TestAFlagMayStandAnywhere(t *testing.T) {
	p := newPlace(t)
	_, keys := p.repository("1.0.0")
	code, out, talk := ask(append([]string{"repository", "add", p.at("posagent-test"), "--version", "1.1.0", "--percent", "10"}, keys...)...)
	require.Zero(t, code, talk)
	require.Contains(t, out, "1 program(s) of version 1.1.0 are offered to 10 % of the boxes")
}

// TestLostOutput: a full disk is no success, and a reader who stops is no failure.
func TestLostOutput(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, r.Close())
	defer w.Close()
	var talk bytes.Buffer
	require.Equal(t, usage.ExitOK, execute(t.Context(), []string{"man"}, w, &talk))
	require.Empty(t, talk.String())
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	require.Equal(t, usage.ExitFailed, execute(t.Context(), []string{"man"}, full, &talk))
	require.Contains(t, talk.String(), "no space left")
}
