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

	"posagent/ecr/web"
)

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 4 << 20

// Options are how a register speaks.
type Options struct {
	Host    string // how the terminal's address is written
	SaleID  string // the register's name
	POIID   string // the terminal's
	Version string // "" = 3.0
	APIKey  string // of X-API-Key; "" = none is sent
	Key     *Key   // nil = messages in clear
}

// Till is a register on one connection, which it owns.
type Till struct {
	conn net.Conn
	in   *bufio.Reader
	o    Options
}

// New makes a register.
func New(conn net.Conn, o Options) *Till {
	o.Version = cmp.Or(o.Version, "3.0")
	return &Till{conn, bufio.NewReader(conn), o}
}

// Said is what a register reads of a response. Amounts are major units.
type Said struct {
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
		RepeatedResponseMessageBody struct{ PaymentResponse *Said }
	}
	Text string `json:"-"` // as it came, for a report
}

// Payment is the body of a payment. amount is in major units, such as 12.50.
func Payment(order, currency, amount string) string {
	return fmt.Sprintf(`{"SaleData":{"SaleTransactionID":{"TransactionID":%q,"TimeStamp":"2026-11-26T11:00:00.000Z"}},"PaymentTransaction":{"AmountsReq":{"Currency":%q,"RequestedAmount":%s}}}`,
		order, currency, amount)
}

// Reference is the body of a status, and of an abort, of a payment under a ServiceID.
func (t *Till) Reference(service string) string {
	return fmt.Sprintf(`{"AbortReason":"MerchantAbort","MessageReference":{"MessageCategory":"Payment","SaleID":%q,"ServiceID":%q}}`, t.o.SaleID, service)
}

// Ask sends a request and returns its response; an empty one is the zero Said, with the status as its
// text. It fails where the answer is not whole, where its status is not 200, and when ctx ends: nothing
// more can be asked then.
func (t *Till) Ask(ctx context.Context, category, service, body string) (said Said, err error) {
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
func (t *Till) post(ctx context.Context, message []byte) (web.Answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+t.o.Host+"/nexo/", bytes.NewReader(message))
	if err != nil {
		return web.Answer{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	if t.o.APIKey != "" {
		req.Header.Set("X-API-Key", t.o.APIKey)
	}
	return web.Exchange(t.conn, t.in, req, maxAnswer)
}

// Close ends the connection.
func (t *Till) Close() error { return t.conn.Close() }
