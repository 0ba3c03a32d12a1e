package nexo

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
)

// TestField4_TillsEachServiceIDIsAnsweredByItself: a payment that joined the sale of an earlier ServiceID
// took that one's place in what the line remembers, and a status of the earlier one named the later.
func TestField4_TillsEachServiceIDIsAnsweredByItself(t *testing.T) {
	s := testShared(t, "EUR")
	paid := ecr.Outcome{Sale: "s1", Kind: ecr.Payment, Result: ecr.Approved, Amount: 1250, Currency: "EUR", Receipt: 1}
	ask := func(category, service, body string) string {
		text := `{"SaleToPOIRequest":{"MessageHeader":{"ProtocolVersion":"3.0","MessageClass":"Service","MessageCategory":"` + category + `","MessageType":"Request","ServiceID":"` + service +
			`","SaleID":"till1","POIID":"POSAGENT-000020000001"},"` + category + `Request":` + body + `}}`
		d, answer := newDialogue(s, ecr.Start{Line: "nexo"}), ""
		for queue := []ecr.Event{ecr.Received{Data: handed(kindMessage, text)}}; len(queue) > 0; queue = queue[1:] {
			for _, a := range d.Step(queue[0]) {
				switch a := a.(type) {
				case ecr.Last:
					if category == "Payment" {
						queue = append(queue, ecr.NotBegun{Gen: a.Gen})
						continue
					}
					queue = append(queue, ecr.Begun{Gen: a.Gen, Sale: "s1"}, ecr.Ended{Gen: a.Gen, Outcome: paid})
				case ecr.Begin:
					queue = append(queue, ecr.Begun{Gen: a.Gen, Sale: "s1"}, ecr.Ended{Gen: a.Gen, Outcome: paid})
				case ecr.Send:
					answer += string(a.Data)
					queue = append(queue, ecr.Sent{Seq: a.Seq, OK: true})
				case ecr.Deliver:
					queue = append(queue, ecr.Recorded{Gen: a.Gen, OK: true})
				}
			}
		}
		return answer
	}
	for _, service := range []string{"S1", "S2"} {
		require.Contains(t, ask("Payment", service, `{"SaleData":{"SaleTransactionID":{"TransactionID":"order-7","TimeStamp":"2026-11-26T11:00:00Z"}},"PaymentTransaction":{"AmountsReq":{"Currency":"EUR","RequestedAmount":12.50}}}`), `"Result":"Success"`)
	}
	for _, service := range []string{"S1", "S2"} {
		answer := ask("TransactionStatus", "Q"+service, `{"MessageReference":{"MessageCategory":"Payment","SaleID":"till1","ServiceID":"`+service+`"}}`)
		require.Contains(t, answer, `"MessageReference":{"MessageCategory":"Payment","SaleID":"till1","ServiceID":"`+service+`"}`)
	}
}

// TestField4_TillsWhatCannotBeReadIsNotRefused: the journal could not be written, and a payment whose answer
// the till's TCP had acknowledged was answered "UnavailableService" when it came again: a no, for money that
// had moved. No answer is given where the desk has the ServiceID, or could not say whether it has; a new one
// is refused.
func TestField4_TillsWhatCannotBeReadIsNotRefused(t *testing.T) {
	pay := func(d *dialogue, last, begin ecr.NotBegun) string {
		text := `{"SaleToPOIRequest":{"MessageHeader":{"ProtocolVersion":"3.0","MessageClass":"Service","MessageCategory":"Payment","MessageType":"Request","ServiceID":"S1","SaleID":"till1","POIID":"POSAGENT-000020000001"},` +
			`"PaymentRequest":{"SaleData":{"SaleTransactionID":{"TransactionID":"order-7","TimeStamp":"2026-11-26T11:00:00Z"}},"PaymentTransaction":{"AmountsReq":{"Currency":"EUR","RequestedAmount":12.50}}}}}`
		answer := ""
		for queue := []ecr.Event{ecr.Received{Data: handed(kindMessage, text)}}; len(queue) > 0; queue = queue[1:] {
			for _, a := range d.Step(queue[0]) {
				switch a := a.(type) {
				case ecr.Last:
					last.Gen = a.Gen
					queue = append(queue, last)
				case ecr.Begin:
					begin.Gen = a.Gen
					queue = append(queue, begin)
				case ecr.Send:
					answer = string(a.Data)
				}
			}
		}
		return answer
	}
	for _, code := range []ecr.Code{ecr.NotStored, ecr.NotReady} {
		no := ecr.NotBegun{Code: code, Text: "the journal cannot be written"}
		known := testShared(t, "EUR")
		known.line("nexo", nil).add(entry{Sale: "s1", SaleID: "till1", Service: "S1", Category: "Payment", Order: "order-7", AtMS: 1})
		require.Equal(t, hangUp, pay(newDialogue(known, ecr.Start{Line: "nexo"}), ecr.NotBegun{}, no))
		require.Equal(t, hangUp, pay(newDialogue(testShared(t, "EUR"), ecr.Start{Line: "nexo"}), ecr.NotBegun{Code: ecr.SystemError}, no))
		for _, none := range []ecr.NotBegun{{}, {Code: ecr.SystemError, Text: "the journal was replaced"}} {
			require.Contains(t, pay(newDialogue(testShared(t, "EUR"), ecr.Start{Line: "nexo"}), none, no), noService)
		}
	}
}
