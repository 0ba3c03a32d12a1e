package nexo

import (
	"encoding/binary"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
)

// said is what a till is told, as people read it.
func (r reaction) said() string {
	s, err := url.QueryUnescape(r.answer)
	if err != nil {
		return r.answer
	}
	return s
}

// asked plays one request of a category.
func asked(t *testing.T, category, body string) reaction {
	return react(testShared(t, "EUR"), handed(kindMessage, `{"SaleToPOIRequest":{"MessageHeader":{"ProtocolVersion":"3.0","MessageClass":"Service","MessageCategory":"`+category+
		`","MessageType":"Request","ServiceID":"P1","SaleID":"till1","POIID":"POSAGENT-000020000001"},"`+category+`Request":`+body+`}}`))
}

// Bodies with one member of every kind; VALUE stands for it.
const (
	paymentBody = `{"SaleData":{"SaleTransactionID":{"TransactionID":"o1","TimeStamp":"2026-11-28T11:00:00Z"}},"PaymentTransaction":{"AmountsReq":{"Currency":"EUR","RequestedAmount":12.5}VALUE}}`
	refundBody  = `{"SaleData":{"SaleTransactionID":{"TransactionID":"o1"}},"PaymentTransaction":{"AmountsReq":{"Currency":"EUR","RequestedAmount":12.5}VALUE},"PaymentData":{"PaymentType":"Refund"}}`
	backBody    = `{"OriginalPOITransaction":{"POITransactionID":{"TransactionID":"PA000017.5f0c2a91d4e7"}},"ReversalReason":"CustCancel"VALUE}`
)

// The kind: every member of a request whose absence means all, the last or a default. Absent it keeps its meaning, a value of
// its type is taken, and null, an empty text and every other JSON type are MessageFormat that names the field, what is sent and
// what is wanted; nothing is begun, closed or read.
func TestField2_R1_R5_NoValueIsNotAbsent(t *testing.T) {
	values := map[string]string{"null": "null", "text": `"x"`, "empty": `""`, "number": "5", "flag": "true", "list": "[]", "object": `{}`}
	for _, row := range []struct{ category, field, body, kind, good string }{
		{"Payment", "PaymentData", strings.Replace(paymentBody, "VALUE", "", 1)[:len(paymentBody)-6] + `,"PaymentData":VALUE}`, "object", `{"PaymentType":"Normal"}`},
		{"Payment", "PaymentType", strings.Replace(paymentBody, "VALUE", "", 1)[:len(paymentBody)-6] + `,"PaymentData":{"PaymentType":VALUE}}`, "text", `"Normal"`},
		{"Payment", "TransactionConditions", strings.Replace(paymentBody, "VALUE", `,"TransactionConditions":VALUE`, 1), "object", `{"AllowedPaymentBrand":["swish"]}`},
		{"Payment", "AllowedPaymentBrand", strings.Replace(paymentBody, "VALUE", `,"TransactionConditions":{"AllowedPaymentBrand":VALUE}`, 1), "list", `["swish"]`},
		{"Payment", "AllowedPaymentBrand", strings.Replace(paymentBody, "VALUE", `,"TransactionConditions":{"AllowedPaymentBrand":[VALUE]}`, 1), "text", `"swish"`},
		{"Payment", "TipAmount", strings.Replace(paymentBody, "12.5}VALUE", `12.5,"TipAmount":VALUE}`, 1), "number", "0"},
		{"Payment", "CashBackAmount", strings.Replace(paymentBody, "12.5}VALUE", `12.5,"CashBackAmount":VALUE}`, 1), "number", "0.0"},
		{"Payment", "TransactionID", strings.NewReplacer(`"o1"`, "VALUE", "VALUE", "").Replace(paymentBody), "text", `"o1"`},
		{"Payment", "Currency", strings.NewReplacer(`"EUR"`, "VALUE", "VALUE", "").Replace(paymentBody), "text", `"EUR"`},
		{"Payment", "RequestedAmount", strings.NewReplacer("12.5", "VALUE", "VALUE", "").Replace(paymentBody), "number", "12.5"},
		{"Payment", "OriginalPOITransaction", strings.Replace(refundBody, "VALUE", `,"OriginalPOITransaction":VALUE`, 1), "object", `{"POITransactionID":{"TransactionID":"PA000017"}}`},
		{"Payment", "POITransactionID", strings.Replace(refundBody, "VALUE", `,"OriginalPOITransaction":{"POITransactionID":VALUE}`, 1), "object", `{"TransactionID":"PA000017"}`},
		{"Payment", "TransactionID", strings.Replace(refundBody, "VALUE", `,"OriginalPOITransaction":{"POITransactionID":{"TransactionID":VALUE}}`, 1), "text", `"PA000017"`},
		{"Reversal", "ReversedAmount", strings.Replace(backBody, "VALUE", `,"ReversedAmount":VALUE`, 1), "number", "5"},
		{"Reversal", "SaleData", strings.Replace(backBody, "VALUE", `,"SaleData":VALUE`, 1), "object", `{"SaleTransactionID":{"TransactionID":"b1"}}`},
		{"Reversal", "SaleToAcquirerData", strings.Replace(backBody, "VALUE", `,"SaleData":{"SaleToAcquirerData":VALUE}`, 1), "text", `"currency=EUR"`},
		{"Reversal", "TransactionID", strings.Replace(backBody, "VALUE", `,"SaleData":{"SaleTransactionID":{"TransactionID":VALUE}}`, 1), "text", `"b1"`},
		{"TransactionStatus", "MessageReference", `{"MessageReference":VALUE}`, "object", `{"ServiceID":"P1"}`},
		{"TransactionStatus", "ServiceID", `{"MessageReference":{"ServiceID":VALUE}}`, "text", `"P1"`},
		{"TransactionStatus", "SaleID", `{"MessageReference":{"ServiceID":"P1","SaleID":VALUE}}`, "text", `"till1"`},
		{"TransactionStatus", "MessageCategory", `{"MessageReference":{"ServiceID":"P1","MessageCategory":VALUE}}`, "text", `"Payment"`},
		{"TransactionStatus", "POIID", `{"MessageReference":{"ServiceID":"P1","POIID":VALUE}}`, "text", `"POSAGENT-000020000001"`},
		{"Diagnosis", "HostDiagnosisFlag", `{"HostDiagnosisFlag":VALUE}`, "flag", "true"},
		{"Reconciliation", "ReconciliationType", `{"ReconciliationType":VALUE}`, "text", `"SaleReconciliation"`},
	} {
		for kind, value := range values {
			name := row.category + "." + row.field + " " + kind
			if kind == row.kind || row.field == "SaleToAcquirerData" && kind == "empty" { // an empty text has no currency in it
				continue
			}
			r := asked(t, row.category, strings.Replace(row.body, "VALUE", value, 1))
			require.Equal(t, badMessage, r.condition, name)
			require.Contains(t, r.said(), "field "+row.field+": ", name)
			require.NotContains(t, r.said(), "Missing", name)
			require.True(t, r.begun == nil && !r.closes && !r.reports && len(r.last) == 0, name)
		}
		r := asked(t, row.category, strings.Replace(row.body, "VALUE", row.good, 1))
		require.True(t, r.begun != nil || r.closes || r.reports || len(r.last) > 0, "%s.%s %s: %s", row.category, row.field, row.good, r.said())
	}
	r := asked(t, "Reversal", strings.Replace(backBody, "VALUE", "", 1))
	require.NotNil(t, r.begun, "absent means all")
	require.Equal(t, ecr.Reversal, r.begun.Kind)
	r = asked(t, "Payment", strings.Replace(paymentBody, "VALUE", `,"TransactionConditions":{"AllowedPaymentBrand":[]}`, 1))
	require.Equal(t, restriction, r.condition, "a list that allows none is not any")
	require.Nil(t, r.begun)
}

// An amount that cannot be paid is not "missing".
func TestField2_R5_AnAmountThatCannotBePaidIsNamed(t *testing.T) {
	for _, v := range []string{"-0.1", "-1", "0", "8.4915", "1e+21"} {
		r := asked(t, "Payment", strings.NewReplacer("12.5", v, "VALUE", "").Replace(paymentBody))
		require.Equal(t, badMessage, r.condition, v)
		require.Contains(t, r.said(), "field RequestedAmount: "+v+" is no amount that can be paid", v)
	}
}

// A till that was not found is told to pay again. So that is said only of an id that can be read, is this terminal's, and
// under which nothing was accepted: not of a reference without an id, another terminal's, or of another category.
func TestField2_R4_NotFoundIsSaidOfWhatNeverWas(t *testing.T) {
	s := testShared(t, "EUR")
	sold := ecr.Outcome{Sale: "s1", Kind: ecr.Payment, Result: ecr.Approved, Amount: 1250, Currency: "EUR", Receipt: 1}
	s.line("nexo", nil).add(entry{Sale: "s1", SaleID: "till1", Service: "P1", Category: "Payment", Order: "o1", AtMS: 1})
	ask := func(reference string) string {
		d, said := newDialogue(s, ecr.Start{Line: "nexo"}), ""
		text := `{"SaleToPOIRequest":{"MessageHeader":{"ProtocolVersion":"3.0","MessageClass":"Service","MessageCategory":"TransactionStatus","MessageType":"Request","ServiceID":"S1","SaleID":"till1","POIID":"POSAGENT-000020000001"},` +
			`"TransactionStatusRequest":{"MessageReference":` + reference + `}}}`
		for queue := []ecr.Event{ecr.Received{Data: handed(kindMessage, text)}}; len(queue) > 0; queue = queue[1:] {
			for _, a := range d.Step(queue[0]) {
				switch a := a.(type) {
				case ecr.Last:
					if a.Line == "nexo/till1" && strings.HasPrefix(a.Sequence, "P1/") {
						queue = append(queue, ecr.Begun{Gen: a.Gen, Sale: "s1"}, ecr.Ended{Gen: a.Gen, Outcome: sold})
					} else {
						queue = append(queue, ecr.NotBegun{Gen: a.Gen})
					}
				case ecr.StartTimer:
					if a.Timer == lookTimer {
						queue = append(queue, ecr.Fired{Timer: a.Timer, Seq: a.Seq})
					}
				case ecr.ClosedDay:
					if a.By == (ecr.Asker{Line: "nexo/till1", ID: "REC1", Reuse: 48 * time.Hour}) || a.By == (ecr.Asker{}) {
						queue = append(queue, ecr.Totalled{Gen: a.Gen, Code: ecr.OK, Totals: ecr.Totals{Batch: 12, Currency: "EUR", Count: 1, Net: 1250}})
					} else {
						queue = append(queue, ecr.Totalled{Gen: a.Gen})
					}
				case ecr.Send:
					said = string(a.Data[3:])
				}
			}
		}
		return said
	}
	for reference, want := range map[string]string{
		`{"SaleID":"till1","MessageCategory":"Payment"}`: badMessage,
		`{}`:                   badMessage,
		`{"ServiceID":null}`:   badMessage,
		`{"ServiceID":1}`:      badMessage,
		`{"ServiceID":""}`:     badMessage,
		`[{"ServiceID":"P1"}]`: badMessage,
		`{"ServiceID":"P1","MessageCategory":"Reversal"}`:                          badMessage,
		`{"ServiceID":"P1","MessageCategory":"Print"}`:                             badMessage,
		`{"ServiceID":"P1","POIID":"OTHER-1"}`:                                     notAllowed,
		`{"ServiceID":"P1","SaleID":"till2"}`:                                      notFound,
		`{"ServiceID":"REC1"}`:                                                     badMessage,
		`{"ServiceID":"NEVER","MessageCategory":"Reconciliation"}`:                 notFound,
		`{"ServiceID":"P1","MessageCategory":"Reconciliation"}`:                    badMessage,
		`{"ServiceID":"REC1","SaleID":"till2","MessageCategory":"Reconciliation"}`: notFound,
		`{"ServiceID":"NEVERSEEN"}`:                                                notFound,
		`{"ServiceID":"NEVERSEEN-TOO-LONG"}`:                                       notFound,
		`{"ServiceID":"NEVER","MessageCategory":"Refund"}`:                         notFound,
	} {
		require.Contains(t, ask(reference), fmt.Sprintf(`"ErrorCondition":%q`, want), reference)
	}
	require.Contains(t, ask(`{"ServiceID":"P1"}`), `"RepeatedMessageResponse"`)
	told := ask(`{"ServiceID":"REC1","MessageCategory":"Reconciliation"}`) // R3: its answer may have been lost
	require.Contains(t, told, `"RepeatedResponseMessageBody":{"ReconciliationResponse":{"POIReconciliationID":"12"`)
}

// A Reconciliation closes a day under its SaleID and ServiceID: the same one again is told that day. PreviousReconciliation
// closes nothing, and tells the newest closed day.
func TestField2_R3_AReconciliationHasAName(t *testing.T) {
	for kind, want := range map[string]ecr.Action{
		"SaleReconciliation":     ecr.CloseBatch{Gen: 1, By: ecr.Asker{Line: "nexo/till1", ID: "P1", Reuse: 48 * time.Hour}},
		"PreviousReconciliation": ecr.ClosedDay{Gen: 1},
	} {
		d := newDialogue(testShared(t, "EUR"), ecr.Start{Line: "nexo"})
		list := d.Step(ecr.Received{Data: handed(kindMessage, `{"SaleToPOIRequest":{"MessageHeader":{"ProtocolVersion":"3.0","MessageClass":"Service","MessageCategory":"Reconciliation","MessageType":"Request","ServiceID":"P1","SaleID":"till1","POIID":"POSAGENT-000020000001"},`+
			`"ReconciliationRequest":{"ReconciliationType":"`+kind+`"}}}`)})
		require.Equal(t, []ecr.Action{want}, list)
		list = d.Step(ecr.Totalled{Gen: 1, Code: ecr.OK, Totals: ecr.Totals{Batch: 12, Currency: "EUR"}})
		require.Len(t, list, 1)
		require.Contains(t, string(list[0].(ecr.Send).Data), `"POIReconciliationID":"12"`)
		require.Contains(t, string(list[0].(ecr.Send).Data), `"ReconciliationType":"`+kind+`"`)
	}
}

// An abort that fits nothing is not forgotten. The kind: it overtakes its payment, it names the till's last status, it names
// nothing that can be read; against another till's, an ended payment's, a reversal's, and one that is too old, which abort
// nothing. Each that fitted nothing stands in the log.
func TestField2_R7_AnAbortIsNotForgotten(t *testing.T) {
	head := func(category, service, sale string) string {
		return `{"SaleToPOIRequest":{"MessageHeader":{"ProtocolVersion":"3.0","MessageClass":"Service","MessageCategory":"` + category + `","MessageType":"Request","ServiceID":"` + service +
			`","SaleID":"` + sale + `","POIID":"POSAGENT-000020000001"},"` + category + `Request":`
	}
	at := func(ms uint64, text string) ecr.Received {
		return ecr.Received{Data: append(binary.BigEndian.AppendUint64([]byte{kindMessage}, ms), text...)}
	}
	// play hands a message to a dialogue of its own; the desk knows the ended payment OLD and nothing else.
	play := func(s *shared, ev ecr.Received) (said string, aborted, warned int) {
		d := newDialogue(s, ecr.Start{Line: "nexo"})
		for queue := []ecr.Event{ev}; len(queue) > 0; queue = queue[1:] {
			for _, a := range d.Step(queue[0]) {
				switch a := a.(type) {
				case ecr.Last:
					if strings.HasPrefix(a.Sequence, "OLD/") {
						queue = append(queue, ecr.Begun{Gen: a.Gen, Sale: "old"}, ecr.Ended{Gen: a.Gen, Outcome: ecr.Outcome{Sale: "old", Result: ecr.Approved}})
					} else {
						queue = append(queue, ecr.NotBegun{Gen: a.Gen})
					}
				case ecr.Begin:
					queue = append(queue, ecr.Begun{Gen: a.Gen, Sale: a.Request.Sequence})
				case ecr.Abort:
					if a.Sale != "old" { // which has ended: the desk says that it is too late
						aborted++
					}
				case ecr.Warn:
					warned++
				case ecr.Send:
					said = string(a.Data)
					if said[:3] != accepted {
						queue = append(queue, ecr.Sent{Seq: a.Seq, OK: true})
					}
				}
			}
		}
		return said, aborted, warned
	}
	const now = 1_930_000_000_000
	pay := func(service string) string {
		return head("Payment", service, "till1") + strings.Replace(paymentBody, "VALUE", "", 1) + "}}"
	}
	abort := func(sale, reference string) string {
		return head("Abort", "A1", sale) + `{"AbortReason":"MerchantAbort","MessageReference":` + reference + "}}}"
	}
	for name, c := range map[string]struct {
		sale, reference string
		aborted, warned int
	}{
		"its own":               {"till1", `{"MessageCategory":"Payment","SaleID":"till1","ServiceID":"P1"}`, 1, 0},
		"its status":            {"till1", `{"MessageCategory":"Payment","SaleID":"till1","ServiceID":"S7"}`, 1, 1},
		"a status by category":  {"till1", `{"MessageCategory":"TransactionStatus","ServiceID":"S7"}`, 1, 1},
		"an id that is null":    {"till1", `{"MessageCategory":"Payment","ServiceID":null}`, 1, 1},
		"no reference":          {"till1", `null`, 1, 1},
		"another till's id":     {"till2", `{"MessageCategory":"Payment","ServiceID":"P1"}`, 0, 1},
		"another till, no id":   {"till2", `{}`, 0, 1},
		"a payment that is old": {"till1", `{"MessageCategory":"Payment","ServiceID":"OLD"}`, 0, 0},
		"a reversal":            {"till1", `{"MessageCategory":"Reversal","ServiceID":"V1"}`, 0, 1},
	} {
		s := testShared(t, "EUR")
		said, _, _ := play(s, at(now, pay("P1")))
		require.Equal(t, accepted, said, name)
		said, aborted, warned := play(s, at(now, abort(c.sale, c.reference)))
		require.Equal(t, "200", said, name)
		require.Equal(t, []int{c.aborted, c.warned}, []int{aborted, warned}, name)
	}
	// An abort of a payment that has ended does not change what its repetition is told, also where the line has forgotten it.
	for _, forget := range []bool{false, true} {
		s := testShared(t, "EUR")
		s.line("nexo", nil).add(entry{Sale: "old", SaleID: "till1", Service: "OLD", Category: "Payment", Order: "o1", AtMS: now})
		if forget {
			s.line("nexo", nil).recent = nil
		}
		_, aborted, warned := play(s, at(now, abort("till1", `{"MessageCategory":"Payment","ServiceID":"OLD"}`)))
		require.Zero(t, aborted+warned)
		said, _, _ := play(s, at(now+5, pay("OLD")))
		require.Equal(t, accepted, said, "the desk joins it")
	}
	for gap, ends := range map[uint64]bool{5: true, 9_000: true, 11_000: false} {
		s := testShared(t, "EUR")
		said, _, warned := play(s, at(now, abort("till1", `{"MessageCategory":"Payment","ServiceID":"P1"}`)))
		require.Equal(t, "200", said)
		require.Equal(t, 1, warned)
		said, _, _ = play(s, at(now+gap, pay("P2")))
		require.Equal(t, accepted, said, "another payment")
		s.line("nexo", nil).running = map[string]*entry{}
		s.line("nexo", nil).busy = map[*dialogue]bool{}
		said, _, _ = play(s, at(now+gap, pay("P1")))
		require.Equal(t, ends, strings.Contains(said, `"ErrorCondition":"Aborted"`), "%d ms: %s", gap, said)
	}
}
