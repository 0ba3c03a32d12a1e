package aapay_test

import (
	"testing"

	"posagent/schemes/aapay"
	"posagent/schemes/wire/wiretest"
)

func TestEveryFieldOfTheSpecification(t *testing.T) {
	types := map[string]any{"request": aapay.Request{}, "reply": aapay.Reply{}, "status": aapay.Status{}}
	wiretest.Compared(t, aapay.Table().Infos(), types, nil)
	wiretest.Fields(t, "testdata/fields.txt", types,
		// ours: the specification does not show the receipt, and knows no stored operation
		"status.receipt.merchantName", "status.receipt.terminalId", "status.receipt.scheme", "status.receipt.amount",
		"status.receipt.currency", "status.receipt.time", "status.receipt.reference", "status.receipt.state",
		"reply.operation", "reply.operation.key", "reply.operation.status", "reply.operation.note")
}
