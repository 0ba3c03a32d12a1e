package tills

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"

	"posagent/schemes/money"
)

// nexo asks with a TransactionStatus, or posts its payment again under the same ServiceID.
type nexo struct {
	Way
	asked atomic.Int64
}

func newNexo(w Way) Till { return &nexo{Way: w} }

// message writes a request in clear.
func (z *nexo) message(category, service, body string) []byte {
	return fmt.Appendf(nil, `{"SaleToPOIRequest":{"MessageHeader":{"ProtocolVersion":"3.0","MessageClass":"Service","MessageCategory":%q,"MessageType":"Request","ServiceID":%q,"SaleID":%q,"POIID":"POSAGENT-000020000001"},"%sRequest":%s}}`,
		category, service, z.Name, category, body)
}

// nexoSaid is a response, as far as a till reads it.
type nexoSaid struct {
	Response      struct{ Result, ErrorCondition, AdditionalResponse string }
	PaymentResult struct {
		AmountsResp struct{ AuthorizedAmount json.Number }
	}
	RepeatedMessageResponse struct {
		MessageHeader               struct{ ServiceID string }
		RepeatedResponseMessageBody struct{ PaymentResponse *nexoSaid }
	}
}

func (z *nexo) ask(ctx context.Context, category string, body []byte) (said nexoSaid, text string, err error) {
	status, data, err := z.call(ctx, http.MethodPost, "/nexo/", map[string]string{"Content-Type": "application/json"}, body)
	if err != nil {
		return said, "", err
	}
	var out struct {
		SaleToPOIResponse map[string]json.RawMessage
	}
	text = fmt.Sprintf("%d %s", status, data)
	if err := json.Unmarshal(data, &out); err != nil {
		return said, text, fmt.Errorf("%w: %s", err, text)
	}
	if err := json.Unmarshal(out.SaleToPOIResponse[category+"Response"], &said); err != nil {
		return said, text, fmt.Errorf("no %sResponse: %w: %s", category, err, text)
	}
	return said, text, nil
}

// answer is what a PaymentResponse means.
func (s nexoSaid) answer(text string) (Answer, error) {
	a := Answer{Text: text}
	switch {
	case s.Response.Result == "Success":
		n, err := cents(s.PaymentResult.AmountsResp.AuthorizedAmount)
		a.Word, a.Amount = Approved, n
		return a, err
	case s.Response.Result != "Failure":
	default:
		switch s.Response.ErrorCondition {
		case "Busy", "UnavailableService", "InProgress":
			a.Word = Busy
			return a, nil
		case "NotFound":
			a.Word = Unknown
			return a, nil
		case "Refusal", "Aborted", "Cancel", "UnreachableHost":
			a.Word = NotPaid
			return a, nil
		}
	}
	return Answer{}, fmt.Errorf("the terminal says %s", text)
}

// cents reads an amount such as 12.5.
func cents(n json.Number) (money.Minor, error) {
	euro, _ := money.Lookup("EUR")
	return money.Parse(n.String(), euro)
}

// Pay implements Till.
func (z *nexo) Pay(ctx context.Context, amount money.Minor, id string) (Answer, error) {
	said, text, err := z.ask(ctx, "Payment", z.message("Payment", id, fmt.Sprintf(
		`{"SaleData":{"SaleTransactionID":{"TransactionID":"order %s","TimeStamp":"2026-11-26T11:00:00.000Z"}},"PaymentTransaction":{"AmountsReq":{"Currency":"EUR","RequestedAmount":%d.%02d}}}`,
		id, amount/100, amount%100)))
	if err != nil {
		return Answer{}, err
	}
	return said.answer(text)
}

// Again implements Till.
func (z *nexo) Again(ctx context.Context, amount money.Minor, id string, resend bool) (Answer, error) {
	if resend {
		return z.Pay(ctx, amount, id)
	}
	said, text, err := z.ask(ctx, "TransactionStatus", z.message("TransactionStatus", fmt.Sprint("q", z.asked.Add(1)), fmt.Sprintf(
		`{"MessageReference":{"MessageCategory":"Payment","SaleID":%q,"ServiceID":%q}}`, z.Name, id)))
	if err != nil || said.Response.Result != "Success" {
		a := Answer{}
		if err == nil {
			a, err = said.answer(text)
		}
		return a, err
	}
	repeated := said.RepeatedMessageResponse
	if inner := repeated.RepeatedResponseMessageBody.PaymentResponse; inner != nil && repeated.MessageHeader.ServiceID == id {
		return inner.answer(text)
	}
	return Answer{}, fmt.Errorf("a status of something else: %s", text)
}
