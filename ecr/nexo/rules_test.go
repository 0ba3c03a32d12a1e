package nexo

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
)

// TestMoneyE3_AWebPageBeginsNothing: what a browser adds to a page's request ends it.
func TestMoneyE3_AWebPageBeginsNothing(t *testing.T) {
	for name, want := range map[string]int{
		"": 0, "X-Api-Key": 0, "Origin": http.StatusForbidden, "Referer": http.StatusForbidden, "Sec-Fetch-Mode": http.StatusForbidden,
		"Content-Encoding": http.StatusBadRequest,
	} {
		req := httptest.NewRequest(http.MethodPost, "/nexo/", nil)
		req.Header.Set("Content-Type", "application/json")
		if name != "" {
			req.Header.Set(name, "x")
		}
		got, _ := screen(req)
		require.Equal(t, want, got, name)
	}
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""} {
		req := httptest.NewRequest(http.MethodPost, "/nexo/", nil)
		req.Header.Set("Content-Type", kind)
		got, _ := screen(req)
		require.Equal(t, http.StatusUnsupportedMediaType, got, kind)
	}
}

// A proxy such as nginx speaks HTTP/1.0 to what is behind it. Such a request is taken, and its connection ends with the answer.
func TestField2_R12_AProxyMaySpeakHTTP10(t *testing.T) {
	for text, want := range map[string]int{"HTTP/1.0": 0, "HTTP/1.1": 0, "HTTP/2.0": http.StatusBadRequest} {
		req := httptest.NewRequest(http.MethodPost, "/nexo/", nil)
		req.Header.Set("Content-Type", "application/json")
		var ok bool
		req.ProtoMajor, req.ProtoMinor, ok = http.ParseHTTPVersion(text)
		require.True(t, ok)
		got, _ := screen(req)
		require.Equal(t, want, got, text)
	}
}

// What cannot be read of a header is refused, and the answer has the header as it was sent: a till compares it with its own.
func TestField2_R12_AHeaderIsEchoedAsItWasSent(t *testing.T) {
	for service, text := range map[string]string{
		`"mk3f9z0abcdef"`: "it has at most 10 characters", "123456": "a number is sent, a text is wanted", `"Ü1"`: "1 to 10 printable ASCII characters are wanted", "null": "null is sent, a text is wanted",
	} {
		r := react(testShared(t, "EUR"), handed(kindMessage, `{"SaleToPOIRequest":{"MessageHeader":{"ProtocolVersion":"3.0","MessageClass":"Service","MessageCategory":"Payment","MessageType":"Request","ServiceID":`+service+
			`,"SaleID":"till1","POIID":"POSAGENT-000020000001"},"PaymentRequest":{}}}`))
		sent, err := parse([]byte(`{"ServiceID":` + service + `}`))
		require.NoError(t, err)
		answer, err := parse([]byte(r.answer))
		require.NoError(t, err)
		require.Equal(t, sent["ServiceID"], objectAt(answer, "SaleToPOIResponse", "MessageHeader")["ServiceID"], service)
		require.Contains(t, r.said(), "field ServiceID: "+text)
		require.Nil(t, r.begun)
	}
}

// TestMoneyF2_AServiceIDWithAnotherContentBeginsNothing: within 48 hours, which the desk's journal counts.
func TestMoneyF2_AServiceIDWithAnotherContentBeginsNothing(t *testing.T) {
	s := testShared(t, "EUR")
	s.line("nexo", nil).add(entry{Sale: "s1", SaleID: "till1", Service: "P1", Category: "Payment", Order: "order-1", AtMS: 0x1930000_0000 - 1000})
	ask := func(order string) reaction {
		return react(s, handed(kindMessage, `{"SaleToPOIRequest":{"MessageHeader":{"ProtocolVersion":"3.0","MessageClass":"Service","MessageCategory":"Payment","MessageType":"Request","ServiceID":"P1","SaleID":"till1","POIID":"POSAGENT-000020000001"},`+
			`"PaymentRequest":{"SaleData":{"SaleTransactionID":{"TransactionID":"`+order+`","TimeStamp":"2026-11-24T11:00:00Z"}},"PaymentTransaction":{"AmountsReq":{"Currency":"EUR","RequestedAmount":12.5}}}}}`))
	}
	r := ask("order-2")
	require.NotNil(t, r.begun, "what a line remembers, and its clock, decide nothing")
	require.Equal(t, "P1/order-2", r.begun.Sequence)
	require.Equal(t, 48*time.Hour, r.begun.Reuse)

	r = ask("order-1")
	require.NotNil(t, r.begun, "the desk joins it to the first one")
	require.Equal(t, ecr.Payment, r.begun.Kind)
	require.Equal(t, "P1/order-1", r.begun.Sequence)
}

// TestMoneyA2_ARefundUnderAnotherServiceIDIsNoFinalNo: the desk has the same refund under another id.
// A till that lost the answer hears that it is in progress, and not that it is refused.
func TestMoneyA2_ARefundUnderAnotherServiceIDIsNoFinalNo(t *testing.T) {
	for code, want := range map[ecr.Code]string{ecr.StillRunning: inProgress, ecr.NotReversible: notFound, ecr.AmountWrong: notAllowed, ecr.NotStored: noService} {
		d := newDialogue(testShared(t, "EUR"), ecr.Start{Line: "nexo"})
		queue := []ecr.Event{ecr.Received{Data: handed(kindMessage, `{"SaleToPOIRequest":{"MessageHeader":{"ProtocolVersion":"3.0","MessageClass":"Service","MessageCategory":"Payment","MessageType":"Request","ServiceID":"R2","SaleID":"till1","POIID":"POSAGENT-000020000001"},`+
			`"PaymentRequest":{"SaleData":{"SaleTransactionID":{"TransactionID":"order-1","TimeStamp":"2026-11-24T11:00:00Z"}},"PaymentTransaction":{"AmountsReq":{"Currency":"EUR","RequestedAmount":12.5},`+
			`"OriginalPOITransaction":{"POITransactionID":{"TransactionID":"R17"}}},"PaymentData":{"PaymentType":"Refund"}}}}`)}}
		var answer string
		begun := false
		for len(queue) > 0 {
			ev := queue[0]
			queue = queue[1:]
			for _, a := range d.Step(ev) {
				switch a := a.(type) {
				case ecr.Last:
					queue = append(queue, ecr.NotBegun{Gen: a.Gen})
				case ecr.Begin:
					begun = true
					queue = append(queue, ecr.NotBegun{Gen: a.Gen, Code: code, Text: "why"})
				case ecr.Send:
					answer = string(a.Data)
				}
			}
		}
		require.True(t, begun, answer)
		require.Contains(t, answer, `"ErrorCondition":"`+want+`"`)
	}
}
