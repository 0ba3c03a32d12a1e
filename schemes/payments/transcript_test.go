package payments_test

import (
	"testing"

	"posagent/schemes/payments"
	"posagent/schemes/payments/paymentstest"
	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
	"posagent/schemes/wire/wiretest"
)

func transcripts() wiretest.Service {
	return wiretest.Service{
		API: payments.API(), Reasons: payments.Problems(), Secrets: append(paymentstest.Secrets(), visa, "code 123"),
		Client: func(base string, d wire.Doer) []rest.Bound {
			return payments.Table().Bind(&payments.Client{BaseURL: base, Doer: d})
		},
	}
}

func TestClientAlone(t *testing.T) { transcripts().ClientAlone(t) }

func TestHandlerAlone(t *testing.T) { transcripts().HandlerAlone(t) }

func TestCodesAndReasonsSurviveTheWire(t *testing.T) { transcripts().CodesSurvive(t, nil) }

func TestWhatWasProvablyNotSent(t *testing.T) { transcripts().NeverSent(t) }
