package till

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
)

// maxNexo bounds an answer, in bytes.
const maxNexo = 4 << 20

// NexoOptions are how a register of nexo speaks.
type NexoOptions struct {
	Host    string   // how the terminal's address is written
	SaleID  string   // the register's name
	POIID   string   // the terminal's
	Version string   // "" = 3.0
	APIKey  string   // of X-API-Key; "" = none is sent
	Key     *NexoKey // nil = messages in clear
}

// Nexo is a register that speaks nexo on one connection, which it owns: one request at a time, each in one write. An answer is returned
// whole or not at all, and where the register has a key, only if it is encrypted under that key.
type Nexo struct {
	conn  net.Conn
	in    *bufio.Reader
	o     NexoOptions
	line  Line
	asked *atomic.Int64 // questions of all registers
}

// NewNexo makes a register.
func NewNexo(conn net.Conn, o NexoOptions) *Nexo {
	o.Version = cmp.Or(o.Version, "3.0")
	return &Nexo{conn: conn, in: bufio.NewReader(conn), o: o}
}

// NexoSaid is what a register reads of a response. Amounts are major units.
type NexoSaid struct {
	Response      struct{ Result, ErrorCondition, AdditionalResponse string }
	PaymentResult struct {
		AmountsResp struct{ AuthorizedAmount json.Number }
	}
	POIData struct {
		POITransactionID struct{ TransactionID string }
	}
	POIStatus         struct{ GlobalStatus string }
	TransactionTotals []struct {
		PaymentTotals []struct {
			TransactionType   string
			TransactionCount  int
			TransactionAmount json.Number
		}
	}
	RepeatedMessageResponse struct {
		MessageHeader               struct{ ServiceID string }
		RepeatedResponseMessageBody struct{ PaymentResponse *NexoSaid }
	}
	Text string `json:"-"` // as it came, for a report
}

// NexoPayment is the body of a payment. amount is in major units, such as 12.50.
func NexoPayment(order, currency, amount string) string {
	return fmt.Sprintf(`{"SaleData":{"SaleTransactionID":{"TransactionID":%q,"TimeStamp":"2026-11-26T11:00:00.000Z"}},"PaymentTransaction":{"AmountsReq":{"Currency":%q,"RequestedAmount":%s}}}`,
		order, currency, amount)
}

// Reference is the body of a status, and of an abort, of a payment under a ServiceID.
func (t *Nexo) Reference(service string) string {
	return fmt.Sprintf(`{"AbortReason":"MerchantAbort","MessageReference":{"MessageCategory":"Payment","SaleID":%q,"ServiceID":%q}}`, t.o.SaleID, service)
}

// Ask sends a request and returns its response; an empty one is the zero NexoSaid, with the status as its
// text. It fails where the answer is not whole, where its status is not 200, and when ctx ends: nothing
// more can be asked then.
func (t *Nexo) Ask(ctx context.Context, category, service, body string) (said NexoSaid, err error) {
	header := fmt.Sprintf(`{"ProtocolVersion":%q,"MessageClass":"Service","MessageCategory":%q,"MessageType":"Request","ServiceID":%q,"SaleID":%q,"POIID":%q}`,
		t.o.Version, category, service, t.o.SaleID, t.o.POIID)
	message := fmt.Appendf(nil, `{"SaleToPOIRequest":{"MessageHeader":%s,"%sRequest":%s}}`, header, category, body)
	if t.o.Key != nil {
		if message, err = t.o.Key.seal(json.RawMessage(header), message); err != nil {
			return said, err
		}
	}
	answer, err := t.post(ctx, message)
	data := answer.Body
	said.Text = fmt.Sprintf("%d %.1000s", answer.Status, data)
	switch {
	case err != nil:
		return said, err
	case answer.Status != http.StatusOK:
		return said, fmt.Errorf("the terminal says %s", said.Text)
	case len(data) == 0:
		return said, nil
	case t.o.Key != nil:
		if data, err = t.o.Key.open(data); err != nil {
			return said, err
		}
	}
	var out struct{ SaleToPOIResponse map[string]json.RawMessage }
	if err := json.Unmarshal(data, &out); err != nil {
		return said, fmt.Errorf("%w: %s", err, said.Text)
	}
	if err := json.Unmarshal(out.SaleToPOIResponse[category+"Response"], &said); err != nil {
		return said, fmt.Errorf("no %sResponse: %w: %s", category, err, said.Text)
	}
	return said, nil
}

// post sends one message and reads the whole answer.
func (t *Nexo) post(ctx context.Context, message []byte) (HTTPAnswer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+t.o.Host+"/nexo/", bytes.NewReader(message))
	if err != nil {
		return HTTPAnswer{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	if t.o.APIKey != "" {
		req.Header.Set("X-API-Key", t.o.APIKey)
	}
	return exchange(t.conn, t.in, req, maxNexo)
}

// Close ends the connection.
func (t *Nexo) Close() error { return t.conn.Close() }
