package paylinks_test

import (
	"encoding/json"
	"testing"

	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
	"posagent/schemes/wire/wiretest"
)

func transcripts() wiretest.Service {
	return wiretest.Service{
		API: paylinks.API(), Reasons: paylinks.Problems(), Secrets: []string{"demo-secret"},
		Options: paylinks.HandlerOptions{Secret: demo}.Rest(),
		Client: func(base string, d wire.Doer) []rest.Bound {
			c := &paylinks.Client{BaseURL: base, Instance: "demo", Secret: "demo-secret", Doer: d}
			return paylinks.Table()[:9].Bind(paylinks.Service{Links: c.Links(), Transactions: c.Transactions()}) // the signature check asks no service
		},
		Adapt: func(call, _ map[string]json.RawMessage) {
			if string(call["op"]) == `"txn"` {
				call["op"] = json.RawMessage(`"transaction"`)
			}
		},
	}
}

func TestClientAlone(t *testing.T) { transcripts().ClientAlone(t) }

func TestHandlerAlone(t *testing.T) { transcripts().HandlerAlone(t) }

func TestCodesSurviveTheWire(t *testing.T) { transcripts().CodesSurvive(t, nil) }

func TestWhatNeverLeft(t *testing.T) { transcripts().NeverSent(t) }
