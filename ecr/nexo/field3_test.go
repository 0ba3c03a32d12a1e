package nexo

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
)

// reversals asks a new dialogue for the reversal of PA000017.4711, whole or of 3.00, and lets a desk
// answer. It returns what the desk was asked to begin, the receipts that it was asked for, and the
// terminal's answer.
func reversals(t *testing.T, amount string, last func(a ecr.Last) ecr.Event, begin func(req ecr.Request) ecr.Event) (begun []ecr.Request, read []ecr.Last, answer string) {
	t.Helper()
	d := newDialogue(testShared(t, "EUR"), ecr.Start{Line: "nexo"})
	queue := []ecr.Event{ecr.Received{Data: handed(kindMessage, `{"SaleToPOIRequest":{"MessageHeader":{"ProtocolVersion":"3.0","MessageClass":"Service","MessageCategory":"Reversal","MessageType":"Request","ServiceID":"R2","SaleID":"till1","POIID":"POSAGENT-000020000001"},`+
		`"ReversalRequest":{"ReversalReason":"MerchantCancel",`+amount+`"SaleData":{"SaleTransactionID":{"TransactionID":"order-1","TimeStamp":"2026-11-24T11:00:00Z"}},`+
		`"OriginalPOITransaction":{"POITransactionID":{"TransactionID":"PA000017.4711","TimeStamp":"2026-11-24T11:00:00Z"}}}}}`)}}
	for len(queue) > 0 {
		ev := queue[0]
		queue = queue[1:]
		for _, a := range d.Step(ev) {
			switch a := a.(type) {
			case ecr.Last:
				if a.Receipt != 0 {
					read = append(read, a)
				}
				if ev := last(a); ev != nil {
					if _, no := ev.(ecr.NotBegun); !no {
						queue = append(queue, ecr.Begun{Gen: a.Gen, Sale: "s"})
					}
					queue = append(queue, ev)
				}
			case ecr.Begin:
				begun = append(begun, a.Request)
				switch ev := begin(a.Request).(type) {
				case ecr.NotBegun:
					ev.Gen = a.Gen
					queue = append(queue, ev)
				case ecr.Ended:
					ev.Gen = a.Gen
					queue = append(queue, ecr.Begun{Gen: a.Gen, Sale: ev.Outcome.Sale}, ev)
				}
			case ecr.Send:
				answer = string(a.Data)
			}
		}
	}
	return begun, read, answer
}

// TestField3_CheckoutA3AReversalIsKnownByItsServiceID: the original of a reversal was read before its
// ServiceID was looked for. A done reversal that was asked again was answered "not found" where the
// original cannot be read any more: purged, held, or its number one of a lost journal's. The kind: each
// of these, of a whole and of a part; and a new reversal, which hears why its original cannot be read.
func TestField3_CheckoutA3AReversalIsKnownByItsServiceID(t *testing.T) {
	original := map[string]ecr.Event{
		"purged":               ecr.NotBegun{},
		"a lost journal's":     ecr.NotBegun{Code: ecr.Replaced, Text: "the journal was replaced"},
		"held":                 ecr.Ended{Outcome: ecr.Outcome{Sale: "o", Result: ecr.InProgress, Code: ecr.OnHold, Text: "held: a person looks"}},
		"another, that number": ecr.Ended{Outcome: ecr.Outcome{Sale: "o", Result: ecr.Approved, TransactionID: "9", Amount: 1000}},
	}
	for name, unread := range original {
		for amount, kind := range map[string]ecr.Kind{"": ecr.Reversal, `"ReversedAmount":3.00,`: ecr.Refund} {
			for _, known := range []bool{true, false} {
				begun, read, answer := reversals(t, amount, func(a ecr.Last) ecr.Event {
					switch ev := unread.(type) {
					case ecr.NotBegun:
						if a.Receipt != 0 || !known {
							ev.Gen = a.Gen
							if a.Receipt == 0 {
								ev.Code = ""
							}
							return ev
						}
					case ecr.Ended:
						if a.Receipt != 0 {
							ev.Gen = a.Gen
							return ev
						}
						if !known {
							return ecr.NotBegun{Gen: a.Gen}
						}
					}
					return ecr.Ended{Gen: a.Gen, Outcome: ecr.Outcome{Sale: "s", Kind: kind, Result: ecr.Approved, Code: ecr.OK, Amount: 300, Currency: "EUR"}}
				}, func(req ecr.Request) ecr.Event {
					if req.Kind != kind { // the desk has another body under the id
						return ecr.NotBegun{Code: ecr.Processing, Text: "used"}
					}
					return ecr.Ended{Outcome: ecr.Outcome{Sale: "s", Kind: kind, Result: ecr.Approved, Code: ecr.OK, Amount: 300, Currency: "EUR"}}
				})
				require.Len(t, read, 1, name)
				if !known {
					require.Empty(t, begun, name)
					require.Contains(t, answer, `"Result":"Failure"`, name)
					continue
				}
				require.NotEmpty(t, begun, "%s: answered by its original alone: %s", name, answer)
				for _, req := range begun {
					require.True(t, req.Repeat, "nothing new is begun")
					require.Equal(t, "R2/order-1", req.Sequence)
				}
				require.Equal(t, kind, begun[len(begun)-1].Kind)
				require.Contains(t, answer, `"Result":"Success"`, name)
				require.Equal(t, "4711", read[0].Transaction, "the payment that is meant is named in full")
			}
		}
	}
}
