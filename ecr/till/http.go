package till

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"posagent/schemes/money"
)

// waits is how long a request waits for an outcome.
const waits = "?wait=25s"

// overHTTP is a register of sales over HTTP. Each name is a client of the terminal, with a token of its own.
func overHTTP(s Settings) (Protocol, error) {
	if len(s.Tokens) == 0 {
		return Protocol{}, errors.New("sales over HTTP need the token of a client that may sell")
	}
	newest := &newest{ids: map[Secret]string{}}
	const head = " HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nIdempotency-Key: h1\r\n"
	return Protocol{
		Name: "http", Can: Can{Asks: true, IDs: true, Names: len(s.Tokens) > 1, Abort: true, Totals: true, Since: true},
		Hostile: []string{
			"POST " + SalesPath + head + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "POST " + SalesPath + head + "Content-Length: -1\r\n\r\n",
			"POST " + SalesPath + head + "Content-Length: 99999999\r\n\r\n{\"amount\":1250}", "POST " + SalesPath + head + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
			"POST " + SalesPath + head + "Content-Length: 15\r\n\r\n{\"amount\":1250}", "POST " + SalesPath + head + "Origin: http://evil.example\r\nContent-Length: 15\r\n\r\n{\"amount\":1250}",
			"GET " + SalesPath + "?key=%00" + head + "\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x16\x03\x01\x02\x00\x01",
		},
		New: func(l Line) (Till, error) {
			token := s.Tokens[0]
			if l.Name != "1" {
				token = s.Tokens[len(s.Tokens)-1]
			}
			t := NewHTTP(l.Conn, s.Host, token)
			t.line, t.all, t.newest = l, s.Tokens, newest
			return t, nil
		},
	}, nil
}

// Greet implements Till: the terminal knows the token.
func (t *HTTP) Greet(ctx context.Context) (bool, error) {
	a, err := t.Ask(ctx, http.MethodGet, "/agent/v1/status", "", nil)
	var status struct{ Sandbox bool }
	switch {
	case err == nil && a.Status == http.StatusUnauthorized:
		err = errors.New("the terminal does not know the token")
	case err == nil && a.Status == http.StatusOK:
		_ = json.Unmarshal(a.Body, &status) // a terminal that says nothing is not one for tests
	}
	return status.Sandbox, err
}

// newest remembers, for each client, the sale that was the newest when its sums were first read: what is older is none of this run's.
type newest struct {
	mu  sync.Mutex
	ids map[Secret]string
}

// read reads the sale of an answer: Busy while it runs.
func (t *HTTP) read(a HTTPAnswer, id string) (Answer, error) {
	said := Answer{Raw: a.String()}
	switch a.Status {
	case http.StatusOK, http.StatusAccepted:
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusConflict, http.StatusBadRequest, http.StatusUnprocessableEntity:
		said.Said, said.Text = Refused, a.Text()
		return said, nil
	default:
		return Answer{}, fmt.Errorf("the terminal says %s", a)
	}
	s, err := a.Sale()
	if err != nil {
		return Answer{}, err
	}
	t.mu.Lock()
	t.ids[id] = s.ID
	t.mu.Unlock()
	switch s.State + " " + s.Outcome {
	case "running ":
		said.Said = Busy
		return said, nil
	case "ended approved":
		said.Said, said.Amount, said.Receipt = Approved, money.Minor(s.Amount), s.Receipt
	case "ended declined":
		said.Said = Declined
	case "ended aborted":
		said.Said = Aborted
	default:
		return Answer{}, fmt.Errorf("the terminal says %s", a)
	}
	said.Text = s.Text
	return said, nil
}

// Pay implements Till. The first request hears that the sale is durable, where somebody wants to hear that; the next ones wait for its
// outcome.
func (t *HTTP) Pay(ctx context.Context, amount money.Minor, id string) (Answer, error) {
	body := HTTPPayment(int64(amount), t.line.Currency, id)
	wait := waits
	if t.line.Running != nil {
		wait = ""
	}
	for ; ; wait = waits {
		got, err := t.Ask(ctx, http.MethodPost, SalesPath+wait, id, body)
		if err != nil {
			return Answer{}, err
		}
		a, err := t.read(got, id)
		if err != nil || a.Said != Busy {
			return a, err
		}
		if t.line.Running != nil {
			t.line.Running()
		}
	}
}

// Again implements Till. A question that is refused may be put again.
func (t *HTTP) Again(ctx context.Context, _ money.Minor, id string) (Answer, error) {
	got, err := t.Ask(ctx, http.MethodGet, SalesPath+"?key="+url.QueryEscape(id), "", nil)
	switch {
	case err != nil:
		return Answer{}, err
	case got.Status == http.StatusNotFound:
		return Answer{Said: NotFound, Raw: got.String()}, nil
	}
	a, err := t.read(got, id)
	if a.Said == Refused {
		a.Said = Busy
	}
	return a, err
}

// Abort implements Till. Pay has the connection, so it takes another one.
func (t *HTTP) Abort(ctx context.Context, id string) (bool, error) {
	t.mu.Lock()
	of := t.ids[id]
	t.mu.Unlock()
	conn, err := t.line.More(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	at := NewHTTP(conn, t.host, t.token)
	if of == "" { // this register did not ask for it itself
		a, err := at.Ask(ctx, http.MethodGet, SalesPath+"?key="+url.QueryEscape(id), "", nil)
		if err == nil && a.Status != http.StatusOK {
			err = fmt.Errorf("the terminal says %s", a)
		}
		s, unread := a.Sale()
		if err = cmp.Or(err, unread); err != nil {
			return false, err
		}
		of = s.ID
	}
	a, err := at.Ask(ctx, http.MethodPost, SalesPath+"/"+url.PathEscape(of)+"/abort", "", nil)
	switch {
	case err != nil:
		return false, err
	case a.Status == http.StatusOK, a.Status == http.StatusAccepted:
		return true, nil
	case a.Status == http.StatusUnprocessableEntity, a.Status == http.StatusConflict: // too late; 409 was said before
		return false, nil
	}
	return false, fmt.Errorf("the terminal says %s", a)
}

// Totals implements Till: the approved payments of every client's list, from the first reading on.
func (t *HTTP) Totals(ctx context.Context) (sums Totals, err error) {
	for i, token := range t.all {
		if slices.Index(t.all, token) < i {
			continue
		}
		at := t
		if token != t.token {
			conn, err := t.line.More(ctx)
			if err != nil {
				return sums, err
			}
			defer conn.Close()
			at = NewHTTP(conn, t.host, token)
		}
		if err := t.sum(ctx, at, token, &sums); err != nil {
			return sums, err
		}
	}
	return sums, nil
}

// sum adds what a client's list has to sums.
func (t *HTTP) sum(ctx context.Context, at *HTTP, token Secret, sums *Totals) error {
	t.newest.mu.Lock()
	defer t.newest.mu.Unlock()
	last, known := t.newest.ids[token]
	for query := "?limit=200"; ; {
		a, err := at.Ask(ctx, http.MethodGet, SalesPath+query, "", nil)
		if err == nil && a.Status != http.StatusOK {
			err = fmt.Errorf("the terminal says %s", a)
		}
		if err != nil {
			return err
		}
		var page struct {
			Sales []struct {
				ID, Kind, Result string
				Amount           int64
			}
			Cursor int64
		}
		if err := json.Unmarshal(a.Body, &page); err != nil {
			return err
		}
		if !known {
			if t.newest.ids[token] = ""; len(page.Sales) > 0 {
				t.newest.ids[token] = page.Sales[0].ID
			}
			return nil
		}
		for _, s := range page.Sales {
			if s.ID == last {
				return nil
			}
			if s.Kind == "payment" && s.Result == "approved" {
				sums.Count, sums.Sum = sums.Count+1, sums.Sum+money.Minor(s.Amount)
			}
		}
		if page.Cursor == 0 {
			return nil
		}
		query = fmt.Sprintf("?limit=200&cursor=%d", page.Cursor)
	}
}
