package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
)

// checkNet runs net check with a configuration, and gives exit code and judgement.
func checkNet(t *testing.T, base, more string, args ...string) (int, netView) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "c.toml")
	text := fmt.Sprintf("[terminal]\nbax_id = \"1\"\nterminal_id = \"2\"\nmerchant_id = \"3\"\n[ecr]\ntcp = \"127.0.0.1:20007\"\n[upstream]\nbase = %q\n%s\n", base, more)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	var said, talk bytes.Buffer
	err := dispatch(t.Context(), append([]string{"net", "check", "--json", "--config", file}, args...), std{strings.NewReader(""), &said, &talk})
	code := exitOK
	if err != nil {
		var e *exit
		require.ErrorAs(t, err, &e)
		code = e.Code
	}
	var v netView
	require.NoError(t, json.Unmarshal(said.Bytes(), &v), "%s%s%v", said.String(), talk.String(), err)
	return code, v
}

// TestNetCheckNamesEachFault: what keeps the terminal from a service, by its own cause and exit code.
func TestNetCheckNamesEachFault(t *testing.T) {
	t.Parallel()
	good := newBank(t, "Good Root", time.Now().Add(time.Hour))
	strange := newBank(t, "Shop Router CA", time.Now().Add(time.Hour))
	no := answer(401, "application/json", `{"valid":false,"error":{"message":"no"}}`)
	for name, tc := range map[string]struct {
		base, more string
		code       int
		words      string
		remedy     string
	}{
		"refused":     {base: "http://" + need.ClosedPort(t), code: 7, words: "refuses the connection", remedy: "[upstream] base"},
		"stranger":    {base: strange.serve(t, no), more: fmt.Sprintf("roots_file = %q", good.root), code: 7, words: "Shop Router CA", remedy: "roots_file"},
		"portal":      {base: plainServer(t, answer(200, "text/html", "<h1>Welcome</h1>")), code: 7, words: "login page", remedy: "log in"},
		"failing":     {base: plainServer(t, answer(500, "application/json", `{}`)), code: 1, words: "reply 500", remedy: "operator"},
		"credentials": {base: good.serve(t, no), more: fmt.Sprintf("roots_file = %q", good.root), code: 8, words: "refuses the credentials", remedy: "[upstream.auth]"},
		"another":     {base: plainServer(t, answer(200, "application/json", `{"hello":1}`)), code: 1, words: "what answers is not the service", remedy: "[upstream] payments or base"},
	} {
		t.Run(name, func(t *testing.T) {
			code, v := checkNet(t, tc.base, tc.more, "payments")
			require.Equal(t, tc.code, code)
			require.Len(t, v.Services, 1)
			s := v.Services[0]
			require.False(t, s.OK)
			require.Contains(t, s.Words, tc.words)
			require.Contains(t, s.Remedy, tc.remedy)
		})
	}
}

// TestNetCheckShowsTheWay: the steps that were taken have times, and the certificate is told.
func TestNetCheckShowsTheWay(t *testing.T) {
	good := newBank(t, "Good Root", time.Now().Add(time.Hour))
	base := good.serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", time.Now().Add(-3*time.Hour).UTC().Format(http.TimeFormat))
		answer(404, "application/json", `{"valid":false,"error":{"message":"no"}}`)(w, r)
	})
	_, v := checkNet(t, base, fmt.Sprintf("roots_file = %q", good.root))
	require.Len(t, v.Services, 7)
	for _, s := range v.Services {
		require.Equal(t, 404, s.Status, s.Service)
		require.Nil(t, s.NameMS, "an address needs no name service")
		for _, took := range []*float64{s.ConnectMS, s.TLSMS, s.ReplyMS} {
			require.NotNil(t, took, s.Service)
			require.Positive(t, *took)
		}
		require.NotNil(t, s.ClockMS)
		require.InDelta(t, -3*3600*1000, *s.ClockMS, 600_000)
		require.Equal(t, "Good Root", s.Certificate.Issuer)
		require.Equal(t, []string{"127.0.0.1"}, s.Certificate.Names)
		require.Equal(t, s.Service == "paylinks" || s.Service == "hosted", s.Unproven, s.Service)
	}
}

func TestNetCheckOfASandbox(t *testing.T) {
	state := filepath.Join(t.TempDir(), "s")
	code, v := checkNet(t, "", "", "--state", state)
	require.Equal(t, exitNotEnrolled, code)
	require.True(t, v.Unenrolled)
	require.False(t, v.Sandbox)

	require.NoError(t, os.MkdirAll(filepath.Join(state, "backend"), 0o700)) // a sandbox has run
	code, v = checkNet(t, "", "", "--state", state)
	require.Equal(t, exitOK, code)
	require.True(t, v.Sandbox)
	require.Empty(t, v.Services)
	require.Equal(t, "http://proxy.example:3128", withoutLogin("http://user:pass@proxy.example:3128"))
}
