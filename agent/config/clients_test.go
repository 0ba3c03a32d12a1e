package config

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Clients have names of their own, and tokens in files of their own or in a file that is the owner's alone.
func TestClients(t *testing.T) {
	token := write(t, "kiosk.token", "kiosk-token-0123456\n", 0o640)
	c, err := Load(write(t, "config.toml", fmt.Sprintf("[port.clients]\nkiosk_file = %q\nback-office = \"office-token-0123456\"\n", token), 0o600), nil)
	require.NoError(t, err)
	require.Equal(t, map[string]Client{"kiosk": {Token: "kiosk-token-0123456"}, "back-office": {Token: "office-token-0123456"}}, c.Port.Clients)
	require.NotContains(t, fmt.Sprintf("%v %+v %#v", c.Port, c.Port, c.Port.Clients), "token-0123456")

	open := write(t, "open.token", "kiosk-token-0123456\n", 0o644)
	for text, want := range map[string]string{
		"kiosk = \"short\"":                                                        "not 16 to 1024 characters",
		"\"a b\" = \"kiosk-token-0123456\"":                                        "letters, digits and hyphens",
		"kiosk = 7":                                                                "want a text in quotes",
		fmt.Sprintf("kiosk_file = %q", open):                                       "can be read by others",
		"kiosk_file = \"/nowhere/at/all\"":                                         "no such file",
		"a = \"kiosk-token-0123456\"\nb = \"kiosk-token-0123456\"":                 "another client has the same token",
		fmt.Sprintf("kiosk = \"kiosk-token-0123456\"\nkiosk_file = %q", token):     "is given too",
		"[port.clients.kiosk]\ntoken = 7":                                          "want a text in quotes",
		"[port.clients.kiosk]\nmay = [\"read\"]":                                   "not 16 to 1024 characters",
		"[port.clients.kiosk]\ntoken = \"kiosk-token-0123456\"\nmay = [\"steal\"]": "\"steal\" is none of read pay refund links tokens sales disputes hosted onboarding all",
		"[port.clients.kiosk]\ntoken = \"kiosk-token-0123456\"\nmy = 1":            "did you mean port.clients.kiosk.may?",
		"[port.clients.main]\ntoken = \"kiosk-token-0123456\"":                     "main is the terminal's own token",
		"[port.clients.a]\ntoken = \"kiosk-token-0123456\"\nid = \"x\"\n[port.clients.b]\ntoken = \"other-token-0123456\"\nid = \"x\"": "has the same id",
		"a = \"terminal-token-0123\"\n[port]\ntoken = \"terminal-token-0123\"\n":                                                       "another client has the same token",
	} {
		_, err := Load(write(t, "config.toml", "[port.clients]\n"+text+"\n", 0o600), nil)
		require.ErrorContains(t, err, want, text)
		require.NotContains(t, err.Error(), "token-0123")
	}
	_, err = Load(write(t, "config.toml", "[port]\nclients = \"kiosk\"\n", 0o600), nil)
	require.ErrorContains(t, err, "want a section of names")
}

// Who may sell over HTTP is a client with that word. Seeing everything is not selling, and without a port there is no way to ask.
func TestWhoMaySell(t *testing.T) {
	clients := "[port.clients.kiosk]\ntoken = \"kiosk-token-0123456\"\nmay = [\"read\", \"sales\"]\n" +
		"[port.clients.office]\ntoken = \"office-token-0123456\"\nmay = [\"read\", \"all\"]\n[port.clients.usual]\ntoken = \"usual-token-0123456\"\n"
	c, err := Load(write(t, "config.toml", clients, 0o600), nil)
	require.NoError(t, err)
	require.Equal(t, []string{"kiosk"}, c.Sellers())
	c, err = Load(write(t, "config.toml", "[port]\nlisten = \"\"\n"+clients, 0o600), nil)
	require.NoError(t, err)
	require.Empty(t, c.Sellers())
	_, err = Load(write(t, "config.toml", "[port.clients]\nkiosk = \"kiosk-token-0123456\"\n", 0o644), nil)
	require.ErrorContains(t, err, "others can read")
}

// A client's section says what it may do, and what the journal knows it by when it is renamed.
func TestField_P1ClientsHaveWordsAndIds(t *testing.T) {
	token := write(t, "kiosk.token", "kiosk-token-0123456\n", 0o640)
	c, err := Load(write(t, "config.toml", fmt.Sprintf("[port.clients.kiosk]\ntoken_file = %q\nmay = [\"read\", \"all\"]\nid = \"till\"\n"+
		"[port.clients.mute]\ntoken_file = %q\nmay = []\n", token, write(t, "mute.token", "mute-token-01234567\n", 0o640)), 0o644), nil)
	require.NoError(t, err)
	require.Equal(t, map[string]Client{
		"kiosk": {Token: "kiosk-token-0123456", ID: "till", May: []string{"read", "all"}}, "mute": {Token: "mute-token-01234567", May: []string{}},
	}, c.Port.Clients)
}
