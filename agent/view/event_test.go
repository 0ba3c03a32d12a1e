package view_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/outbox"
	"posagent/agent/view"
	"posagent/ecr"
)

// An operation tells of what is worth knowing: not of every attempt.
func TestOperationEvent(t *testing.T) {
	for _, c := range []struct {
		was, is  outbox.State
		attempts int
		want     string
	}{
		{"", outbox.Pending, 0, "operation.accepted"},
		{outbox.Pending, outbox.Sent, 1, "operation.sent"},
		{outbox.Sent, outbox.Pending, 1, ""},
		{outbox.Pending, outbox.Sent, 2, ""},
		{outbox.Sent, outbox.Done, 2, "operation.done"},
		{outbox.Sent, outbox.Failed, 1, "operation.failed"},
		{outbox.Pending, outbox.Failed, 0, "operation.failed"},
		{outbox.Pending, outbox.Expired, 0, "operation.expired"},
		{outbox.Sent, outbox.Doubt, 3, "operation.doubt"},
		{outbox.Pending, outbox.Held, 0, "operation.held"},
		{outbox.Held, outbox.Pending, 0, "operation.released"},
		{outbox.Held, outbox.Sent, 4, "operation.released"},
		{outbox.Doubt, outbox.Sent, 4, "operation.released"},
		{outbox.Doubt, outbox.Done, 4, "operation.done"},
		{outbox.Held, outbox.Failed, 4, "operation.failed"},
	} {
		it, ok := view.OperationEvent(nil, c.was, outbox.Op{New: outbox.New{Key: "k", Payload: []byte("card-canary")}, State: c.is, Attempts: c.attempts, Memo: []byte("card-canary")}, nil)
		require.Equal(t, c.want != "", ok, "%s to %s", c.was, c.is)
		require.Equal(t, c.want, it.Event, "%s to %s", c.was, c.is)
		require.NotContains(t, string(it.Body), "canary")
	}
}

// A sale tells of its outcome and of its end.
func TestSaleEvent(t *testing.T) {
	row := func(phase checkout.Phase, result ecr.Result) *journal.Row {
		return &journal.Row{Key: "k", State: checkout.State{Phase: phase, Result: result}}
	}
	it, ok := view.SaleEvent(row(checkout.Initializing, ""), row(checkout.Waiting, ""))
	require.False(t, ok, it.Event)
	it, ok = view.SaleEvent(row(checkout.Waiting, ""), row(checkout.Unconfirmed, ecr.Approved))
	require.True(t, ok)
	require.Equal(t, "sale.approved", it.Event)
	require.Contains(t, string(it.Body), `"result":"approved"`)
	it, ok = view.SaleEvent(row(checkout.Unconfirmed, ecr.Approved), row(checkout.Done, ecr.Approved))
	require.True(t, ok)
	require.Equal(t, "sale.settled", it.Event)
}

// A cursor survives the wire; what is none is refused.
func TestCursor(t *testing.T) {
	for text, want := range map[string]view.Cursor{"0": {}, "7": {Inbox: 7}, "7-9": {Inbox: 7, Log: 9}, "0-12": {Log: 12}, "3:7-9": {Generation: 3, Inbox: 7, Log: 9}} {
		got, err := view.ParseCursor(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got)
		again, err := view.ParseCursor(got.String())
		require.NoError(t, err)
		require.Equal(t, want, again)
	}
	for _, bad := range []string{"", "-", "-1", "1-", "1--1", "a", "1-2-3", "+1-2", "1-+2", "99999999999999999999", " 1", ":1-2", "3:", "-3:1-2", "1:2:3-4", "+3:1-2"} {
		_, err := view.ParseCursor(bad)
		require.Error(t, err, bad)
	}
}
