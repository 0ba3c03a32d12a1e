package till

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// SalesPath is where sales over HTTP are.
const SalesPath = "/agent/v1/sales"

// maxHTTP bounds an answer, in bytes.
const maxHTTP = 16 << 20

// HTTP is a register that sells over HTTP on one connection, which it owns: one request at a time, each in one write. An answer is
// returned whole or not at all.
type HTTP struct {
	conn  net.Conn
	in    *bufio.Reader
	host  string
	token Secret

	line   Line
	all    []Secret // the tokens of all clients that sell
	newest *newest
	mu     sync.Mutex
	ids    map[string]string // the terminal's id of a sale, by its key
}

// NewHTTP makes a register. host is how the terminal's address is written, token the client's.
func NewHTTP(conn net.Conn, host string, token Secret) *HTTP {
	return &HTTP{conn: conn, in: bufio.NewReader(conn), host: host, token: token, ids: map[string]string{}}
}

// HTTPAnswer is a whole answer.
type HTTPAnswer struct {
	Status int
	Body   []byte
}

// HTTPSale is what a register reads of a sale. Amount is minor units.
type HTTPSale struct {
	ID, Key, State, Outcome, Text string
	Amount                        int64
	Receipt                       int
}

// Sale reads the sale of an answer.
func (a HTTPAnswer) Sale() (s HTTPSale, err error) {
	err = json.Unmarshal(a.Body, &s)
	return s, err
}

// Text is what a refusal says.
func (a HTTPAnswer) Text() string {
	var problem struct{ Title, Detail string }
	_ = json.Unmarshal(a.Body, &problem) // a text of another form has none
	return strings.TrimSpace(problem.Title + " " + problem.Detail)
}

// String is the answer for a report.
func (a HTTPAnswer) String() string { return fmt.Sprintf("%d %.400s", a.Status, a.Body) }

// HTTPPayment is the body of a request. amount is minor units.
func HTTPPayment(amount int64, currency, reference string) []byte {
	body, err := json.Marshal(map[string]any{"amount": amount, "currency": currency, "type": "payment", "reference": reference})
	if err != nil {
		panic(err) // numbers and texts
	}
	return body
}

// Ask sends a request and returns its answer. key is the Idempotency-Key; "" = none. It fails where the
// answer is not whole, and when ctx ends: nothing more can be asked then.
func (t *HTTP) Ask(ctx context.Context, method, path, key string, body []byte) (HTTPAnswer, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+t.host+path, bytes.NewReader(body))
	if err != nil {
		return HTTPAnswer{}, err
	}
	req.Header.Set("Authorization", "Bearer "+string(t.token))
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	return exchange(t.conn, t.in, req, maxHTTP)
}

// exchange sends a request in one write over a connection, of which in reads, and returns the whole
// answer, of whose body it reads at most so many bytes. It fails as Ask does; the answer has its
// status then where that was read.
func exchange(conn net.Conn, in *bufio.Reader, req *http.Request, most int64) (HTTPAnswer, error) {
	var text bytes.Buffer
	if err := req.Write(&text); err != nil {
		return HTTPAnswer{}, err
	}
	defer context.AfterFunc(req.Context(), func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	if _, err := conn.Write(text.Bytes()); err != nil {
		return HTTPAnswer{}, err
	}
	resp, err := http.ReadResponse(in, req)
	if err != nil {
		return HTTPAnswer{}, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, most))
	if err != nil {
		return HTTPAnswer{Status: resp.StatusCode}, fmt.Errorf("half an answer: %w", err)
	}
	return HTTPAnswer{resp.StatusCode, data}, nil
}

// Close ends the connection.
func (t *HTTP) Close() error { return t.conn.Close() }
