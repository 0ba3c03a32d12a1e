package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/schemes/wire"
	"posagent/store/postgres/pgtest"
)

// page is what a process says at a path of its monitor.
func (p *process) page(path string) string {
	p.t.Helper()
	resp, err := http.Get(p.monitor + path)
	require.NoError(p.t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(p.t, err)
	require.Less(p.t, resp.StatusCode, 300, "%s", data)
	return string(data)
}

// queried finds the figures that a text asks for.
var queried = regexp.MustCompile(`posagent_backend_[a-z_]+`)

// TestWhatToWatch: each figure of the dashboard, the alerts and the runbook is one that a running process gives.
func TestWhatToWatch(t *testing.T) {
	db := pgtest.Open(t)
	p := begin(t, db.Place(), nil, "", "--monitor", ":0", "--log-requests")
	require.True(t, strings.HasPrefix(p.monitor, "http://127.0.0.1:"), "a monitor without a host is for this machine alone: %s", p.monitor)
	key := wire.NewKey()
	_, err := p.payments().Create(t.Context(), key, sale(""))
	require.NoError(t, err)
	p.page("/livez")
	p.page("/readyz")
	given := map[string]bool{}
	need.Until(t, "the figures of the first sweep", func() bool { // the first sweep takes its moment
		for _, name := range queried.FindAllString(p.page("/metrics"), -1) {
			given[name] = true
		}
		return given["posagent_backend_sweep_last_success_timestamp_seconds"] && given["posagent_backend_leases_held"]
	})
	given["posagent_backend_request_duration_seconds"], given["posagent_backend_commit_duration_seconds"] = true, true // named whole in the runbook
	for _, file := range []string{"grafana.json", "README.md"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		names := queried.FindAllString(string(text), -1)
		require.Greater(t, len(names), 10, file)
		for _, name := range names {
			require.True(t, given[name], "%s asks for %s, which no process gives", file, name)
		}
	}
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, p.cmd.Wait(), p.said)
	require.Contains(t, p.said.String(), "msg=request sys=requests service=payments operation=payments.create method=POST status=201")
	require.Contains(t, p.said.String(), "key="+string(key))
}

// TestDashboard: it can be imported, and asks the source that is chosen.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile("grafana.json")
	require.NoError(t, err)
	var board struct {
		Title, UID    string
		SchemaVersion int
		ID            *int
		Templating    struct {
			List []struct{ Name, Type, Query any }
		}
		Panels []struct {
			ID         int
			Type       string
			Title      string
			Datasource struct{ Type, UID string }
			GridPos    struct{ X, Y, W, H int }
			Targets    []struct {
				Expr, RefID string
				Datasource  struct{ UID string }
			}
		}
	}
	require.NoError(t, json.Unmarshal(text, &board))
	require.NotEmpty(t, board.Title)
	require.NotEmpty(t, board.UID)
	require.GreaterOrEqual(t, board.SchemaVersion, 36)
	require.Nil(t, board.ID, "an import makes the id")
	require.Equal(t, []any{"datasource", "datasource", "prometheus"}, []any{board.Templating.List[0].Name, board.Templating.List[0].Type, board.Templating.List[0].Query})
	require.Greater(t, len(board.Panels), 15)
	ids := map[int]bool{}
	for _, p := range board.Panels {
		require.False(t, ids[p.ID], "two panels have the id %d", p.ID)
		ids[p.ID] = true
		require.Contains(t, []string{"timeseries", "stat"}, p.Type)
		require.Equal(t, "prometheus", p.Datasource.Type, p.Title)
		require.Equal(t, "${datasource}", p.Datasource.UID, p.Title)
		require.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, p.Title)
		require.NotEmpty(t, p.Targets, p.Title)
		for _, target := range p.Targets {
			require.Equal(t, "${datasource}", target.Datasource.UID, p.Title)
			require.Contains(t, target.Expr, "posagent_backend_", p.Title)
			for _, pair := range []string{"()", "{}", "[]"} {
				require.Equal(t, strings.Count(target.Expr, pair[:1]), strings.Count(target.Expr, pair[1:]), target.Expr)
			}
		}
	}
}

// TestAlerts: each rule of the runbook has what Prometheus wants of one.
func TestAlerts(t *testing.T) {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	rules := strings.Split(string(text), "          - alert: ")[1:]
	require.Len(t, rules, 8)
	for _, rule := range rules {
		rule, _, _ = strings.Cut(rule, "\n\n")
		require.Regexp(t, `^Posagent[A-Za-z]+\n            expr: `, rule)
		require.Regexp(t, `posagent_backend_`, rule)
		require.Regexp(t, `\n            labels: \{severity: (page|warn)\}`, rule)
		require.NotContains(t, rule, `service="probe"`)
	}
}
