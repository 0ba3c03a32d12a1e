package nexo_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"posagent/ecr/ecrtest"
	"posagent/schemes/money"
)

// till is a cash register that was written from the description of the protocol. It shares no code
// with the terminal.
type till struct {
	conn net.Conn
	in   *bufio.Reader
	name string
	mu   sync.Mutex
	n    int
}

func connect(_ context.Context, _ ecrtest.Kind, conn net.Conn, name string) (ecrtest.Register, error) {
	return &till{conn: conn, in: bufio.NewReader(conn), name: "till" + name}, nil
}

var errTill = errors.New("no answer")

// post sends a body and returns the response's status and body.
func (z *till) post(ctx context.Context, body string) (int, []byte, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	stop := context.AfterFunc(ctx, func() { _ = z.conn.Close() })
	defer stop()
	late := time.AfterFunc(2*time.Minute, func() { _ = z.conn.Close() })
	defer late.Stop()
	_, err := fmt.Fprintf(z.conn, "POST /nexo/ HTTP/1.1\r\nHost: t\r\nX-API-Key: SECRET-API-KEY\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n",
		len(body), body)
	if err != nil {
		return 0, nil, err
	}
	resp, err := http.ReadResponse(z.in, nil)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, data, err
}

// message writes a request.
func message(category, sale, service, body string) string {
	return fmt.Sprintf(`{"SaleToPOIRequest":{"MessageHeader":{"ProtocolVersion":"3.0","MessageClass":"Service","MessageCategory":"%s","MessageType":"Request","ServiceID":"%s","SaleID":"%s","POIID":"POSAGENT-000020000001"},"%sRequest":%s}}`,
		category, service, sale, category, body)
}

func payment(sale, service, order, amount string) string {
	return message("Payment", sale, service, fmt.Sprintf(
		`{"SaleData":{"SaleTransactionID":{"TransactionID":"%s","TimeStamp":"2026-11-22T11:00:00.000Z"}},"PaymentTransaction":{"AmountsReq":{"Currency":"EUR","RequestedAmount":%s}}}`, order, amount))
}

func status(sale, service, of string) string {
	return message("TransactionStatus", sale, service, fmt.Sprintf(`{"MessageReference":{"MessageCategory":"Payment","SaleID":"%s","ServiceID":"%s"}}`, sale, of))
}

// said is a Response and what a till reads beside it.
type said struct {
	Response struct{ Result, ErrorCondition, AdditionalResponse string }

	PaymentResult struct {
		AmountsResp struct{ AuthorizedAmount json.Number }
	}
	POIData struct {
		POITransactionID struct{ TransactionID, TimeStamp string }
	}
	SaleData struct {
		SaleTransactionID struct{ TransactionID, TimeStamp string }
	}
	ReversedAmount      json.Number
	POIReconciliationID *string
	TransactionTotals   []struct {
		PaymentTotals []struct {
			TransactionType   string
			TransactionCount  int
			TransactionAmount json.Number
		}
	}
	RepeatedMessageResponse struct {
		MessageHeader               struct{ ServiceID, SaleID, MessageCategory string }
		RepeatedResponseMessageBody struct{ PaymentResponse, ReversalResponse *said }
	}
	POIStatus struct{ GlobalStatus string }
}

// read opens an answer in clear.
func read(category string, data []byte) (said, error) {
	var out struct {
		SaleToPOIResponse map[string]json.RawMessage
	}
	var s said
	if err := json.Unmarshal(data, &out); err != nil {
		return s, err
	}
	body, ok := out.SaleToPOIResponse[category+"Response"]
	if !ok {
		return s, fmt.Errorf("no %sResponse in %s", category, data)
	}
	return s, json.Unmarshal(body, &s)
}

func (z *till) ask(ctx context.Context, category, body string) (said, error) {
	code, data, err := z.post(ctx, body)
	if err != nil {
		return said{}, err
	}
	if code != http.StatusOK {
		return said{}, fmt.Errorf("status %d: %s", code, data)
	}
	if !bytes.Equal(data, bytes.ToValidUTF8(data, nil)) || bytes.ContainsFunc(data, func(r rune) bool { return r > 126 }) {
		return said{}, errTill
	}
	return read(category, data)
}

func (z *till) service() string {
	z.n++
	return fmt.Sprintf("x%d", z.n)
}

// cents reads an amount such as "12.5".
func cents(n json.Number) (money.Minor, error) {
	eur, _ := money.Lookup("EUR")
	return money.Parse(n.String(), eur)
}

func (s said) answer() (ecrtest.Answer, error) {
	words := map[string]ecrtest.Said{
		"Refusal": ecrtest.Declined, "Aborted": ecrtest.Aborted, "Cancel": ecrtest.Aborted, "Busy": ecrtest.Busy, "NotFound": ecrtest.NotFound,
		"NotAllowed": ecrtest.Refused, "MessageFormat": ecrtest.Refused, "PaymentRestriction": ecrtest.Refused,
	}
	if s.Response.Result == "Success" {
		n, err := cents(s.PaymentResult.AmountsResp.AuthorizedAmount)
		return ecrtest.Answer{Said: ecrtest.Approved, Amount: n}, err
	}
	word := words[s.Response.ErrorCondition]
	if word == ecrtest.Nothing {
		return ecrtest.Answer{}, fmt.Errorf("%+v", s.Response)
	}
	return ecrtest.Answer{Said: word}, nil
}

func (z *till) Pay(ctx context.Context, amount money.Minor, id string) (ecrtest.Answer, error) {
	s, err := z.ask(ctx, "Payment", payment(z.name, "A"+id, "order-"+id, fmt.Sprintf("%d.%02d", amount/100, amount%100)))
	if err != nil {
		return ecrtest.Answer{}, err
	}
	return s.answer()
}

// Again asks for the status as long as the payment runs, and sends the payment again where the
// terminal has never seen it.
func (z *till) Again(ctx context.Context, amount money.Minor, id string) (ecrtest.Answer, error) {
	for {
		s, err := z.ask(ctx, "TransactionStatus", status(z.name, z.service(), "A"+id))
		if err != nil {
			return ecrtest.Answer{}, err
		}
		switch {
		case s.Response.Result == "Success":
			inner := s.RepeatedMessageResponse.RepeatedResponseMessageBody.PaymentResponse
			if inner == nil || s.RepeatedMessageResponse.MessageHeader.ServiceID != "A"+id || inner.SaleData.SaleTransactionID.TransactionID != "order-"+id {
				return ecrtest.Answer{}, errTill
			}
			return inner.answer()
		case s.Response.ErrorCondition == "NotFound":
			return z.Pay(ctx, amount, id)
		case s.Response.ErrorCondition != "InProgress":
			return ecrtest.Answer{}, fmt.Errorf("%+v", s.Response)
		}
	}
}

// Ask implements ecrtest.Asker: one status.
func (z *till) Ask(ctx context.Context, id string) (ecrtest.Answer, error) {
	s, err := z.ask(ctx, "TransactionStatus", status(z.name, z.service(), "A"+id))
	switch {
	case err != nil:
		return ecrtest.Answer{}, err
	case s.Response.ErrorCondition == "NotFound":
		return ecrtest.Answer{Said: ecrtest.NotFound}, nil
	case s.Response.ErrorCondition == "InProgress":
		return ecrtest.Answer{Said: ecrtest.Running}, nil
	case s.Response.Result != "Success" || s.RepeatedMessageResponse.RepeatedResponseMessageBody.PaymentResponse == nil:
		return ecrtest.Answer{}, fmt.Errorf("%+v", s.Response)
	}
	return s.RepeatedMessageResponse.RepeatedResponseMessageBody.PaymentResponse.answer()
}

// Abort is asked for on another connection, which the suite has not.
func (z *till) Abort(context.Context) (bool, error) { return false, errTill }

func (z *till) EndOfDay(ctx context.Context) (bool, int, money.Minor, error) {
	s, err := z.ask(ctx, "Reconciliation", message("Reconciliation", z.name, z.service(), `{"ReconciliationType":"SaleReconciliation"}`))
	if err != nil || s.Response.Result != "Success" {
		return false, 0, 0, err
	}
	count, sum := 0, money.Minor(0)
	for _, t := range s.TransactionTotals {
		for _, p := range t.PaymentTotals {
			n, err := cents(p.TransactionAmount)
			if err != nil || p.TransactionType != "Debit" {
				return false, 0, 0, errTill
			}
			count, sum = count+p.TransactionCount, sum+n
		}
	}
	return true, count, sum, nil
}

func (z *till) Close() error { return z.conn.Close() }
