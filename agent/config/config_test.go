package config

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/device/keypad"
	"posagent/device/keypad/entry"
)

// write makes a file in a fresh directory and returns its path.
func write(t *testing.T, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), mode))
	require.NoError(t, os.Chmod(path, mode))
	return path
}

func TestNoFileIsTheSandbox(t *testing.T) {
	c, err := Load("", nil)
	require.NoError(t, err)
	require.True(t, c.Sandbox())
	require.Equal(t, "EUR", c.Terminal.Currency)
	require.NotEmpty(t, c.Terminal.BaxID)
	require.Equal(t, "127.0.0.1:8480", c.Port.Listen)
	require.Equal(t, 24*time.Hour, c.Offline.IdempotencyTTL)
	require.Equal(t, 90*24*time.Hour, c.Offline.Retention)
	require.Nil(t, c.Backend.WalletDelay)
	require.Empty(t, c.Origin())
}

func TestMissingFileIsAnError(t *testing.T) {
	_, err := Load(filepath.Join(t.TempDir(), "none.toml"), nil)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestExampleLoadsAndNamesEveryKey(t *testing.T) {
	c, err := Load(write(t, "config.toml", Example(), 0o644), nil)
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:20007", c.ECR.TCP)

	section, named := "", map[string]bool{}
	key := regexp.MustCompile(`^(?:# )?([a-z0-9_]+) = `)
	for line := range strings.Lines(Example()) {
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[]\n") + "."
			named[strings.Trim(line, "[]\n")] = true // of names of one's own
		} else if m := key.FindStringSubmatch(line); m != nil {
			named[section+m[1]] = true
		}
	}
	for _, f := range fields(&c) {
		require.True(t, named[f.path] || f.secret() && named[f.path+"_file"], "example does not show %s", f.path)
	}

	// Every default shown is the default.
	text := regexp.MustCompile(`(?m)^# ([a-z0-9_]+ = )`).ReplaceAllString(Example(), "$1")
	text = regexp.MustCompile(`(?m)^([a-z_]+_file|base|wallet_delay|bax_id|terminal_id|merchant_id|merchant_name|tcp) = .*\n`).ReplaceAllString(text, "")
	text = strings.Replace(text, "[upstream]\n", "[upstream]\nroots_file = \"\"\n", 1)
	shown, err := Load(write(t, "config.toml", text, 0o644), nil)
	require.NoError(t, err)
	plain, err := Load("", nil)
	require.NoError(t, err)
	shown.origin, plain.origin = nil, nil
	plain.Methods.Exclude, plain.Upstream.Pins = shown.Methods.Exclude, shown.Upstream.Pins
	require.Equal(t, plain, shown)
}

func TestOrderAndOrigin(t *testing.T) {
	path := write(t, "config.toml", "[ecr]\nbaud = 19200\ngrace = \"5m\"\n\n[methods]\nexclude = [3, 4]\n", 0o644)
	c, err := Load(path, []string{"POSAGENT_ECR_BAUD=115200", "POSAGENT_METHODS_EXCLUDE=7, 8", "POSAGENT_STATE=/x", "OTHER=1",
		"POSAGENT_ECR_REFUND_LAST=true", "POSAGENT_BACKEND_WALLET_DELAY=3s"})
	require.NoError(t, err)
	require.Equal(t, 115200, c.ECR.Baud)
	require.Equal(t, 5*time.Minute, c.ECR.Grace)
	require.Equal(t, []int32{7, 8}, c.Methods.Exclude)
	require.True(t, c.ECR.RefundLast)
	require.Equal(t, 3*time.Second, *c.Backend.WalletDelay)
	require.Equal(t, map[string]string{
		"ecr.baud": "POSAGENT_ECR_BAUD", "ecr.grace": path + ":3", "methods.exclude": "POSAGENT_METHODS_EXCLUDE",
		"ecr.refund_last": "POSAGENT_ECR_REFUND_LAST", "backend.wallet_delay": "POSAGENT_BACKEND_WALLET_DELAY",
	}, c.Origin())
}

func TestBadFiles(t *testing.T) {
	const real = "[terminal]\nbax_id=\"1\"\nterminal_id=\"1\"\nmerchant_id=\"1\"\n[upstream]\nbase=\"https://pay.example\"\n"
	for _, tc := range []struct{ name, text, want string }{
		{"unknown key", "[ecr]\nsreial = \"/dev/ttyS0\"\n", "FILE:2: ecr.sreial: unknown key, did you mean ecr.serial?"},
		{"unknown section", "[erc]\nserial = \"\"\n", "FILE:1: erc: unknown section, did you mean ecr?"},
		{"key without section", "serial = \"/dev/ttyS0\"\n", "FILE:1: serial: unknown key, did you mean ecr.serial?"},
		{"wrong section", "[port]\nbaud = 1\n", "FILE:2: port.baud: unknown key, did you mean ecr.baud?"},
		{"nothing near", "[ecr]\nqqqqqqqqqqqqq = 1\n", "FILE:2: ecr.qqqqqqqqqqqqq: unknown key"},
		{"duplicate key", "[ecr]\nbaud = 9600\nbaud = 19200\n", "FILE:3: ecr.baud is given twice"},
		{"duplicate section", "[ecr]\nbaud = 9600\n[port]\n[ecr]\n", "FILE:4: this section is given twice"},
		{"no unit", "[ecr]\ngrace = \"5\"\n", "FILE:2: ecr.grace: \"5\" has no unit: write \"5m\""},
		{"milliseconds without a unit", "[ecr]\nt1 = 200\n", "FILE:2: ecr.t1: 200 has no unit: write \"200ms\""},
		{"seconds without a unit", "[upstream]\ntimeout = 30\n", "FILE:2: upstream.timeout: 30 has no unit: write \"30s\""},
		{"hours without a unit", "[methods]\nrefresh = 2\n", "FILE:2: methods.refresh: 2 has no unit: write \"2h\""},
		{"a fraction without a unit", "[ecr]\nt1 = 0.2\n", "FILE:2: ecr.t1: 0.2 has no unit: write \"0.2s\""},
		{"what is no number", "[ecr]\nt1 = \"+-.\"\n", "FILE:2: ecr.t1: \"+-.\" has no unit"},
		{"bare number", "[ecr]\ngrace = 5\n", "FILE:2: ecr.grace: 5 has no unit"},
		{"zero without unit", "[offline]\nmax_age = \"0\"\n", "has no unit: write \"0s\""},
		{"negative", "[ecr]\ngrace = \"-5m\"\n", "FILE:2: ecr.grace: \"-5m\" is negative"},
		{"absurd", "[offline]\nmax_age = \"1000000h\"\n", "is more than ten years"},
		{"more absurd", "[offline]\nmax_age = \"10000000000h\"\n", "is not a duration"},
		{"not a duration", "[ecr]\ngrace = \"soon\"\n", "is not a duration"},
		{"text for number", "[ecr]\nbaud = \"9600\"\n", "FILE:2: ecr.baud: want a whole number, not the text \"9600\""},
		{"number too big", "[ecr]\nbaud = 99999999999\n", "FILE:2: ecr.baud: want a whole number"},
		{"number for text", "[terminal]\nbax_id = 12345678\n", "FILE:2: terminal.bax_id: want a text in quotes, not 12345678"},
		{"text for flag", "[ecr]\nrefund_last = \"yes\"\n", "want true or false"},
		{"bare word for flag", "[ecr]\nrefund_last = yes\n", "FILE:2: not valid TOML after ecr.refund_last: want true or false"},
		{"bare word for text", "[terminal]\ncurrency = EUR\n", "FILE:2: not valid TOML after terminal.currency: want a text in quotes"},
		{"bare path for a secret's file", "[port]\ntoken_file = /x\n", "FILE:2: not valid TOML after port.token_file: want a path in quotes"},
		{"bare word for a name unknown", "[ecr]\nodd = x\n", "FILE:2: not valid TOML after ecr.odd: want a text in quotes, a number, true or false, or a list"},
		{"table for value", "[ecr]\nbaud = {a = 1}\n", "want a whole number"},
		{"value for section", "ecr = 1\n", "FILE:1: ecr: unknown key"},
		{"list of wrong type", "[methods]\nexclude = [\"a\"]\n", "want whole numbers in the list"},
		{"control character", "[terminal]\nmerchant_name = \"a\\nb\"\n", "contains a control character"},
		{"syntax", "[ecr]\nbaud = \n", "FILE:2: not valid TOML"},
		{"open section", "[terminal\ncurrency = \"EUR\"\n", "not valid TOML: expected '.' or ']' to end table name"},
		{"no equals sign", "[ecr]\ntcp 127.0.0.1:1\n", "FILE:2: not valid TOML after ecr: expected '.' or '='"},
		{"binary", "\x7fELF\x00\x01", "FILE: not a text file"},
		{"NUL", "[ecr]\nbaud = 9600\x00\n", "FILE: not a text file"},
		{"UTF-16", "\xff\xfe[\x00e\x00", "FILE: not a text file"},
		{"secret of a public file", "[upstream.auth]\nbearer = \"hush\"\n", "FILE:2: upstream.auth.bearer: a secret in a file that others can read: chmod 600 FILE"},
		{"file of no secret", "[ecr]\nserial_file = \"/x\"\n", "unknown key"},
		{"bad currency", "[terminal]\ncurrency = \"eur\"\n", "config: FILE:2: terminal.currency: \"eur\" is not a currency code"},
		{"usb without a product", "[ecr]\nserial = \"usb:0403\"\n", "config: FILE:2: ecr.serial: \"usb:0403\" is neither an absolute path nor usb:VID:PID[:SERIAL] (lsusb shows VID:PID)"},
		{"usb with a serial number of 127 letters", "[ecr]\nserial = \"usb:0403:6001:" + strings.Repeat("A", 127) + "\"\n", "config: FILE:2: ecr.serial: \"usb:0403:6001:" + strings.Repeat("A", 127) + "\" is neither an absolute path nor usb:VID:PID[:SERIAL] (lsusb shows VID:PID)"},
		{"operator of 65 letters", "[operator]\nname = \"" + strings.Repeat("o", 65) + "\"\n", "config: FILE:2: operator.name: \"" + strings.Repeat("o", 65) + "\" is not one word"},
		{"serial path", "[ecr]\nserial = \"ttyS0\"\n", "config: FILE:2: ecr.serial: \"ttyS0\" is neither an absolute path nor usb:VID:PID[:SERIAL] (lsusb shows VID:PID)"},
		{"clear http", "[upstream]\nbase = \"http://pay.example\"\n", "config: FILE:2: upstream.base: http would send the credentials in clear"},
		{"credentials in address", "[upstream]\nbase = \"https://u:hush@pay.example\"\n", "config: FILE:2: upstream.base: credentials do not belong"},
		{"query in address", "[upstream]\nbase = \"https://pay.example/?a\"\n", "config: FILE:2: upstream.base: ends in"},
		{"no address", "[upstream]\nbase = \"pay.example\"\n", "config: FILE:2: upstream.base: not an https:// address"},
		{"who am I", "[upstream]\nbase = \"https://pay.example\"\n", "config: FILE: terminal.bax_id: missing"},
		{"credentials of a proxy", "[upstream]\nproxy = \"http://u:hush@proxy:3128\"\n", "credentials do not belong into an address, see upstream.proxy_auth"},
		{"credentials of a proxy in a public file", "[upstream]\nproxy_auth = \"u:hush\"\n", "a secret in a file that others can read"},
		{"one pin", "[upstream]\npins = [\"" + strings.Repeat("A", 43) + "=\"]\n", "add a backup pin"},
		{"bad pin", "[upstream]\npins = [\"abc\"]\n", "is not the base64 text"},
		{"no payment-link account", real + "[paylinks]\nmethod = true\n", "config: FILE:8: paylinks.method: needs upstream.auth.instance"},
		{"no payment-link secret", real + "[paylinks]\nmethod = true\n[upstream.auth]\ninstance=\"shop\"\n", "config: FILE:8: paylinks.method: needs upstream.auth.secret"},
		{"no payment-link address", strings.Replace(real, "base", "schemes", 1) + "[paylinks]\nmethod = true\n", "config: FILE:8: paylinks.method: needs upstream.paylinks"},
		{"nameless payment link", "[paylinks]\nlabel = \"\"\n", "config: FILE:2: paylinks.label: not 1 to 64"},
		{"part of a second", "[paylinks]\nmean_delay = \"1500ms\"\n", "config: FILE:2: paylinks.mean_delay: 1.5s is not whole seconds"},
		{"negative priority", "[paylinks]\npriority = -1\n", "config: FILE:2: paylinks.priority: -1 is not between"},
		{"fast polling of a real backend", "[terminal]\nbax_id=\"1\"\nterminal_id=\"1\"\nmerchant_id=\"1\"\n[upstream]\nbase=\"https://pay.example\"\n[methods]\npoll=\"500ms\"\n", "config: FILE:8: methods.poll: 500ms is not between 2s"},
		{"session without a life", "[backend]\nsession_life = \"0s\"\n", "config: FILE:2: backend.session_life: 0s is not between 1s"},
		{"session of a day", "[backend]\nsession_life = \"24h\"\n", "config: FILE:2: backend.session_life: 24h0m0s is not between 1s"},
		{"port for everybody", "[port]\nlisten = \"0.0.0.0:8480\"\n", "config: FILE:2: port.listen: \"0.0.0.0:8480\" is not this machine only"},
		{"port without an address", "[port]\nlisten = \":8480\"\n", "config: FILE:2: port.listen: \":8480\" names no address: write \"127.0.0.1:8480\""},
		{"unit", "[methods]\ntimeout_unit = \"h\"\n", "config: FILE:2: methods.timeout_unit: \"h\" is none of m, s, ms"},
		{"half a login", "[upstream.auth]\nconsumer_key_file = \"/nonexistent\"\n", "config: FILE:2: upstream.auth.consumer_key_file: open /nonexistent"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := write(t, "config.toml", tc.text, 0o644)
			_, err := Load(path, nil)
			require.Error(t, err)
			require.Contains(t, err.Error(), strings.ReplaceAll(tc.want, "FILE", path))
			require.NotContains(t, err.Error(), "hush")
		})
	}
}

func TestTolerated(t *testing.T) {
	c, err := Load(write(t, "config.toml", "\xef\xbb\xbf[ecr]\r\nbaud = 19200\r\n", 0o644), nil)
	require.NoError(t, err)
	require.Equal(t, 19200, c.ECR.Baud)
	_, err = Load(write(t, "config.toml", "", 0o644), nil)
	require.NoError(t, err)
}

func TestEverythingWrongIsToldAtOnce(t *testing.T) {
	_, err := Load(write(t, "config.toml", "[ecr]\nbuad = 1\n[prot]\n[methods]\nrefresh = 1\n", 0o644), []string{"POSAGENT_ECR_BUAD=1"})
	require.Equal(t, 4, strings.Count(err.Error(), "\n")+1, err.Error())
	_, err = Load(write(t, "config.toml", "[ecr]\nbaud = 1\nstop_bits = 3\n", 0o644), nil)
	require.Equal(t, 2, strings.Count(err.Error(), "\n")+1, err.Error())
}

// A person goes through the file from its first line to its last. What has no line comes behind it, and variables after that.
func TestErrorsComeInLineOrder(t *testing.T) {
	path := write(t, "config.toml", "[upstream]\nbase = \"https://pay.example\"\n[checkout]\non_stale = \"x\"\n[ecr]\nserial = 5\nbuad = 1\n[terminal]\ncurrency = \"XXQ\"\n"+
		"[methods]\nrefresh = 1\n", 0o644)
	_, err := Load(path, []string{"POSAGENT_ECR_BUAD=1"})
	var places []string
	for _, e := range Problems(err) {
		places = append(places, strings.TrimPrefix(e.Where, path)+" "+e.Key)
	}
	require.Equal(t, []string{
		":4 checkout.on_stale", ":6 ecr.serial", ":7 ecr.buad", ":8 terminal.bax_id", ":8 terminal.merchant_id", ":8 terminal.terminal_id", ":9 terminal.currency", ":11 methods.refresh",
		"POSAGENT_ECR_BUAD ",
	}, places)
}

// What cannot be read says what to type.
func TestAFileThatCannotBeReadHasARemedy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.toml")
	_, err := Load(path, nil)
	require.EqualError(t, err, "config: open "+path+": no such file or directory: posagent config example > "+path+" makes one")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.Equal(t, ": type it as root or as the terminal's account", remedy(path, &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}), "root reads any file")
}

// A client's token is read by the client too, so its group keeps the file. The client that has no token for that has one error, not two.
func TestATokenThatAllCanReadGoesToAGroup(t *testing.T) {
	token := write(t, "kiosk.token", "0123456789abcdef\n", 0o644)
	const advice = " can be read by others: chgrp GROUP TOKEN; chmod 640 TOKEN, with the group of the client's account"
	for text, key := range map[string]string{
		"[port.clients.kiosk]\ntoken_file = \"TOKEN\"\nmay = [\"read\"]\n": "port.clients.kiosk.token_file",
		"[port.clients]\nkiosk_file = \"TOKEN\"\n":                         "port.clients.kiosk_file",
		"[port]\ntoken_file = \"TOKEN\"\n":                                 "port.token_file",
	} {
		path := write(t, "config.toml", strings.ReplaceAll(text, "TOKEN", token), 0o644)
		_, err := Load(path, nil)
		require.EqualError(t, err, "config: "+path+":2: "+key+": "+token+strings.ReplaceAll(advice, "TOKEN", token))
	}
	path := write(t, "config.toml", "[upstream.auth]\nbearer_file = \""+token+"\"\n", 0o644)
	_, err := Load(path, nil)
	require.ErrorContains(t, err, token+" can be read by others: chmod 600 "+token)
}

func TestFilesThatAreNone(t *testing.T) {
	dir := t.TempDir()
	_, err := Load(dir, nil)
	require.ErrorContains(t, err, "not a regular file")
	fifo := filepath.Join(dir, "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	_, err = Load(fifo, nil)
	require.ErrorContains(t, err, "not a regular file")
	_, err = Load(write(t, "big.toml", strings.Repeat("#", maxFile+1), 0o600), nil)
	require.ErrorContains(t, err, "is too long")
}

func TestSecrets(t *testing.T) {
	key := write(t, "key", "the-key\n", 0o600)
	secret := write(t, "secret", "the-secret\r\n", 0o640)
	text := fmt.Sprintf("[upstream.auth]\nconsumer_key_file = %q\n", key)
	c, err := Load(write(t, "config.toml", text, 0o644), []string{"POSAGENT_UPSTREAM_AUTH_CONSUMER_SECRET_FILE=" + secret})
	require.NoError(t, err)
	require.Equal(t, "the-key", c.Upstream.Auth.ConsumerKey.Reveal())
	require.Equal(t, "the-secret", c.Upstream.Auth.ConsumerSecret.Reveal())
	require.Equal(t, "POSAGENT_UPSTREAM_AUTH_CONSUMER_SECRET_FILE", c.Origin()["upstream.auth.consumer_secret"])

	c, err = Load(write(t, "config.toml", "[upstream.auth]\nbearer = \"hush\"\n", 0o600), nil)
	require.NoError(t, err)
	require.Equal(t, "hush", c.Upstream.Auth.Bearer.Reveal())
	out, err := json.Marshal(c)
	require.NoError(t, err)
	for _, printed := range []string{string(out), fmt.Sprintf("%v %+v %#v", c, c, c)} {
		require.NotContains(t, printed, "hush")
		require.NotContains(t, printed, "demo-consumer-secret")
	}

	for name, tc := range map[string]struct{ file, env, want string }{
		"world-readable":      {file: write(t, "s", "hush", 0o644), want: "can be read by others"},
		"empty":               {file: write(t, "s", "\n", 0o600), want: "is empty"},
		"two lines":           {file: write(t, "s", "hush\nhush", 0o600), want: "control character"},
		"too large":           {file: write(t, "s", strings.Repeat("x", maxSecret+1), 0o600), want: "is too long"},
		"directory":           {file: t.TempDir(), want: "not a regular file"},
		"missing":             {file: "/nonexistent/x", want: "no such file"},
		"in a variable":       {env: "POSAGENT_UPSTREAM_AUTH_BEARER=hush", want: "use POSAGENT_UPSTREAM_AUTH_BEARER_FILE"},
		"variable to nowhere": {env: "POSAGENT_UPSTREAM_AUTH_BEARER_FILE=", want: "no path"},
		"misspelt variable":   {env: "POSAGENT_UPSTREAM_AUTH_BEARER_FIEL=x", want: "did you mean POSAGENT_UPSTREAM_AUTH_BEARER_FILE?"},
		"newline in variable": {env: "POSAGENT_TERMINAL_BAX_ID=1\n2", want: "control character"},
	} {
		t.Run(name, func(t *testing.T) {
			text, env := "", []string(nil)
			if tc.file != "" {
				text = fmt.Sprintf("[upstream.auth]\nbearer_file = %q\n", tc.file)
			}
			if tc.env != "" {
				env = []string{tc.env}
			}
			_, err := Load(write(t, "config.toml", text, 0o644), env)
			require.ErrorContains(t, err, tc.want)
			require.NotContains(t, err.Error(), "hush")
		})
	}

	both := write(t, "config.toml", fmt.Sprintf("[upstream.auth]\nbearer = \"hush\"\nbearer_file = %q\n", key), 0o600)
	_, err = Load(both, nil)
	require.ErrorContains(t, err, "is given too")
}

func TestURL(t *testing.T) {
	u := Upstream{Base: "https://all.example/", Schemes: "https://own.example"}
	require.Equal(t, "https://all.example", u.URL("methods"))
	require.Equal(t, "https://own.example", u.URL("schemes"))
	require.Empty(t, Upstream{}.URL("schemes"))
	require.False(t, Config{Upstream: u}.Sandbox())
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(Example()))
	f.Add([]byte("[ecr]\nbaud = 1\n[ecr.x]\n"))
	f.Add([]byte("ecr.baud = 9600\n'terminal'.\"bax_id\" = '1'\n"))
	f.Add([]byte("[[ecr]]\nbaud=1"))
	f.Add([]byte("[backend.credentials]\nbearer = 'x'\nbearer_file = '/dev/zero'"))
	f.Add([]byte("\xef\xbb\xbf[upstream]\r\npins = ['a', ['b']]\r\nauth = {bearer = 'x'}\r\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := parse("f.toml", text, true, nil)
		if err == nil {
			_ = c.Validate()
			for key := range c.Origin() {
				require.NotEmpty(t, key)
			}
		}
	})
}

func TestASandboxHasARegisterLine(t *testing.T) {
	c, err := Load("", nil)
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:20007", c.ECR.TCP)
	c, err = Load(write(t, "config.toml", "[ecr]\nserial = \"/dev/ttyS0\"\n", 0o644), nil)
	require.NoError(t, err)
	require.Empty(t, c.ECR.TCP, "a serial line is enough")
	for _, name := range []string{"usb:0403:6001", "usb:1A86:7523:5&2", "usb:0403:6001:A:B", "usb:0403:6001:" + strings.Repeat("A", 126)} {
		_, err = Load(write(t, "config.toml", "[ecr]\nserial = \""+name+"\"\n", 0o644), nil)
		require.NoError(t, err, name)
	}
	c, err = Load(write(t, "config.toml", "[upstream]\nbase = \"https://backend.example\"\n", 0o644), nil)
	require.Error(t, err, "a real terminal is not opened to a network by default: %q", c.ECR.TCP)
	require.Empty(t, c.ECR.TCP)
}

func TestWhatIsNotThereIsNotTaken(t *testing.T) {
	for key, text := range map[string]string{
		"ecr.password": "[ecr]\npassword = \"12345\"\n", "ecr.protocol": "[ecr]\nprotocol = \"ecr18\"\n",
	} {
		_, err := Load(write(t, "config.toml", text, 0o644), nil)
		require.ErrorContains(t, err, ":2: "+key)
	}
}

func TestKeypad(t *testing.T) {
	c, err := Load(write(t, "config.toml", "[keypad]\ndevice = \"/dev/input/event3\"\nmap = [\"98=cancel\", \" 99 = f1 \"]\nbounce = \"10ms\"\n[checkout]\nchoose = \"screen\"\nopen_amount = true\n", 0o644), nil)
	require.NoError(t, err)
	keys, err := c.Keypad.Keys()
	require.NoError(t, err)
	require.Equal(t, keypad.Map{98: entry.Cancel, 99: entry.F1}, keys)
	require.Equal(t, 10*time.Millisecond, c.Keypad.Bounce)
	for key, text := range map[string]string{
		"keypad.device: \"event3\" is not an absolute":       "[keypad]\ndevice = \"event3\"\n",
		"keypad.device: nobody could read":                   "[keypad]\ndevice = \"/dev/input/event3\"\n[display]\nconsole = false\n",
		"keypad.map: \"cancel\" is not CODE=KEY":             "[keypad]\nmap = [\"cancel\"]\n",
		"keypad.map: \"x\" is no code":                       "[keypad]\nmap = [\"x=cancel\"]\n",
		"keypad.map: code 98":                                "[keypad]\nmap = [\"98=stop\"]\n",
		"keypad.map: keypad: map leaves no key for confirm":  "[keypad]\ndevice = \"/dev/input/event3\"\nmap = [\"28=none\", \"96=none\", \"352=none\", \"523=none\"]\n",
		"keypad.bounce":                                      "[keypad]\nbounce = \"2s\"\n",
		"keypad.page: there is no page with keys":            "[keypad]\npage = true\n",
		"display.page: there is no local port":               "[display]\npage = true\n[port]\nlisten = \"\"\n",
		"checkout.choose: nobody could choose":               "[checkout]\nchoose = \"screen\"\n",
		"checkout.choose: \"customer\"":                      "[checkout]\nchoose = \"customer\"\n",
		"checkout.open_amount: nobody could type the amount": "[checkout]\nopen_amount = true\n",
	} {
		_, err := Load(write(t, "config.toml", text, 0o644), nil)
		require.ErrorContains(t, err, key)
	}
}

// Keys of the page alone are enough to choose and to type.
func TestKeypadPage(t *testing.T) {
	c, err := Load(write(t, "config.toml", "[display]\nconsole = false\npage = true\n[keypad]\npage = true\n[checkout]\nchoose = \"screen\"\nopen_amount = true\n", 0o644), nil)
	require.NoError(t, err)
	require.True(t, c.Keypad.There())
}

func TestPrinter(t *testing.T) {
	for device, kind := range map[string]string{
		"/dev/serial/by-id/usb-Epson": "serial", "/dev/pts/3": "serial", "usb:0403:6001": "serial", "/dev/usb/lp0": "usb", "/dev/usblp0": "usb", "/var/lib/paper": "file",
	} {
		c, err := Load(write(t, "config.toml", "[printer]\ndevice = \""+device+"\"\n", 0o644), nil)
		require.NoError(t, err, device)
		require.Equal(t, kind, c.Printer.DeviceKind(), device)
	}
	c, err := Load(write(t, "config.toml", "[printer]\ndevice = \"/dev/receipts\"\nkind = \"usb\"\nprofile = \"80mm\"\ncolumns = 42\nstatus = \"none\"\nprints = []\n", 0o644), nil)
	require.NoError(t, err)
	require.Equal(t, Printer{Device: "/dev/receipts", Kind: "usb", Baud: 9600, Profile: "80mm", Columns: 42, Status: "none", SingleByte: true, Codes: "picture"}, c.Printer)
	for text, want := range map[string]string{
		`device = "lp0"`:                             "printer.device: \"lp0\" is neither an absolute path nor usb:VID:PID[:SERIAL] of a serial converter (lsusb shows VID:PID)",
		"kind = \"file\"\ndevice = \"/dev/lp9\"":     "printer.device: \"/dev/lp9\" is no plain file: take kind = \"file\" out",
		"kind = \"usb\"\ndevice = \"usb:0403:6001\"": "printer.device: \"usb:0403:6001\" is neither an absolute path",
		`kind = "parallel"`:                          "printer.kind: \"parallel\" is none of , serial, usb, file",
		`baud = 9601`:                                "printer.baud: 9601 is none of [1200 2400",
		`profile = "112mm"`:                          "printer.profile: \"112mm\" is none of 58mm, 80mm, 80mm-42",
		`columns = 23`:                               "printer.columns: 23 is neither 0 nor 24 to 64",
		`status = "yes"`:                             "printer.status: \"yes\" is none of ",
		`pages = ["PC858"]`:                          "printer.pages: \"PC858\" is no code page like \"PC858 19\"",
		`pages = ["PC860 3"]`:                        "want a name of PC437, ",
		`pages = ["PC858 256"]`:                      "its number 0 to 255",
		`pages = ["PC858 19", "PC437 19"]`:           "printer.pages: \"PC437 19\" has a name or a number that stands before it",
		`prints = ["coupon"]`:                        "printer.prints: \"coupon\" is none of customer, merchant, end_of_day",
	} {
		_, err := Load(write(t, "config.toml", "[printer]\n"+text+"\n", 0o644), nil)
		require.ErrorContains(t, err, want, text)
	}
}

func TestDisplay(t *testing.T) {
	c, err := Load(write(t, "config.toml", "[display]\nframebuffer = \"/dev/fb0\"\nrotate = 270\nfile = \"/run/x.svg\"\nfile_size = \"320x240\"\n", 0o644), nil)
	require.NoError(t, err)
	require.Equal(t, Display{Console: true, File: "/run/x.svg", FileSize: "320x240", Framebuffer: "/dev/fb0", FramebufferPixels: "rgb565", Rotate: 270}, c.Display)
	for key, text := range map[string]string{
		"display.file: \"/run/x.gif\" ends neither":  "file = \"/run/x.gif\"",
		"display.file: \"x.png\" is not an absolute": "file = \"x.png\"",
		"display.file_size: \"480\" is no size":      "file_size = \"480\"",
		"display.file_size: \"\" is no size":         "file_size = \"\"",
		"display.file_size: \"63x480\" is no size":   "file_size = \"63x480\"",
		"display.file_size: \"480x4097\" is no size": "file_size = \"480x4097\"",
		"display.file_size: \"+480x64\" is no size":  "file_size = \"+480x64\"",
		"display.framebuffer: \"fb0\" is not":        "framebuffer = \"fb0\"",
		"display.framebuffer_size: \"x\" is no size": "framebuffer_size = \"x\"",
		"display.framebuffer_size: set, and display": "framebuffer_size = \"800x480\"",
		"display.framebuffer_pixels: \"rgb\" is":     "framebuffer_pixels = \"rgb\"",
		"display.framebuffer_stride: -1 is not":      "framebuffer_stride = -1",
		"display.rotate: 45 is none of":              "rotate = 45",
	} {
		_, err := Load(write(t, "config.toml", "[display]\n"+text+"\n", 0o644), nil)
		require.ErrorContains(t, err, ":2: "+key)
	}
}

// TestField_U7EveryErrorNamesItsPlace: what is read well and means nothing names its line, or the variable; so does what is missing; and
// all of it is told at once, in the order of the file.
func TestField_U7EveryErrorNamesItsPlace(t *testing.T) {
	path := write(t, "config.toml", "[upstream]\nbase = \"https://pay.example\"\n\n[terminal]\nbax_id = \"a b\"\nterminal_id = 7\n\n[ecr]\nbuad = 1\nstop_bits = 3\n", 0o644)
	_, err := Load(path, []string{"POSAGENT_METHODS_TIMEOUT_UNIT=h"})
	require.EqualError(t, err, strings.ReplaceAll("config: FILE:4: terminal.merchant_id: missing; [upstream] names a real backend\n"+
		"config: FILE:5: terminal.bax_id: \"a b\" is not 1 to 64 letters, digits, dots or dashes\n"+
		"config: FILE:6: terminal.terminal_id: want a text in quotes, not 7\n"+
		"config: FILE:9: ecr.buad: unknown key, did you mean ecr.baud?\n"+
		"config: FILE:10: ecr.stop_bits: 3 is neither 1 nor 2\n"+
		"config: POSAGENT_METHODS_TIMEOUT_UNIT: methods.timeout_unit: \"h\" is none of m, s, ms", "FILE", path))
	list := Problems(err)
	require.Len(t, list, 6)
	require.Equal(t, path+":4", list[0].Where)
	require.Equal(t, "terminal.merchant_id", list[0].Key)

	_, err = Load(filepath.Join(t.TempDir(), "none.toml"), nil)
	require.Len(t, Problems(err), 1)
	require.Empty(t, Problems(nil))
}

// TestField_U7UnknownVariables: a misspelt variable is refused with the one that was meant; one that is like none is told.
func TestField_U7UnknownVariables(t *testing.T) {
	for name, want := range map[string]string{
		"POSAGENT_ERC_SERIAL": "POSAGENT_ECR_SERIAL", "POSAGENT_TERMINL_BAX_ID": "POSAGENT_TERMINAL_BAX_ID", "POSAGENT_UPSTREM_BASE": "POSAGENT_UPSTREAM_BASE",
		"POSAGENT_CONFG": "POSAGENT_CONFIG", "POSAGENT_ECR_SERAIL": "POSAGENT_ECR_SERIAL",
	} {
		_, err := Load("", []string{name + "=x"})
		require.EqualError(t, err, "config: "+name+": unknown variable, did you mean "+want+"?")
	}
	c, err := Load("", []string{"POSAGENT_NOT_RUN=x", "POSAGENT_POINTS=y", "POSAGENT_CONFIG=z", "POSAGENT_STATE=z", "POSAGENT_BACKUP_KEY_FILE=k"})
	require.NoError(t, err)
	require.Equal(t, []string{"POSAGENT_NOT_RUN", "POSAGENT_POINTS"}, c.Ignored())
}

// TestField_U7Settings: every key is shown with where it comes from, and no secret.
func TestField_U7Settings(t *testing.T) {
	path := write(t, "config.toml", "[ecr]\ntcp = \"127.0.0.1:7\"\n[upstream.auth]\nbearer = \"hush-hush\"\n[methods]\nexclude = [3, 4]\n[port.clients.kiosk]\ntoken = \"hush-kiosk-0123456\"\nmay = [\"read\"]\n", 0o600)
	c, err := Load(path, []string{"POSAGENT_ECR_GRACE=5m"})
	require.NoError(t, err)
	found := map[string]Setting{}
	for _, s := range c.Settings() {
		require.Empty(t, found[s.Key].Key, "twice: %s", s.Key)
		found[s.Key] = s
		require.NotContains(t, s.Value, "hush")
		require.NotContains(t, s.Value, "demo-consumer")
	}
	for _, want := range []Setting{
		{"ecr.tcp", `"127.0.0.1:7"`, path + ":2"}, {"upstream.auth.bearer", `"********"`, path + ":4"}, {"methods.exclude", "[3, 4]", path + ":6"},
		{"ecr.grace", `"5m0s"`, "POSAGENT_ECR_GRACE"}, {"ecr.baud", "9600", "default"}, {"backend.wallet_delay", `""`, "default"}, {"upstream.proxy_auth", `""`, "default"},
		{"backend.credentials.secret", `"********"`, "default"}, {"display.console", "true", "default"}, {"port.clients.kiosk.token", `"********"`, path + ":8"},
		{"port.clients.kiosk.may", `["read"]`, path + ":9"},
	} {
		require.Equal(t, want, found[want.Key])
	}
	for _, f := range fields(&c) {
		if !f.secrets() {
			require.NotEmpty(t, found[f.path].Key, f.path)
		}
	}
}

// TestField_L3OpenLineIsRefused: a register line that others in the network reach needs a password, a list of addresses, or
// the word that it is meant.
func TestField_L3OpenLineIsRefused(t *testing.T) {
	const refused = "is open to the network: set [ecr] password, or allow = [\"ADDRESS\"] of the register, or open = true"
	for text, want := range map[string]string{
		"tcp = \"0.0.0.0:20007\"\n":                                    "ecr.tcp: \"0.0.0.0:20007\" " + refused,
		"tcp = \"192.168.1.5:20007\"\nallow = []\nopen = false\n":      refused,
		"tcp = \"[::]:20007\"\n":                                       refused,
		"tcp = \":20007\"\n":                                           "ecr.tcp: \":20007\" names no address: write \"127.0.0.1:20007\", or \"0.0.0.0:20007\" for every network",
		"tcp = \":20007\"\nallow = [\"192.168.1.9\"]\n":                "ecr.tcp: \":20007\" names no address: write \"0.0.0.0:20007\"",
		"tcp = \"till.example:20007\"\n":                               refused,
		"tcp = \"0.0.0.0:20007\"\npassword = \"123456\"\n":             "",
		"tcp = \"0.0.0.0:20007\"\nallow = [\"192.168.1.0/24\"]\n":      "",
		"tcp = \"0.0.0.0:20007\"\nallow = [\"192.168.1.9\",\"::1\"]\n": "",
		"tcp = \"0.0.0.0:20007\"\nopen = true\n":                       "",
		"tcp = \"127.0.0.1:20007\"\n":                                  "",
		"tcp = \"[::1]:20007\"\n":                                      "",
		"allow = [\"till.example\"]\n":                                 "config.toml:2: ecr.allow: \"till.example\" is neither an address like 192.168.1.20 nor a prefix like 192.168.1.0/24",
		"allow = [\"192.168.1.20/24\"]\n":                              "config.toml:2: ecr.allow: \"192.168.1.20/24\" has bits behind its length: write \"192.168.1.0/24\"",
	} {
		_, err := Load(write(t, "config.toml", "[ecr]\n"+text, 0o600), nil)
		if want == "" {
			require.NoError(t, err, text)
			continue
		}
		require.ErrorContains(t, err, want, text)
	}
}
