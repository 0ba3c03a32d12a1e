package backend

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/config"
	"posagent/cmd/usage"
	"posagent/schemes/wire"
)

// owned is a configuration whose six credentials are its own.
func owned() config.Config {
	cfg := config.Default()
	cfg.Methods.TimeoutUnit = "m"
	cfg.Backend.Credentials = config.Auth{
		Bearer: "own-1", ConsumerKey: "own-2", ConsumerSecret: "own-3", ClientID: "own-4", ClientSecret: "own-5", Instance: "demo", Secret: "own-6", APIKey: "own-7",
	}
	cfg.Backend.FleetToken = "own-8"
	return cfg
}

// serves runs a backend until it listens, or says why it does not.
func serves(t *testing.T, cfg config.Config, listen string, tolerate bool) (up bool, log string, err error) {
	t.Helper()
	var text bytes.Buffer
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	err = Serve(ctx, Serving{
		Config: cfg, Dir: filepath.Join(t.TempDir(), "backend"), Listen: listen, Tolerate: tolerate, Log: slog.New(slog.NewTextHandler(&text, nil)),
		Ended: func(err error) error { return err }, Up: func(string, string) { up = true; stop() },
	})
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return up, text.String(), err
}

// Outside loopback no credential that the documents print is accepted (MONEY E.5). Each of the six alone keeps the backend
// from its address, with exit 3 and its name; tolerated, each is said at the start and by doctor. The listeners that others
// reach: every network of IPv4, of IPv6 and of both, an address of a network, a name that means such an address. A
// credential that is switched off is none.
func TestField2_G1_PrintedCredentialsStayAtHome(t *testing.T) {
	demo := config.Default().Backend
	six := map[string]func(to *config.Config, value wire.Secret){
		"backend.credentials.bearer":          func(c *config.Config, v wire.Secret) { c.Backend.Credentials.Bearer = v },
		"backend.credentials.consumer_secret": func(c *config.Config, v wire.Secret) { c.Backend.Credentials.ConsumerSecret = v },
		"backend.credentials.client_secret":   func(c *config.Config, v wire.Secret) { c.Backend.Credentials.ClientSecret = v },
		"backend.credentials.secret":          func(c *config.Config, v wire.Secret) { c.Backend.Credentials.Secret = v },
		"backend.credentials.api_key":         func(c *config.Config, v wire.Secret) { c.Backend.Credentials.APIKey = v },
		"backend.fleet_token":                 func(c *config.Config, v wire.Secret) { c.Backend.FleetToken = v },
	}
	printed := map[string]wire.Secret{
		"backend.credentials.bearer": demo.Credentials.Bearer, "backend.credentials.consumer_secret": demo.Credentials.ConsumerSecret,
		"backend.credentials.client_secret": demo.Credentials.ClientSecret, "backend.credentials.secret": demo.Credentials.Secret,
		"backend.credentials.api_key": demo.Credentials.APIKey, "backend.fleet_token": demo.FleetToken,
	}
	refused := func(t *testing.T, err error, keys ...string) {
		t.Helper()
		var coded *usage.Exit
		require.ErrorAs(t, err, &coded)
		require.Equal(t, usage.ExitConfig, coded.Code)
		for key := range six {
			require.Equal(t, slices.Contains(keys, key), bytes.Contains([]byte(err.Error()), []byte(key+":")), "%s in %v", key, err)
		}
	}
	outside := []string{"0.0.0.0:0", "[::]:0", ":0", "192.0.2.1:0", "[2001:db8::1]:0", "[::ffff:192.0.2.1]:0"}
	for key, set := range six {
		t.Run(key, func(t *testing.T) {
			cfg := owned()
			set(&cfg, printed[key])
			for _, listen := range outside {
				up, _, err := serves(t, cfg, listen, false)
				require.False(t, up, listen)
				refused(t, err, key)
			}
			up, log, err := serves(t, cfg, "0.0.0.0:0", true)
			require.NoError(t, err)
			require.True(t, up)
			require.Contains(t, log, key)
			up, _, err = serves(t, cfg, "127.0.0.1:0", false)
			require.NoError(t, err)
			require.True(t, up)
			set(&cfg, "")
			up, _, err = serves(t, cfg, "0.0.0.0:0", false)
			require.NoError(t, err)
			require.True(t, up, "it is switched off")
		})
	}
	all := config.Default()
	all.Methods.TimeoutUnit = "m"
	for _, listen := range outside {
		_, _, err := serves(t, all, listen, false)
		refused(t, err, "backend.credentials.bearer", "backend.credentials.consumer_secret", "backend.credentials.client_secret", "backend.credentials.secret",
			"backend.credentials.api_key", "backend.fleet_token")
	}
	for _, listen := range []string{"127.0.0.1:0", "127.9.9.9:0", "localhost:0"} {
		up, _, err := serves(t, all, listen, false)
		require.NoError(t, err)
		require.True(t, up, listen)
	}
	up, log, err := serves(t, owned(), "0.0.0.0:0", false)
	require.NoError(t, err)
	require.True(t, up)
	require.NotContains(t, log, "printed")
	s := Serving{Config: all}
	refused(t, s.guarded((&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 8490}).String()),
		"backend.credentials.bearer", "backend.credentials.consumer_secret", "backend.credentials.client_secret", "backend.credentials.secret",
		"backend.credentials.api_key", "backend.fleet_token")

	none := owned()
	none.Backend.Credentials, none.Backend.FleetToken = config.Auth{}, ""
	_, _, err = serves(t, none, "127.0.0.1:0", false)
	var coded *usage.Exit
	require.ErrorAs(t, err, &coded, "where none is set the backend below would take the printed ones")
	require.Equal(t, usage.ExitConfig, coded.Code)
}
