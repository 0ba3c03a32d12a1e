package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/cmd/usage"
	"posagent/cross/need"
	"posagent/ecr/zvt/frame"
	"posagent/schemes/backend"
	"posagent/store"
	"posagent/store/sqlite"
)

// codes are the exit codes, as they were promised: with the words of help, manual and visit page, and those of the README where it has others.
var codes = []struct {
	number      int
	means, also string
}{
	{0, "ok", ""},
	{1, "failed", ""},
	{2, "usage", ""},
	{3, "config", "configuration"},
	{4, "daemon not reachable", ""},
	{5, "not enrolled", ""},
	{6, "refused", ""},
	{7, "backend unreachable", "backend not reachable"},
	{8, "auth rejected", "credentials refused"},
	{9, "store damaged", ""},
	{130, "interrupted", ""},
}

// TestExitCodesAreOneTable: program, help, page for a visit and README list the same codes in the same order. The manual is held to the
// program by TestEveryVerbIsExplained.
func TestExitCodesAreOneTable(t *testing.T) {
	var line []string
	own := exitCodes()
	require.Len(t, own, len(codes))
	for i, c := range codes {
		require.Equal(t, usage.Code{Number: c.number, Means: c.means}, own[i])
		line = append(line, fmt.Sprintf("%d %s", c.number, c.means))
	}
	_, help, _ := ask(t, "--help")
	require.Contains(t, help, "\nExit codes: "+strings.Join(line, ", ")+".\n")
	_, page, found := strings.Cut(visitPage, "\nEXIT ")
	require.True(t, found)
	require.Equal(t, strings.Join(line, ", "), strings.Join(strings.Fields(page), " "))

	_, readme, found := strings.Cut(guide(t, "cmd/posagent/README.md"), "\n## Exit codes\n")
	require.True(t, found)
	readme, _, _ = strings.Cut(readme, "\n## ")
	readme = regexp.MustCompile(`\([^)]*\)`).ReplaceAllString(strings.Join(strings.Fields(readme), " "), "")
	listed := strings.Split(strings.TrimSuffix(readme, "."), ";")
	require.Len(t, listed, len(codes), readme)
	for i, c := range codes {
		words, _, _ := strings.Cut(strings.TrimSpace(listed[i]), ",")
		require.Contains(t, []string{fmt.Sprint(c.number, " ", c.means), fmt.Sprint(c.number, " ", c.also)}, words)
	}
}

// claims are the exit codes that the help of a verb promises beside those of every verb.
var claims = map[string][]int{
	"posagent audit":                {9},
	"posagent backend doctor":       {1},
	"posagent config check":         {3},
	"posagent demo":                 {0},
	"posagent doctor":               {0, 1, 3, 5, 9},
	"posagent enroll":               {0},
	"posagent journal pending":      {6},
	"posagent net check":            {0, 1, 5, 7, 8},
	"posagent ops":                  {4, 6},
	"posagent ops send":             {7},
	"posagent reconcile":            {0, 1, 2, 7, 8},
	"posagent register":             {0, 1},
	"posagent register certificate": {1},
	"posagent register decode":      {1},
	"posagent selftest":             {0, 1},
	"posagent serial loopback":      {0, 1},
	"posagent serial probe":         {0, 1},
	"posagent status":               {0, 1, 3, 4, 9},
	"posagent support record":       {0},
	"posagent torture":              {0, 1, 4, 6},
	"posagent upstream check":       {0, 1, 7, 8},
}

// TestEveryClaimIsListed: each exit code that a help names stands above, and the other way round.
func TestEveryClaimIsListed(t *testing.T) {
	sentence := regexp.MustCompile(`(?is)\bexits?\b.*?(\.\s|\.?$)`)
	number := regexp.MustCompile(`\b\d{1,3}\b`)
	found := map[string][]int{}
	for _, r := range usageOf(commands()).Rows() {
		texts := []string{r.Short, r.Long}
		for _, f := range usage.FlagsOf(r.Verb.Flags) {
			texts = append(texts, f.Help)
		}
		for _, text := range texts {
			for _, said := range sentence.FindAllString(text, -1) {
				for _, n := range number.FindAllString(said, -1) {
					code, err := strconv.Atoi(n)
					require.NoError(t, err)
					found[r.Path] = append(found[r.Path], code)
				}
			}
		}
		if list := found[r.Path]; list != nil {
			slices.Sort(list)
			found[r.Path] = slices.Compact(list)
		}
	}
	require.Equal(t, claims, found)
}

// exited is a run of the program with its exit code.
type exited struct {
	code int
	args []string
}

// path is the verb of a run, "" where it names none.
func (e exited) path() string {
	path, list := "posagent", commands()
	for i := 0; i < len(e.args) && len(list) > 0; i++ {
		word := e.args[i]
		if word == "--config" || word == "--state" {
			i++
			continue
		}
		at := slices.IndexFunc(list, func(c command) bool { return c.name == word })
		if at < 0 {
			if strings.HasPrefix(word, "-") {
				continue
			}
			break
		}
		path, list = path+" "+word, list[at].sub
	}
	return strings.TrimPrefix(path, "posagent")
}

// scripted are the runs of the scripts that TestScripts holds to an exit code, at one level or the other.
func scripted(t *testing.T) (list []exited) {
	run := regexp.MustCompile(`(?m)^(?:\[!short\] )?(?:exits (\d+)|exec) posagent (.*)$`)
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	require.NoError(t, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range run.FindAllStringSubmatch(string(data), -1) {
			if strings.HasSuffix(m[2], "&") {
				continue // it ends later
			}
			e := exited{args: strings.Fields(m[2])}
			if m[1] != "" {
				e.code, err = strconv.Atoi(m[1])
				require.NoError(t, err)
			}
			list = append(list, e)
		}
	}
	require.Greater(t, len(list), 300)
	return list
}

// TestEveryExitCode: the running program ends with each of its exit codes, and with each that the help of a verb promises. What needs a
// server or a line is run here; the scripts run the rest.
func TestEveryExitCode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	at := func(base string) []string {
		const text = "[terminal]\nbax_id = \"10000001\"\nterminal_id = \"20000001\"\nmerchant_id = \"demomerchant\"\n" +
			"[upstream]\nmethods = %[1]q\nschemes = %[1]q\npayments = %[1]q\n[upstream.auth]\nbearer = \"posagent-demo-bearer\"\n"
		return []string{"--config", file(fmt.Sprintf("at%x.toml", base), fmt.Sprintf(text, base)), "--state", filepath.Join(dir, "s")}
	}
	none := []string{"--config", file("none.toml", "[terminal]\nlanguage = \"de\"\n"), "--state", filepath.Join(dir, "s")}
	closed := "http://" + need.ClosedPort(t)
	refusing := plainServer(t, answer(401, "application/json", `{"valid":false,"error":{"message":"no"}}`))
	failing := plainServer(t, answer(500, "application/json", `{}`))
	b, err := backend.Open(t.Context(), backend.Config{
		Dir: t.TempDir(), PublicURL: "http://127.0.0.1:1", Synchronous: "OFF", Credentials: backend.Credentials{Bearer: "posagent-demo-bearer"},
	})
	require.NoError(t, err)
	require.NoError(t, b.Init(t.Context()))
	defer b.Close()
	well := plainServer(t, b.Handler().ServeHTTP)
	_, silent := cable(t)
	speaking, spoken := cable(t)
	registration, err := hex.DecodeString("060006123456020978")
	require.NoError(t, err)
	repeated(t, speaking, frame.EncodeBlock(registration))
	joined, plug := cable(t)
	go func() { _, _ = io.Copy(joined, joined) }()
	open, damaged := journals(t)
	list := file("till.csv", "amount,paid,reference\n12.50,yes,0192f0c100007000800000000000abcd\n")

	with := func(common []string, words ...string) []string { return append(words, common...) }
	runs := []exited{
		{0, []string{"version"}},
		{1, []string{"register", "decode", "0601"}},
		{1, with(none, "register", "certificate")},
		{2, []string{"stauts"}},
		{3, []string{"config", "check", "--config", filepath.Join(dir, "nowhere.toml")}},
		{4, with(none, "status")},
		{5, with(none, "net", "check")},
		{6, []string{"journal", "pending", "--state", open}},
		{7, with(none, "wallet", "pay", closed+"/wallet/x")},
		{8, with(none, "wallet", "pay", refusing+"/wallet/x")},
		{9, []string{"journal", "pending", "--state", damaged}},

		{0, with(at(well), "net", "check", "--json")},
		{1, with(at(failing), "net", "check", "--json")},
		{7, with(at(closed), "net", "check", "--json")},
		{8, with(at(refusing), "net", "check", "--json")},
		{0, with(at(well), "upstream", "check", "--json")},
		{1, with(at(failing), "upstream", "check", "--json")},
		{7, with(at(closed), "upstream", "check", "--json")},
		{8, with(at(refusing), "upstream", "check", "--json")},
		{7, append([]string{"reconcile", list, "--state", open}, at(closed)[:2]...)},
		{8, append([]string{"reconcile", list, "--state", open}, at(refusing)[:2]...)},
		{0, with(none, "serial", "probe", spoken, "--json", "--baud", "9600", "--within", "2m")},
		{1, with(none, "serial", "probe", silent, "--json", "--baud", "9600", "--within", "1s")},
		{0, with(none, "serial", "loopback", plug, "--json", "--bytes", "64", "--within", "0")},
		{1, with(none, "serial", "loopback", silent, "--json", "--bytes", "64", "--within", "1s")},
		interruptedRun(t, none),
	}
	ended := map[int]bool{}
	for _, e := range runs {
		code := e.code
		if code != exitInterrupted {
			out, err := exec.Command("posagent", e.args...).CombinedOutput()
			code = codeOf(t, err)
			require.NotEmpty(t, out, e.args)
			require.Equal(t, e.code, code, "%v: %s", e.args, out)
		}
		ended[code] = true
	}
	for _, c := range codes {
		require.True(t, ended[c.number], "nothing ended with %d", c.number)
	}
	require.Len(t, ended, len(codes))

	all := append(runs, scripted(t)...)
	for path, list := range claims {
		for _, code := range list {
			require.True(t, slices.ContainsFunc(all, func(e exited) bool {
				return e.code == code && strings.HasPrefix("posagent"+e.path()+" ", path+" ")
			}), "%s promises exit %d, and no test runs it", path, code)
		}
	}
}

// interruptedRun lets a verb wait for a server, interrupts it, and wants exit code 130.
func interruptedRun(t *testing.T, more []string) exited {
	asked := make(chan struct{}, 1)
	slow := plainServer(t, func(_ http.ResponseWriter, r *http.Request) { asked <- struct{}{}; <-r.Context().Done() })
	e := exited{exitInterrupted, append([]string{"wallet", "pay", slow + "/wallet/x"}, more...)}
	cmd := exec.Command("posagent", e.args...)
	var said strings.Builder
	cmd.Stderr = &said
	require.NoError(t, cmd.Start())
	need.Receive(t, "a request", asked)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.Equal(t, exitInterrupted, codeOf(t, cmd.Wait()), said.String())
	require.Equal(t, "posagent: interrupted\n", said.String())
	return e
}

func codeOf(t *testing.T, err error) int {
	t.Helper()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return failed.ExitCode()
	}
	require.NoError(t, err)
	return exitOK
}

// journals makes two state directories: with an operation that is not at its end, and with a journal whose head was overwritten.
func journals(t *testing.T) (open, damaged string) {
	open = filepath.Join(t.TempDir(), "s")
	require.NoError(t, os.Mkdir(open, 0o700))
	keys, err := openKeys(callOn(t, open))
	require.NoError(t, err)
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(open, "agent.db"), Steps: agent.Schema(), Wrapper: keys, Ballast: -1})
	require.NoError(t, err)
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { _, err := tx.Exec(storedPayment); return err }))
	require.NoError(t, db.Close())
	damaged = image(t, open)
	f, err := os.OpenFile(filepath.Join(damaged, "agent.db"), os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("something else!!"), 0)
	require.NoError(t, errors.Join(err, f.Close()))
	return open, damaged
}
