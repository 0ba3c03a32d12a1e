package web

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
	"time"
)

// Path is where sales are.
const Path = "/agent/v1/sales"

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 16 << 20

// Till is a register on one connection, which it owns.
type Till struct {
	conn  net.Conn
	in    *bufio.Reader
	host  string
	token string
}

// New makes a register. host is how the terminal's address is written, token the client's.
func New(conn net.Conn, host, token string) *Till {
	return &Till{conn, bufio.NewReader(conn), host, token}
}

// Answer is a whole answer.
type Answer struct {
	Status int
	Body   []byte
}

// Sale is what a register reads of a sale. Amount is minor units.
type Sale struct {
	ID, Key, State, Outcome, Text string
	Amount                        int64
	Receipt                       int
}

// Sale reads the sale of an answer.
func (a Answer) Sale() (s Sale, err error) {
	err = json.Unmarshal(a.Body, &s)
	return s, err
}

// Text is what a refusal says.
func (a Answer) Text() string {
	var problem struct{ Title, Detail string }
	_ = json.Unmarshal(a.Body, &problem) // a text of another form has none
	return strings.TrimSpace(problem.Title + " " + problem.Detail)
}

// String is the answer for a report.
func (a Answer) String() string { return fmt.Sprintf("%d %.400s", a.Status, a.Body) }

// Payment is the body of a request. amount is minor units.
func Payment(amount int64, currency, reference string) []byte {
	body, err := json.Marshal(map[string]any{"amount": amount, "currency": currency, "type": "payment", "reference": reference})
	if err != nil {
		panic(err) // numbers and texts
	}
	return body
}

// Ask sends a request and returns its answer. key is the Idempotency-Key; "" = none. It fails where the
// answer is not whole, and when ctx ends: nothing more can be asked then.
func (t *Till) Ask(ctx context.Context, method, path, key string, body []byte) (Answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+t.host+path, bytes.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	req.Header.Set("Authorization", "Bearer "+t.token)
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	return Exchange(t.conn, t.in, req, maxAnswer)
}

// Exchange sends a request in one write over a connection, of which in reads, and returns the whole
// answer, of whose body it reads at most so many bytes. It fails as Ask does; the answer has its
// status then where that was read.
func Exchange(conn net.Conn, in *bufio.Reader, req *http.Request, most int64) (Answer, error) {
	var text bytes.Buffer
	if err := req.Write(&text); err != nil {
		return Answer{}, err
	}
	defer context.AfterFunc(req.Context(), func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	if _, err := conn.Write(text.Bytes()); err != nil {
		return Answer{}, err
	}
	resp, err := http.ReadResponse(in, req)
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, most))
	if err != nil {
		return Answer{Status: resp.StatusCode}, fmt.Errorf("half an answer: %w", err)
	}
	return Answer{resp.StatusCode, data}, nil
}

// Close ends the connection.
func (t *Till) Close() error { return t.conn.Close() }
