package nexo

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

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
		`{"ServiceID":"P1","MessageCategory":"Reversal"}`:  badMessage,
		`{"ServiceID":"P1","MessageCategory":"Print"}`:     badMessage,
		`{"ServiceID":"P1","POIID":"OTHER-1"}`:             notAllowed,
		`{"ServiceID":"P1","SaleID":"till2"}`:              notFound,
		`{"ServiceID":"NEVERSEEN"}`:                        notFound,
		`{"ServiceID":"NEVERSEEN-TOO-LONG"}`:               notFound,
		`{"ServiceID":"NEVER","MessageCategory":"Refund"}`: notFound,
	} {
		require.Contains(t, ask(reference), fmt.Sprintf(`"ErrorCondition":%q`, want), reference)
	}
	require.Contains(t, ask(`{"ServiceID":"P1"}`), `"RepeatedMessageResponse"`)
}
