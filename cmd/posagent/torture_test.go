package main

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTortureOverHTTPS: a terminal behind a certificate of its own and a passphrase is tested as any other is: not without a limit where it
// may be live, within the limit where there is one, and no secret is shown.
func TestTortureOverHTTPS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	x := nexoSandbox(t, dir)
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	const canary = "canary-of-another-service"
	roots, phrase, other, api := file("terminal.pem", string(x.pem)), filepath.Join(dir, "phrase"), file("other", "another passphrase"), file("api", canary)
	torture := func(address string, more ...string) (code int, out, fault string) {
		cmd := exec.Command("posagent", append([]string{"torture", "nexo", address, "--poi-id", "POSAGENT-000020000001", "--seed", "7", "--sales", "1",
			"--key-id", "till", "--key-version", "3", "--api-key-file", api}, more...)...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil {
			var ended *exec.ExitError
			require.True(t, errors.As(err, &ended), err)
			code = ended.ExitCode()
		}
		for _, secret := range []string{nexoPhrase, canary, "another passphrase"} {
			require.NotContains(t, stdout.String()+stderr.String(), secret)
		}
		return code, stdout.String(), stderr.String()
	}
	_, port, err := net.SplitHostPort(x.at)
	require.NoError(t, err)
	elsewhere := "https://" + net.JoinHostPort("0.0.0.0", port)

	code, out, fault := torture(elsewhere, "--roots-file", roots, "--passphrase-file", phrase)
	require.Equal(t, exitRefused, code, fault)
	require.Empty(t, out)
	require.Contains(t, fault, "its sales may cost real money")
	code, out, fault = torture(elsewhere, "--unverified", "--passphrase-file", phrase, "--live", "2.50")
	require.NotEqual(t, exitRefused, code, fault)
	require.Contains(t, out, "the limit is reached")
	require.Contains(t, out, "2 sale(s)")

	code, out, fault = torture(x.at, "--roots-file", roots, "--passphrase-file", phrase)
	require.Equal(t, exitOK, code, "%s%s", out, fault)
	require.Regexp(t, `(?m)^passed +asked twice `, out)
	require.NotRegexp(t, `(?m)^failed`, out)

	code, _, fault = torture(x.at, "--passphrase-file", phrase)
	require.Equal(t, exitNoDaemon, code)
	require.Contains(t, fault, "certificate")
	code, _, fault = torture(x.at, "--roots-file", roots, "--passphrase-file", other)
	require.Equal(t, exitNoDaemon, code)
	require.Contains(t, fault, "crypto error")
	code, _, fault = torture("http://"+x.at, "--passphrase-file", phrase)
	require.Equal(t, exitNoDaemon, code, fault)
	code, _, fault = torture(x.at, "--roots-file", roots)
	require.Equal(t, exitUsage, code, "it does not speak in clear where a key is named")
	require.Contains(t, fault, "passphrase")
	code, _, fault = torture(x.at, "--roots-file", roots, "--unverified", "--passphrase-file", phrase)
	require.Equal(t, exitUsage, code)
	require.Contains(t, fault, "leave --roots-file out")
}
