package nexo_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/ecr/ecrtest"
	"posagent/ecr/nexo"
)

// protocol makes the protocol of a terminal in clear, changed by the caller.
func protocol(t testing.TB, change func(*nexo.Options)) ecr.Protocol {
	t.Helper()
	o := nexo.Options{POIID: "POSAGENT-000020000001", Currency: "EUR", MerchantName: "Corner Shop", MerchantID: "demomerchant", TerminalID: "52500038", Language: "en", Software: "1.0"}
	if change != nil {
		change(&o)
	}
	p, err := nexo.New(o)
	require.NoError(t, err)
	return p
}

// TestConformance holds nexo to the suite of every protocol. A status is how a till asks again.
func TestConformance(t *testing.T) {
	body := payment("till1", "A7", "order-7", "12.50")
	head := "POST /nexo/ HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\n"
	hostile := []string{
		body,
		"POST /nexo/ HTTP/1.1\r\nHost: t\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\n{\"a\":1}...",
		head + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		head + "Content-Length: 7\r\nContent-Length: 7\r\n\r\n{\"a\":1}",
		head + "Content-Length: 999999999\r\n\r\n" + body,
		head + "Origin: http://evil.example\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		head + "Transfer-Encoding: chunked\r\n\r\nffffffffffff\r\n",
		head + "Content-Length: 3\r\n\r\n[1]",
		head + "Content-Length: 2\r\n\r\n{}",
		"PUT /nexo/ HTTP/1.1\r\nHost: t\r\n\r\n",
	}
	for name, keep := range map[string]bool{"whole answers": false, "blanks while it runs": true} {
		t.Run(name, func(t *testing.T) {
			ecrtest.Run(t, ecrtest.Fixture{
				Protocol: protocol(t, func(o *nexo.Options) { o.KeepAlive = keep }), Connect: connect, Hostile: hostile,
				Can: ecrtest.Can{IDs: true, Repeats: true, Names: true, EndOfDay: true},
			})
		})
	}
}
