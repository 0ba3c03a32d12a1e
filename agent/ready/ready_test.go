package ready_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/ready"
)

// well is a terminal that may be asked.
func well() ready.Facts {
	return ready.Facts{Resumed: true, Lines: 1, Held: true, Proven: true, At: ready.Place{Config: "/c.toml", Flags: " --config /c.toml"}}
}

// TestField_U2WhenARegisterMayAsk is the decision, case by case.
func TestField_U2WhenARegisterMayAsk(t *testing.T) {
	away := ready.Trouble{Cause: "stall", Where: "pay.example"}
	refused := ready.Trouble{Cause: "credentials", Where: "pay.example", Detail: "reply 401"}
	link := ready.Trouble{Cause: ready.ServiceRefused, Where: "pay.example", Detail: "the method Link, reply 403", Keys: "secret or instance"}
	for name, tc := range map[string]struct {
		change func(*ready.Facts)
		want   string
	}{
		"all is well": {func(*ready.Facts) {}, "READY"},
		"older sales": {func(f *ready.Facts) { f.Resumed = false }, "NOT READY: older sales are being resumed: posagent status --config /c.toml shows them; wait until they are settled"},
		"not confirmed": {func(f *ready.Facts) {
			f.Barred, f.Resumed = &ready.Trouble{Cause: ready.NotConfirmed, Where: "https://fleet.example", Detail: "the bundle is good until Monday"}, false
		}, "NOT READY: the operator's service at https://fleet.example has not confirmed this terminal yet, the bundle is good until Monday: connect the network, the terminal then goes on by itself; posagent enroll --config /c.toml tries at once, and says what is wrong"},
		"full disk":                {func(f *ready.Facts) { f.Store = &ready.Trouble{Cause: ready.DiskFull, Where: "/var/lib/p"} }, "NOT READY: no space left on the disk of /var/lib/p: df -h /var/lib/p shows it; free space there, but leave what is in /var/lib/p"},
		"no line":                  {func(f *ready.Facts) { f.Lines = 0 }, "NOT READY: no register line is set, and no local program may sell: set [ecr] serial or tcp in /c.toml, or give a client of [port.clients] may = [\"read\", \"sales\"], then posagent run --config /c.toml"},
		"no line, a program sells": {func(f *ready.Facts) { f.Lines, f.Sellers = 0, 1 }, "READY"},
		"a program sells, a line pulled": {func(f *ready.Facts) {
			f.Sellers, f.Closed = 1, []ready.Trouble{{Cause: ready.LinePulled, Where: "/dev/ttyUSB0"}}
		}, "NOT READY: the register line /dev/ttyUSB0 was unplugged: plug the cable in again; the terminal opens the line by itself"},
		"one line of two pulled": {func(f *ready.Facts) {
			f.Lines, f.Closed = 2, []ready.Trouble{{Cause: ready.LinePulled, Where: "/dev/ttyUSB0"}}
		}, "NOT READY: the register line /dev/ttyUSB0 was unplugged: plug the cable in again; the terminal opens the line by itself"},
		"no method":                        {func(f *ready.Facts) { f.Held, f.None = false, true }, "NOT READY: the backend knows no payment method for this merchant and terminal: correct bax_id and terminal_id of [terminal] in /c.toml, or ask the backend's operator to add one"},
		"no method that fits":              {func(f *ready.Facts) { f.Held, f.Unfit = false, true }, "NOT READY: none of the backend's payment methods can be sold here: posagent methods --config /c.toml shows them; one needs PAYMENT with REVERSAL or REFUND, and the trigger QR, or MANUAL and a keypad ([keypad] device); ask the backend's operator"},
		"a method of its own":              {func(f *ready.Facts) { f.None = true }, "READY"},
		"no answer yet":                    {func(f *ready.Facts) { f.Held = false }, "NOT READY: the backend has not answered yet: posagent status --config /c.toml, again in some seconds"},
		"not proven yet":                   {func(f *ready.Facts) { f.Proven = false }, "NOT READY: the backend has not answered yet: posagent status --config /c.toml, again in some seconds"},
		"away, nothing held":               {func(f *ready.Facts) { f.Held, f.Troubles = false, []ready.Trouble{away} }, "NOT READY: pay.example does not answer in time: curl -sv https://pay.example/ shows how far it gets; a firewall may block it, else call the backend's operator"},
		"away, not proven":                 {func(f *ready.Facts) { f.Proven, f.Troubles = false, []ready.Trouble{away} }, "NOT READY: pay.example does not answer in time: curl -sv https://pay.example/ shows how far it gets; a firewall may block it, else call the backend's operator"},
		"away, all held":                   {func(f *ready.Facts) { f.Troubles = []ready.Trouble{away} }, "READY, offline: pay.example does not answer in time: curl -sv https://pay.example/ shows how far it gets; a firewall may block it, else call the backend's operator"},
		"refused, all held":                {func(f *ready.Facts) { f.Troubles = []ready.Trouble{away, refused} }, "NOT READY: pay.example refuses the credentials, reply 401: correct [upstream.auth] in /c.toml, then start posagent again"},
		"a service refuses, other methods": {func(f *ready.Facts) { f.Method = &link }, "READY"},
		"a service refuses, no other method": {func(f *ready.Facts) { f.Method, f.Alone = &link, true },
			"NOT READY: pay.example refuses the credentials of one of its services, the method Link, reply 403: posagent net check --config /c.toml, then correct [upstream.auth] secret or instance in /c.toml, and start posagent again"},
		"a line before the network": {func(f *ready.Facts) {
			f.Held, f.Troubles, f.Closed = false, []ready.Trouble{away}, []ready.Trouble{{Cause: ready.LineBusy, Where: "/dev/ttyS0"}}
		}, "NOT READY: the register line /dev/ttyS0 is in use by another program: fuser -v /dev/ttyS0 names it; stop it"},
	} {
		f := well()
		tc.change(&f)
		r := ready.Judge(f)
		require.Equal(t, tc.want, r.Line(), name)
		require.Equal(t, strings.HasPrefix(tc.want, "READY"), r.Ready, name)
		require.Equal(t, r.Ready, r.NotReady == nil, name)
	}
}

// TestField_U3EachCauseHasItsOwnWordsAndRemedy: no two causes share a remedy, and each line can be taken apart by a program.
func TestField_U3EachCauseHasItsOwnWordsAndRemedy(t *testing.T) {
	words, remedies := map[string]ready.Cause{}, map[string]ready.Cause{}
	for _, c := range ready.Causes() {
		s := ready.Say(ready.Trouble{Cause: c, Where: "pay.example:443", Detail: "seen: this\nand that"}, ready.Place{Config: "/c.toml"})
		require.NotEmpty(t, s.Words, c)
		require.NotEmpty(t, s.Remedy, c)
		require.NotContains(t, s.Words, ": ", c)
		require.NotContains(t, s.Text(), "\n", c)
		require.NotRegexp(t, `[{}]`, s.Text(), c)
		require.Empty(t, words[s.Words], c)
		words[s.Words] = c
		if s.Remedy != "posagent status, again in some seconds" { // nothing is wrong yet
			require.Empty(t, remedies[s.Remedy], c)
		}
		remedies[s.Remedy] = c
		require.LessOrEqual(t, len(strings.Fields(s.Words)), 25, c)
		bare := ready.Say(ready.Trouble{Cause: c, Where: "pay.example"}, ready.Place{})
		require.NotContains(t, bare.Words, "detail", c)
		require.False(t, strings.HasSuffix(bare.Words, ","), c)
	}
}

// A remedy names where the setting is set that it is about, and who changes it there.
func TestARemedyNamesWhoSetTheValue(t *testing.T) {
	at := ready.Place{Config: "/c.toml", Flags: " --config /c.toml"}
	say := func(c ready.Cause, origins map[string]string) string {
		at.Origins = origins
		return ready.Say(ready.Trouble{Cause: c, Where: "pay.example"}, at).Remedy
	}
	operator := "; the operator changes revision 3, posagent config show --config /c.toml names what it sets"
	require.Equal(t, "correct host and port of [upstream] base in /c.toml; if they are right, call the backend's operator", say("refused", map[string]string{"upstream.base": "/c.toml:7"}))
	require.Equal(t, "correct host and port of [upstream] base in revision 3; if they are right, call the backend's operator"+operator, say("refused", map[string]string{"upstream.base": "revision 3:7"}))
	require.True(t, strings.HasSuffix(say("wrong_name", map[string]string{"upstream.base": "POSAGENT_UPSTREAM_BASE"}), "; else correct the host of [upstream] base in the variable POSAGENT_UPSTREAM_BASE"))
	require.Equal(t, "correct [upstream.auth] in revision 3"+operator, say("credentials", map[string]string{"upstream.base": "/c.toml:7", "upstream.auth.bearer": "revision 3:9"}))
	require.Equal(t, "correct [upstream.auth] in /c.toml, then start posagent again", say("credentials", map[string]string{"upstream.base": "revision 3:7", "upstream.auth.bearer": "/c.toml:9"}))
	at.Origins = map[string]string{"upstream.auth.bearer": "/c.toml:9", "upstream.auth.secret": "revision 3:9"}
	require.Equal(t, "correct [upstream.auth] secret or instance in revision 3"+operator, ready.Say(ready.Trouble{Cause: "credentials", Keys: "secret or instance"}, at).Remedy, "of the key that is wrong")
	require.Contains(t, say("untrusted", map[string]string{"upstream.base": "revision 3:7"}), "set [upstream] roots_file in /c.toml", "the operator does not set it")
	require.Contains(t, say("no_methods", map[string]string{"terminal.bax_id": "revision 3:2"}), "of [terminal] in revision 3, or ask")
	require.NotContains(t, say("stall", map[string]string{"upstream.base": "revision 3:7"}), "revision", "nothing is to be set")

	for _, c := range ready.Causes() { // each remedy that names a setting is asked for its origin
		all := map[string]string{}
		for _, key := range []string{"upstream.base", "upstream.roots_file", "upstream.pins", "upstream.proxy", "upstream.auth.bearer", "terminal.bax_id", "terminal.terminal_id", "ecr.serial", "display.page"} {
			all[key] = "revision 3:1"
		}
		if text := say(c, nil); strings.Contains(text, " in /c.toml;") || strings.HasSuffix(text, " in /c.toml") {
			if c != ready.Unenrolled && c != ready.NoLine {
				require.Contains(t, say(c, all), "revision 3", c)
			}
		}
	}
}

// TestField_U2WordsFromOutsideCannotWrite: what a backend or a certificate says of itself stays one short part of the line.
func TestField_U2WordsFromOutsideCannotWrite(t *testing.T) {
	line := ready.Not(ready.Trouble{Cause: ready.NoList, Where: "pay.example", Detail: "a\x1b[2J\r\nREADY\u009b31m: " + strings.Repeat("x", 5000)}, ready.Place{Config: "/c.toml"}).Line()
	require.Regexp(t, `^NOT READY: pay\.example sends no usable method list, a \[2J  READY 31m, x{200,230}…: correct \[upstream\] base or methods in /c\.toml; `, line)
}

// TestField_U5NoRemedyDestroys: no remedy names a verb or a flag that abandons a journal. Where it is gone, cut or locked a backup may
// take its place, which refuses to forget anything; a new one begins only where there is none.
func TestField_U5NoRemedyDestroys(t *testing.T) {
	bad := regexp.MustCompile(`(?i)\b(reset|rm|delete|remove|erase|purge|format|mkfs|truncate|--state|restore|drop|kill)\b`)
	for _, c := range ready.Causes() {
		s := ready.Say(ready.Trouble{Cause: c, Where: "x", Detail: "y"}, ready.Place{Config: "/c.toml"})
		text := s.Text()
		switch c {
		case ready.Lost, ready.KeyMissing, ready.KeyUnfit, ready.KeyWrong: // without its key a journal is lost, and is put aside, not deleted
			text = strings.ReplaceAll(text, "posagent reset --lost-journal", "")
			fallthrough
		case ready.Cut:
			text = strings.ReplaceAll(text, "posagent restore FILE", "")
		}
		require.Empty(t, bad.FindString(text), "%s: %s", c, text)
	}
}
