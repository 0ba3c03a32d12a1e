package nexo

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
)

// TestField6_ADayThatWasClosedIsToldWhateverRuns: a till closed the day and its answer was lost. It asked again under the same ServiceID
// while another till's payment ran on the line, and heard "busy", which is a no, of a day that was closed. The kind: what runs is a
// payment or an end of day, here or at another connection; the day is there, is not, or cannot be read. TestField5_WhatIsKnownIsToldWhateverRuns
// has the requests for money.
func TestField6_ADayThatWasClosedIsToldWhateverRuns(t *testing.T) {
	head := func(category, service, sale, body string) ecr.Received {
		return ecr.Received{Elsewhere: sale == "till1", Data: handed(kindMessage, `{"SaleToPOIRequest":{"MessageHeader":{"ProtocolVersion":"3.0","MessageClass":"Service","MessageCategory":"`+category+
			`","MessageType":"Request","ServiceID":"`+service+`","SaleID":"`+sale+`","POIID":"POSAGENT-000020000001"},"`+category+`Request":`+body+`}}`)}
	}
	const end = `{"ReconciliationType":"SaleReconciliation"}`
	pay := head("Payment", "O1", "till2", `{"SaleData":{"SaleTransactionID":{"TransactionID":"order-7","TimeStamp":"2026-11-26T11:00:00Z"}},"PaymentTransaction":{"AmountsReq":{"Currency":"EUR","RequestedAmount":12.50}}}`)
	for name, events := range map[string][]ecr.Event{
		"a payment":      {pay, ecr.NotBegun{Gen: 1}, ecr.Begun{Gen: 2, Sale: "s2"}},
		"an end of day":  {head("Reconciliation", "O1", "till2", end)},
		"a lost payment": {pay, ecr.NotBegun{Gen: 1}, ecr.Begun{Gen: 2, Sale: "s2"}, ecr.Gone{}},
	} {
		for how, c := range map[string]struct {
			code ecr.Code
			want string
		}{
			"closed": {ecr.OK, `"POIReconciliationID":"12"`}, "not closed": {"", `"ErrorCondition":"Busy"`}, "not read": {ecr.SystemError, `"ErrorCondition":"Busy"`},
		} {
			s := testShared(t, "EUR")
			other := newDialogue(s, ecr.Start{Line: "nexo"})
			for _, ev := range events {
				other.Step(ev)
			}
			d, answer := newDialogue(s, ecr.Start{Line: "nexo"}), ""
			for queue := []ecr.Event{head("Reconciliation", "R1", "till1", end)}; len(queue) > 0; queue = queue[1:] {
				for _, a := range d.Step(queue[0]) {
					switch a := a.(type) {
					case ecr.ClosedDay:
						require.Equal(t, ecr.Asker{Line: "nexo/till1", ID: "R1", Reuse: 48 * time.Hour}, a.By)
						queue = append(queue, ecr.Totalled{Gen: a.Gen, Totals: ecr.Totals{Batch: 12, Currency: "EUR"}, Code: c.code})
					case ecr.CloseBatch:
						require.Fail(t, "nothing is closed while another runs")
					case ecr.Send:
						answer = string(a.Data)
					}
				}
			}
			require.Contains(t, answer, c.want, "%s, %s", name, how)
			require.True(t, strings.HasPrefix(answer, "200"))
		}
	}
}
