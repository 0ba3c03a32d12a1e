package login_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/port/login"
)

// A PIN has enough digits, and is none of those that are tried first.
func TestPINRule(t *testing.T) {
	for pin, good := range map[string]bool{
		"482915": true, "048291": true, "482915037166": true, "112233": true, "123457": true, "019019": true,
		"": false, "48291": false, "4829150371667": false, "48291a": false, "48 2915": false, "٤٨٢٩١٥": false, "-482915": false,
		"000000": false, "777777777": false, "121212": false, "123456": false, "234567890": false, "890123": false, "654321": false, "210987": false, "98765432": false,
	} {
		err := login.Fits(pin)
		if good {
			require.NoError(t, err, pin)
			continue
		}
		require.ErrorIs(t, err, login.ErrPIN, pin)
		_, err = login.Keep(pin)
		require.ErrorIs(t, err, login.ErrPIN, pin)
	}
}

// What is stored is a slow hash with a salt of its own: the PIN is not in it, and no print shows it.
func TestStoredPIN(t *testing.T) {
	const pin = "482915"
	first, err := login.Keep(pin)
	require.NoError(t, err)
	again, err := login.Keep(pin)
	require.NoError(t, err)
	require.NotEqual(t, first.Text(), again.Text(), "a salt of its own")
	require.Regexp(t, `^pbkdf2-sha256 50000 [A-Za-z0-9+/]{22} [A-Za-z0-9+/]{43}$`, first.Text())
	require.NotContains(t, first.Text(), pin)
	for _, text := range []string{fmt.Sprint(first), fmt.Sprintf("%v %+v %#v %s", first, first, first, first), first.String()} {
		require.NotContains(t, text, strings.Fields(first.Text())[3])
	}
	read, err := login.Parse(first.Text() + "\n")
	require.NoError(t, err)
	require.Equal(t, first.Text(), read.Text())
}

// A file that was spoilt is no PIN, and cannot keep the processor; what is wrong is said without what stands in it.
func TestSpoiltPIN(t *testing.T) {
	kept, err := login.Keep("482915")
	require.NoError(t, err)
	part := strings.Fields(kept.Text())
	for what, text := range map[string]string{
		"nothing": "", "a PIN in clear": "482915", "another scheme": "plain 1 " + part[2] + " " + part[3], "no rounds": "pbkdf2-sha256 x " + part[2] + " " + part[3],
		"0 rounds": "pbkdf2-sha256 0 " + part[2] + " " + part[3], "many rounds": "pbkdf2-sha256 1000001 " + part[2] + " " + part[3], "a short salt": "pbkdf2-sha256 50000 AAAA " + part[3],
		"half a hash": "pbkdf2-sha256 50000 " + part[2] + " " + part[3][:20], "no hash": "pbkdf2-sha256 50000 " + part[2], "more": kept.Text() + " 482915",
		"another letter": "pbkdf2-sha256 50000 " + part[2] + " *" + part[3][1:],
	} {
		_, err := login.Parse(text)
		require.Error(t, err, what)
		require.NotContains(t, err.Error(), "482915", what)
	}
}
