package webhooks_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/webhooks"
	"posagent/schemes/webhooks/webhookstest"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

// refusing is a Service that always fails.
type refusing struct{ err error }

func (r refusing) Receive(context.Context, webhooks.Event) error { return r.err }

// lost is a Doer that gets no reply.
type lost struct{}

func (lost) Do(*http.Request) (*http.Response, error) { return nil, errors.New("reset") }

func TestALostReplyLeavesTheOutcomeOpen(t *testing.T) {
	e := webhookstest.Samples()[0]
	err := (&webhooks.Client{URL: "http://receiver.test/", Doer: lost{}}).Receive(t.Context(), e)
	require.Equal(t, wire.UnknownOutcome, wire.CodeOf(err))
	err = (&webhooks.Client{URL: "http://receiver.test/\x00", Doer: lost{}}).Receive(t.Context(), e)
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
	e.ID = ""
	err = (&webhooks.Client{URL: "http://receiver.test/", Doer: lost{}}).Receive(t.Context(), e)
	require.Equal(t, wire.Invalid, wire.CodeOf(err))
	h := webhooks.Handler(refusing{errors.New("dsn=secret")}, webhooks.HandlerOptions{})
	err = (&webhooks.Client{URL: "http://receiver.test/", Doer: wiretest.Direct(h)}).Receive(t.Context(), webhookstest.Samples()[0])
	require.Equal(t, wire.Internal, wire.CodeOf(err))
	require.NotContains(t, err.Error(), "secret")
}
