package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/doctor/exam"
	"posagent/agent/ready"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// TestAFaultBelongsToOneStepOfTheWay: each cause of the backend fails one check, and a silence fails the one that it came in.
func TestAFaultBelongsToOneStepOfTheWay(t *testing.T) {
	for _, tc := range []struct {
		answer Answer
		want   string
	}{
		{Answer{}, ""}, {Answer{Cause: "no_route"}, "PA-NET-001"}, {Answer{Cause: "name_service"}, "PA-NET-002"}, {Answer{Cause: "no_name"}, "PA-NET-003"},
		{Answer{Cause: "proxy_down"}, "PA-NET-004"}, {Answer{Cause: "proxy_login"}, "PA-NET-004"}, {Answer{Cause: "proxy_refuses"}, "PA-NET-004"},
		{Answer{Cause: "refused"}, "PA-NET-005"}, {Answer{Cause: "bad_tls", TLS: true}, "PA-NET-006"}, {Answer{Cause: "expired", TLS: true}, "PA-NET-007"},
		{Answer{Cause: "untrusted", TLS: true}, "PA-NET-008"}, {Answer{Cause: "wrong_name", TLS: true}, "PA-NET-009"}, {Answer{Cause: "wrong_pin", TLS: true}, "PA-NET-010"},
		{Answer{Cause: "weak_key", TLS: true}, "PA-NET-010"}, {Answer{Cause: "portal"}, "PA-NET-012"}, {Answer{Cause: "failing"}, "PA-UPS-001"},
		{Answer{Cause: "too_many"}, "PA-UPS-001"}, {Answer{Cause: "no_service"}, "PA-UPS-002"}, {Answer{Cause: "credentials"}, "PA-UPS-003"}, {Answer{Cause: "no_list"}, "PA-UPS-004"},
		{Answer{Cause: "stall", Phase: Begun}, "PA-NET-005"}, {Answer{Cause: "stall", Phase: Found, TLS: true}, "PA-NET-005"},
		{Answer{Cause: "stall", Phase: Connected, TLS: true}, "PA-NET-006"}, {Answer{Cause: "stall", Phase: Connected}, "PA-NET-011"},
		{Answer{Cause: "stall", Phase: Secured, TLS: true}, "PA-NET-011"}, {Answer{Cause: "broken", Phase: Answered}, "PA-NET-011"},
		{Answer{Cause: "broken", Phase: Begun, TLS: true}, "PA-NET-005"}, {Answer{Cause: "broken", Phase: Connected, TLS: true}, "PA-NET-006"},
	} {
		got := ""
		for _, w := range ways {
			if w.fails(tc.answer) {
				require.Empty(t, got, "%+v fails %s too", tc.answer, w.id)
				got = w.id
			}
		}
		require.Equal(t, tc.want, got, "%+v", tc.answer)
	}
}

// TestEveryCauseOfTheBackendHasACheck: of those that package ready has words for, each is found by one step of the way, or by a check of
// what is behind it.
func TestEveryCauseOfTheBackendHasACheck(t *testing.T) {
	elsewhere := map[ready.Cause]bool{ // journal, line, start: other checks
		ready.Config: true, ready.NoConfig: true, ready.Unenrolled: true, ready.Enrolling: true, ready.NotTrusted: true, ready.Replaced: true, ready.NoRecord: true, ready.NotConfirmed: true, ready.NoAccess: true, ready.Stopped: true, ready.AddressTaken: true, ready.Starting: true, ready.Resuming: true, ready.Asking: true, ready.DiskFull: true, ready.ReadOnly: true, ready.BatchFull: true,
		ready.Journal: true, ready.Locked: true, ready.Silent: true, ready.Cut: true, ready.Lost: true, ready.KeyMissing: true, ready.KeyUnfit: true, ready.KeyWrong: true, ready.NoLine: true, ready.LineGone: true, ready.LinePulled: true, ready.LineDenied: true,
		ready.LineBusy: true, ready.LineOurs: true, ready.LineStuck: true, ready.LineAltered: true, ready.LineNoTTY: true, ready.LineFailed: true, ready.LineAddress: true, ready.PortAddress: true, ready.PadGone: true, ready.PadDenied: true, ready.PadFailed: true, ready.PadStuck: true, ready.ScreenGone: true, ready.ScreenDenied: true, ready.ScreenFailed: true, ready.ScreenFile: true, ready.ScreenSmall: true, ready.ScreenStuck: true, ready.PageUnseen: true, ready.NoMethods: true, ready.Unfit: true, ready.Unreadable: true, ready.ServiceRefused: true, ready.Displaced: true, ready.ConfigChanged: true, ready.Zone: true, ready.Unmarked: true,
	}
	for _, cause := range ready.Causes() {
		found := false
		for _, w := range ways {
			found = found || w.fails(Answer{Cause: cause, Phase: Secured})
		}
		require.NotEqual(t, elsewhere[cause], found, cause)
	}
}

// TestALineOrAProgramThatSells: a terminal without both can sell nothing, and either makes it whole.
func TestALineOrAProgramThatSells(t *testing.T) {
	c, ok := Find("PA-SER-001")
	require.True(t, ok)
	for _, whole := range []Config{{Serial: []string{"/dev/ttyS0"}}, {TCP: []string{"127.0.0.1:20007"}}, {Sellers: 1}, {Sandbox: true}} {
		require.Equal(t, exam.Pass, c.Look(t.Context(), &Facts{Config: whole}).Status, "%+v", whole)
	}
	found := c.Look(t.Context(), &Facts{Place: ready.Place{Config: "/c.toml"}})
	require.Equal(t, exam.Fail, found.Status)
	require.Contains(t, found.Do, `set [ecr] serial or tcp in /c.toml, or give a client of [port.clients] may = ["read", "sales"]`)
}

// TestEachTextBelongsToACheck: a language has one paragraph for each check, and none beside.
func TestEachTextBelongsToACheck(t *testing.T) {
	for _, language := range []string{englishText, germanText} {
		paragraphs := strings.Split(strings.TrimSpace(language), "\n\n")
		require.Len(t, paragraphs, len(Checks()))
		require.Len(t, exam.Texts(language), len(Checks()))
		for id, text := range exam.Texts(language) {
			_, ok := Find(id)
			require.True(t, ok, "%s: %s", id, text.Title)
		}
	}
}

// TestJudges: the limits of the checks that compare figures, each from both sides.
func TestJudges(t *testing.T) {
	day := 24 * time.Hour
	for name, tc := range map[string]struct {
		found Finding
		want  exam.Status
	}{
		"no operation waits":                 {oldest(Journal{}, noon, time.Hour), exam.Pass},
		"an hour, no limit":                  {oldest(Journal{Oldest: noon.Add(-time.Hour)}, noon, 0), exam.Pass},
		"more than an hour, no limit":        {oldest(Journal{Oldest: noon.Add(-time.Hour - time.Second)}, noon, 0), exam.Fail},
		"more than an hour, limit a week":    {oldest(Journal{Oldest: noon.Add(-time.Hour - time.Second)}, noon, 7*day), exam.Fail},
		"half of the limit":                  {oldest(Journal{Oldest: noon.Add(-10 * time.Second)}, noon, 20*time.Second), exam.Pass},
		"more than half of the limit":        {oldest(Journal{Oldest: noon.Add(-11 * time.Second)}, noon, 20*time.Second), exam.Fail},
		"no list":                            {fresh(time.Time{}, noon, time.Hour), exam.Skip},
		"a list three times as old":          {fresh(noon.Add(-3*time.Hour-30*time.Second), noon, time.Hour), exam.Pass},
		"a list that is older":               {fresh(noon.Add(-3*time.Hour-31*time.Second), noon, time.Hour), exam.Fail},
		"an operation that is to come":       {oldest(Journal{Oldest: noon.Add(time.Hour)}, noon, time.Hour), exam.Skip},
		"a list that is to come":             {fresh(noon.Add(time.Second), noon, time.Hour), exam.Skip},
		"the backend says no time":           {drift(Answer{At: noon}), exam.Skip},
		"29 s behind":                        {drift(Answer{At: noon, Clock: noon.Add(29 * time.Second)}), exam.Pass},
		"30 s behind":                        {drift(Answer{At: noon, Clock: noon.Add(30 * time.Second)}), exam.Warn},
		"five minutes ahead":                 {drift(Answer{At: noon, Clock: noon.Add(-5 * time.Minute)}), exam.Fail},
		"a certificate of a month":           {dates(noon.Add(-day), noon.Add(30*day), noon), exam.Pass},
		"a certificate of less":              {dates(noon.Add(-day), noon.Add(30*day-time.Second), noon), exam.Warn},
		"a certificate that ends now":        {dates(noon.Add(-day), noon, noon), exam.Fail},
		"a certificate of tomorrow":          {dates(noon.Add(day), noon.Add(90*day), noon), exam.Fail},
		"a file system that counts no inode": {exam.Inodes(0, 0), exam.Pass},
		"one inode of a hundred":             {exam.Inodes(1000, 10), exam.Pass},
		"less":                               {exam.Inodes(1000, 9), exam.Warn},
		"none":                               {exam.Inodes(1000, 0), exam.Fail},
	} {
		require.Equal(t, tc.want, tc.found.Status, name)
		if tc.want == exam.Fail || tc.want == exam.Warn {
			require.Contains(t, tc.found.Saw, "seen", name)
		}
	}
}

// TestConfigurationErrorsBelongToOneCheck: none is lost, and none is told twice.
func TestConfigurationErrorsBelongToOneCheck(t *testing.T) {
	for want, p := range map[string]Problem{
		"PA-CFG-002": {Where: "/c.toml:3", Text: "expected '=', got 'x'"},
		"PA-CFG-003": {Where: "/c.toml:4", Key: "terminal.terminal_idd", Text: "unknown key, did you mean terminal.terminal_id?"},
		"PA-CFG-004": {Where: "/c.toml:5", Key: "upstream.auth.bearer_file", Text: "open /x: no such file or directory"},
		"PA-CFG-005": {Key: "terminal.bax_id", Text: "missing; [upstream] names a real backend"},
	} {
		f := &Facts{Config: Config{Named: true, Problems: []Problem{p}}}
		for _, c := range configChecks()[1:5] {
			found := c.Look(t.Context(), f)
			if c.ID != want {
				require.Equal(t, exam.Pass, found.Status, "%s of %+v", c.ID, p)
				continue
			}
			require.Equal(t, exam.Fail, found.Status, "%s of %+v", c.ID, p)
			require.Contains(t, found.Saw[1], p.Text)
		}
	}
	secret := Problem{Where: "/c.toml:6", Key: "port.token", Text: "a secret in a file that others can read: chmod 600 /c.toml, or use port.token_file"}
	require.True(t, isSecret(secret))
	require.False(t, isSecret(Problem{Key: "upstream.auth.bearer_fil_file", Text: "unknown key"}))
}

// TestListeners reads the kernel's tables as they are written, both families.
func TestListeners(t *testing.T) {
	proc := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(proc, "net"), 0o700))
	const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	require.NoError(t, os.WriteFile(filepath.Join(proc, "net/tcp"), []byte(head+
		"   0: 0100007F:2120 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0\n"+
		"   1: 00000000:4E27 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4712 1 0\n"+
		"   2: 0100007F:1F90 0100007F:9999 01 00000000:00000000 00:00000000 00000000     0        0 4713 1 0\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(proc, "net/tcp6"), []byte(head+
		"   0: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4714 1 0\n"), 0o600))
	require.NoError(t, os.MkdirAll(filepath.Join(proc, "77/fd"), 0o700))
	require.NoError(t, os.Symlink("socket:[4711]", filepath.Join(proc, "77/fd/3")))
	require.NoError(t, os.WriteFile(filepath.Join(proc, "77/comm"), []byte("kiosk\n"), 0o600))
	for address, want := range map[string]string{
		"127.0.0.1:8480": "process 77 (kiosk)", "localhost:8480": "process 77 (kiosk)", "0.0.0.0:8480": "process 77 (kiosk)", ":8480": "process 77 (kiosk)",
		"127.0.0.2:8480": "free", "127.0.0.1:20007": "", "192.168.1.7:20007": "", "127.0.0.1:8080": "free", "[::1]:80": "", "127.0.0.1:80": "free", "127.0.0.1:0": "free", "": "free",
	} {
		taken, by := Listener(proc, address)
		if !taken {
			by = "free"
		}
		require.Equal(t, want, by, address)
	}
}

// TestTwins: a terminal with the same configuration or state, and nothing else.
func TestTwins(t *testing.T) {
	proc := t.TempDir()
	for pid, line := range map[string]string{
		"10": "/usr/bin/posagent\x00run\x00--config\x00/etc/posagent/config.toml\x00",
		"11": "posagent\x00run\x00--state=/var/lib/posagent\x00",
		"12": "posagent\x00status\x00--config\x00/etc/posagent/config.toml\x00",
		"13": "posagent\x00run\x00--config\x00/etc/other.toml\x00--state\x00/srv/other\x00",
		"14": "vi\x00run\x00--config\x00/etc/posagent/config.toml\x00",
		"15": "posagent\x00run\x00--config\x00config.toml\x00",
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(proc, pid), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(proc, pid, "cmdline"), []byte(line), 0o600))
	}
	require.NoError(t, os.Symlink("/etc/posagent", filepath.Join(proc, "15/cwd")))
	pidsOf := func(owner int) (list []int) {
		for _, p := range twins(proc, owner, 99, "/etc/posagent/config.toml", "/var/lib/posagent") {
			list = append(list, p.pid)
		}
		return list
	}
	require.ElementsMatch(t, []int{10, 11, 15}, pidsOf(0))
	require.ElementsMatch(t, []int{10, 15}, pidsOf(11))
	require.Empty(t, twins(proc, 0, 99, "", ""))
}

// TestSwapsAndUsers reads the kernel's words.
func TestSwapsAndUsers(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		return filepath.Join(dir, name)
	}
	require.Equal(t, []string{"/swapfile"}, swaps(write("swaps", "Filename\tType\tSize\tUsed\tPriority\n/dev/zram0 partition 1 0 5\n/swapfile file 1 0 -2\n/dev/dm-1 partition 1 0 1\n")))
	uid, ok := userOf(write("status", "Name:\tposagent\nUid:\t1000\t1001\t1000\t1000\n"))
	require.True(t, ok)
	require.Equal(t, 1001, uid)
	free, ok := available(write("meminfo", "MemTotal:  64000 kB\nMemAvailable:   16383 kB\n"))
	require.True(t, ok)
	require.EqualValues(t, 16383, free)
	_, ok = available(filepath.Join(dir, "none"))
	require.False(t, ok)
}

// TestAJournalThatIsTooLargeIsNoFailure: a check that cannot read everything in time says so, whether or not the journal hears of it.
func TestAJournalThatIsTooLargeIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		for name, quick := range map[string]func(context.Context) error{
			"interrupted": func(ctx context.Context) error { <-ctx.Done(); return errors.New("interrupted") },
			"deaf":        func(context.Context) error { <-over; return nil },
		} {
			journal := Journal{State: Readable, Quick: quick, Audit: func(ctx context.Context) ([]string, error) { return nil, quick(ctx) }}
			f := &Facts{Journal: func(context.Context) Journal { return journal }}
			for _, id := range []string{"PA-DB-004", "PA-DB-008"} {
				check, ok := Find(id)
				require.True(t, ok)
				check.After = nil
				r := exam.Examine(t.Context(), []Check{check}, f, exam.Usual())[0]
				require.Equal(t, exam.Skip, r.Status, "%s %s: %v", name, id, r.Evidence)
				require.Empty(t, r.Evidence[exam.WaitsFor])
				require.EqualValues(t, 3000, r.DurationMS)
			}
		}
		close(over)
	})
}

// TestWhatIsNotOnTheWayIsNotLookedAt: without TLS, name or proxy the steps of these have nothing to look at, and pass nothing.
func TestWhatIsNotOnTheWayIsNotLookedAt(t *testing.T) {
	for backend, tc := range map[string]struct {
		proxy bool
		none  []string
	}{
		"https://pay.example":       {false, []string{"PA-NET-004"}},
		"https://pay.example:8443":  {true, []string{"PA-NET-002", "PA-NET-003"}},
		"https://192.0.2.7/v1":      {false, []string{"PA-NET-002", "PA-NET-003", "PA-NET-004"}},
		"https://[2001:db8::7]:443": {false, []string{"PA-NET-002", "PA-NET-003", "PA-NET-004"}},
		"http://localhost:8481":     {false, []string{"PA-NET-004", "PA-NET-006", "PA-NET-007", "PA-NET-008", "PA-NET-009", "PA-NET-010"}},
	} {
		f := &Facts{Config: Config{Backend: backend, Proxy: tc.proxy}, Backend: func(context.Context) Answer { return Answer{Phase: Answered} }}
		var none []string
		for _, c := range networkChecks() {
			c.After = nil
			if r := exam.Examine(t.Context(), []Check{c}, f, exam.Usual())[0]; r.Status == exam.Skip {
				none = append(none, c.ID)
			} else {
				require.Equal(t, exam.Pass, r.Status, c.ID)
			}
		}
		require.Equal(t, tc.none, none, backend)
	}
}
