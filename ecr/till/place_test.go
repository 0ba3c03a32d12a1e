package till_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr/till"
)

// TestPlaceOf: what is on this machine is known by its host, whatever carries the messages.
func TestPlaceOf(t *testing.T) {
	kinds := map[string]till.Kind{}
	for _, k := range till.Protocols() {
		kinds[k.Name] = k
	}
	for text, want := range map[string]till.Place{
		"zvt 127.0.0.1:20007":            {Address: "127.0.0.1:20007", Local: true},
		"zvt 192.168.1.50:20007":         {Address: "192.168.1.50:20007"},
		"ecr17 [::1]:1024":               {Address: "[::1]:1024", Local: true},
		"caisse-ap 0.0.0.0:8888":         {Address: "0.0.0.0:8888"},
		"http localhost:8480":            {Address: "localhost:8480", Local: true},
		"http https://10.0.0.9:8480":     {Address: "10.0.0.9:8480", Secure: true},
		"nexo 127.0.0.1:8443":            {Address: "127.0.0.1:8443", Secure: true, Local: true},
		"nexo https://127.0.0.2:8443/":   {Address: "127.0.0.2:8443", Secure: true, Local: true},
		"nexo http://127.0.0.1:8080":     {Address: "127.0.0.1:8080", Local: true},
		"nexo 192.168.1.50:8443":         {Address: "192.168.1.50:8443", Secure: true},
		"nexo https://localhost.shop:84": {Address: "localhost.shop:84", Secure: true},
		"http https://127.0.0.1.shop:84": {Address: "127.0.0.1.shop:84", Secure: true},
	} {
		name, address, _ := strings.Cut(text, " ")
		got, err := till.PlaceOf(kinds[name], address)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for text, want := range map[string]string{
		"zvt 127.0.0.1": "not host:port", "zvt https://127.0.0.1:1": "no address of zvt", "nexo ftp://127.0.0.1:1": "no address of nexo", "http 127.0.0.1:": "not host:port",
		"nexo https://127.0.0.1": "not host:port",
	} {
		name, address, _ := strings.Cut(text, " ")
		_, err := till.PlaceOf(kinds[name], address)
		require.ErrorContains(t, err, want, text)
	}
}

// TestSettingsPrintNoSecret: whatever prints the settings of a register shows none of its secrets.
func TestSettingsPrintNoSecret(t *testing.T) {
	const canary = "canary-0123456789"
	s := till.Settings{Tokens: []till.Secret{canary}, Passphrase: canary, APIKey: canary, KeyID: "till", POIID: "P-1"}
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		require.False(t, strings.Contains(fmt.Sprintf(format, s), canary), format)
	}
}
