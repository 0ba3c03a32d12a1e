package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// given is what an operator sends: secrets in it, and two local clients.
const given = `[terminal]
bax_id = "B1"
terminal_id = "T1"
merchant_id = "M1"
[upstream]
base = "https://backend.example"
[upstream.auth]
bearer = "of-the-operator"
[port.clients.kiosk]
token = "kiosk-token-of-the-operator"
may = ["read"]
[port.clients.till]
token = "till-token-of-the-operator"
may = ["read", "pay"]
`

// The file goes before what the terminal was given, key by key; each value says where it comes from, and so does each error.
func TestTheFileStandsOverWhatWasGiven(t *testing.T) {
	dir := t.TempDir()
	token := filepath.Join(dir, "token")
	require.NoError(t, os.WriteFile(token, []byte("of-the-box"), 0o600))
	file := filepath.Join(dir, "c.toml")
	own := "[upstream.auth]\nbearer_file = \"" + token + "\"\n[ecr]\nserial = \"/dev/ttyS1\"\n[port.clients.till]\ntoken = \"till-token-of-the-box\"\n"
	require.NoError(t, os.WriteFile(file, []byte(own), 0o600))
	c, err := Load(file, []string{"POSAGENT_TERMINAL_LANGUAGE=de"}, Layer{Name: "revision 3", Text: []byte(given)})
	require.NoError(t, err)
	require.Equal(t, "https://backend.example", c.Upstream.Base)
	require.Equal(t, "of-the-box", c.Upstream.Auth.Bearer.Reveal())
	require.Equal(t, "/dev/ttyS1", c.ECR.Serial)
	require.Equal(t, "de", c.Terminal.Language)
	require.Len(t, c.Port.Clients, 2)
	require.Equal(t, []string{"read"}, c.Port.Clients["kiosk"].May)
	require.Equal(t, "till-token-of-the-box", c.Port.Clients["till"].Token.Reveal())
	require.Nil(t, c.Port.Clients["till"].May, "a client of the file is the file's alone")
	origin := c.Origin()
	require.Equal(t, "revision 3:2", origin["terminal.bax_id"])
	require.Equal(t, file+":2", origin["upstream.auth.bearer"])
	require.Equal(t, "POSAGENT_TERMINAL_LANGUAGE", origin["terminal.language"])

	alone, err := Load("", nil, Layer{Name: "revision 3", Text: []byte(given)})
	require.NoError(t, err)
	require.Equal(t, "of-the-operator", alone.Upstream.Auth.Bearer.Reveal())
	var keys []string
	for _, d := range alone.Differences(c) {
		keys = append(keys, d.Key)
		require.NotContains(t, d.Was+d.Is, "of-the")
	}
	require.Equal(t, []string{"terminal.language", "port.clients", "upstream.auth.bearer", "ecr.serial"}, keys)
}

// What was given names none of the box's files: it could send any of them to an address of its choice.
func TestWhatWasGivenReadsNoFile(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte("of-the-box"), 0o600))
	for _, key := range []string{"[upstream.auth]\nbearer_file", "[port.clients.till]\ntoken_file", "[hooks]\nauthorization_file"} {
		_, err := Load("", nil, Layer{Name: "revision 3", Text: []byte(key + " = \"" + token + "\"\n")})
		require.ErrorContains(t, err, "config: revision 3:2: ", key)
		require.ErrorContains(t, err, "names none of its files", key)
	}
	_, err := Load("", nil, Layer{Name: "revision 4", Text: []byte("[terminal]\nbaxid = 1\n")})
	require.EqualError(t, err, "config: revision 4:2: terminal.baxid: unknown key, did you mean terminal.bax_id?")
	_, err = Load("", nil, Layer{Name: "revision 4", Text: []byte("[terminal]\nbax_id = \n")})
	require.ErrorContains(t, err, "config: revision 4:2: ")
}
