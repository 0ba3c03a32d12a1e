package nexo

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
)

// TestField5_AnAbortDoesNotDecideWhatIsKnown: a payment was approved and its answer lost. The till asked again,
// and aborted it while the terminal was looking it up, which takes seconds behind a start or a slow disk. It
// heard "aborted" of money that it had been given, and nobody was told. The kind: found by the line's memory and
// by the desk; ended, running, and where the desk could not say whether it is there; aborted before and while it
// is looked for. What is not there is aborted, and begins nothing.
func TestField5_AnAbortDoesNotDecideWhatIsKnown(t *testing.T) {
	message := func(category, service, body string) ecr.Received {
		return ecr.Received{Data: handed(kindMessage, `{"SaleToPOIRequest":{"MessageHeader":{"ProtocolVersion":"3.0","MessageClass":"Service","MessageCategory":"`+category+
			`","MessageType":"Request","ServiceID":"`+service+`","SaleID":"till1","POIID":"POSAGENT-000020000001"},"`+category+`Request":`+body+`}}`)}
	}
	pay := message("Payment", "P1", `{"SaleData":{"SaleTransactionID":{"TransactionID":"order-7","TimeStamp":"2026-11-26T11:00:00Z"}},"PaymentTransaction":{"AmountsReq":{"Currency":"EUR","RequestedAmount":12.50}}}`)
	stop := message("Abort", "A1", `{"AbortReason":"MerchantAbort","MessageReference":{"MessageCategory":"Payment","SaleID":"till1","ServiceID":"P1"}}`)
	approved := ecr.Outcome{Sale: "s1", Kind: ecr.Payment, Result: ecr.Approved, Code: ecr.OK, Amount: 1250, Currency: "EUR", Receipt: 1}
	stopped := approved
	stopped.Result, stopped.Code, stopped.Receipt = ecr.Aborted, ecr.AbortedByUser, 0
	for name, c := range map[string]struct {
		there  *ecr.Outcome // what the desk has; nil = nothing
		unread bool         // the first question fails
		runs   bool         // it ends once it is aborted
		want   string
	}{
		"approved":            {there: &approved, want: `"Result":"Success"`},
		"approved, not read":  {there: &approved, unread: true, want: `"Result":"Success"`},
		"running":             {there: &stopped, runs: true, want: `"Result":"Failure"`},
		"not there":           {want: `"ErrorCondition":"Aborted"`},
		"not there, not read": {unread: true, want: `"ErrorCondition":"Aborted"`},
	} {
		for _, remembered := range []bool{false, true} {
			if remembered && c.there == nil {
				continue
			}
			s := testShared(t, "EUR")
			if remembered {
				s.line("nexo", nil).add(entry{Sale: "s1", SaleID: "till1", Service: "P1", Category: "Payment", Order: "order-7", AtMS: 1})
			}
			var answer string
			var began []ecr.Request
			aborts := 0
			d, other := newDialogue(s, ecr.Start{Line: "nexo"}), newDialogue(s, ecr.Start{Line: "nexo"})
			asked := false
			var play func(d *dialogue, ev ecr.Event)
			answers := func(d *dialogue, gen int) {
				if c.there == nil {
					play(d, ecr.NotBegun{Gen: gen})
					return
				}
				play(d, ecr.Begun{Gen: gen, Sale: "s1"})
				if !c.runs || aborts > 0 {
					play(d, ecr.Ended{Gen: gen, Outcome: *c.there})
				}
			}
			play = func(d *dialogue, ev ecr.Event) {
				for _, a := range d.Step(ev) {
					switch a := a.(type) {
					case ecr.Last:
						if d == other {
							continue // the desk has not answered it yet
						}
						if !asked {
							asked = true
							play(other, stop)
							if c.unread {
								play(d, ecr.NotBegun{Gen: a.Gen, Code: ecr.SystemError})
								continue
							}
						}
						answers(d, a.Gen)
					case ecr.Begin:
						began = append(began, a.Request)
						if !asked { // found by the line's memory
							asked = true
							play(other, stop)
						}
						answers(d, a.Gen)
					case ecr.Abort:
						aborts++
						if c.runs && aborts == 1 {
							play(d, ecr.Ended{Gen: d.gen, Outcome: *c.there})
						}
					case ecr.Send:
						if d == other {
							play(d, ecr.Sent{Seq: a.Seq, OK: true})
							continue
						}
						if text := string(a.Data); !strings.HasPrefix(text, accepted) {
							answer = text
						}
					}
				}
			}
			play(d, pay)
			require.Contains(t, answer, c.want, "%s, %t", name, remembered)
			for _, req := range began {
				require.True(t, c.there != nil || req.Repeat, "%s: nothing new is begun", name)
			}
		}
	}
}

// TestField5_WhatIsKnownIsToldWhateverRuns: a payment was approved and its answer lost, and the till asked again
// while another till's payment ran on the line. It heard "busy", which is a no, of money that was kept. The kind:
// another's payment, refund and end of day; remembered by the line, known to the desk, not read; at once, and
// after it has waited for another's telling. A new request is busy still, and is not begun.
func TestField5_WhatIsKnownIsToldWhateverRuns(t *testing.T) {
	head := func(category, service, sale, body string) ecr.Received {
		return ecr.Received{Elsewhere: sale == "till1", Data: handed(kindMessage, `{"SaleToPOIRequest":{"MessageHeader":{"ProtocolVersion":"3.0","MessageClass":"Service","MessageCategory":"`+category+
			`","MessageType":"Request","ServiceID":"`+service+`","SaleID":"`+sale+`","POIID":"POSAGENT-000020000001"},"`+category+`Request":`+body+`}}`)}
	}
	pay := func(service, sale string) ecr.Received {
		return head("Payment", service, sale, `{"SaleData":{"SaleTransactionID":{"TransactionID":"order-7","TimeStamp":"2026-11-26T11:00:00Z"}},"PaymentTransaction":{"AmountsReq":{"Currency":"EUR","RequestedAmount":12.50}}}`)
	}
	paid := ecr.Outcome{Sale: "s1", Kind: ecr.Payment, Result: ecr.Approved, Code: ecr.OK, Amount: 1250, Currency: "EUR", Receipt: 1}
	others := map[string][]ecr.Event{
		"a payment":      {pay("O1", "till2"), ecr.NotBegun{Gen: 1}, ecr.Begun{Gen: 2, Sale: "s2"}},
		"an end of day":  {head("Reconciliation", "O1", "till2", `{"ReconciliationType":"SaleReconciliation"}`)},
		"a telling":      {pay("O1", "till2"), ecr.NotBegun{Gen: 1}, ecr.Begun{Gen: 2, Sale: "s2"}, ecr.Ended{Gen: 2, Outcome: ecr.Outcome{Sale: "s2", Kind: ecr.Payment, Result: ecr.Approved, Amount: 1250, Currency: "EUR"}}},
		"being accepted": {pay("O1", "till2"), ecr.NotBegun{Gen: 1}},
	}
	for name, events := range others {
		for how, c := range map[string]struct{ remembered, there, unread, busy bool }{
			"remembered": {remembered: true, there: true}, "known": {there: true}, "not read": {there: true, unread: true}, "new": {busy: true}, "new, not read": {unread: true, busy: true},
		} {
			s := testShared(t, "EUR")
			if c.remembered {
				s.line("nexo", nil).add(entry{Sale: "s1", SaleID: "till1", Service: "P1", Category: "Payment", Order: "order-7", AtMS: 1})
			}
			other := newDialogue(s, ecr.Start{Line: "nexo"})
			for _, ev := range events {
				other.Step(ev)
			}
			d, answer := newDialogue(s, ecr.Start{Line: "nexo"}), ""
			for queue := []ecr.Event{pay("P1", "till1")}; len(queue) > 0; queue = queue[1:] {
				for _, a := range d.Step(queue[0]) {
					switch a := a.(type) {
					case ecr.StartTimer:
						queue = append(queue, ecr.Fired{Timer: a.Timer, Seq: a.Seq}) // the other one is not over
					case ecr.Last:
						switch {
						case c.unread:
							queue = append(queue, ecr.NotBegun{Gen: a.Gen, Code: ecr.SystemError})
						case c.there:
							queue = append(queue, ecr.Begun{Gen: a.Gen, Sale: "s1"}, ecr.Ended{Gen: a.Gen, Outcome: paid})
						default:
							queue = append(queue, ecr.NotBegun{Gen: a.Gen})
						}
					case ecr.Begin:
						if !c.there {
							require.True(t, c.unread, "what is not there is not begun")
							queue = append(queue, ecr.NotBegun{Gen: a.Gen, Code: ecr.Busy})
							continue
						}
						queue = append(queue, ecr.Begun{Gen: a.Gen, Sale: "s1"}, ecr.Ended{Gen: a.Gen, Outcome: paid})
					case ecr.Send:
						if !strings.HasPrefix(string(a.Data), accepted) {
							answer = string(a.Data)
						}
					}
				}
			}
			want := `"Result":"Success"`
			if c.busy {
				want = `"ErrorCondition":"Busy"`
			}
			require.Contains(t, answer, want, "%s, %s", name, how)
		}
	}
}
