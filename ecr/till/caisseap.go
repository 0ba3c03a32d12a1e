package till

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/money"
)

// Times of a register of Caisse-AP.
const (
	taken = time.Second            // a request that has no answer after that counts as one that runs: nothing says so
	rest  = 250 * time.Millisecond // an answer whose fields are whole has no more of them
)

// maxAnswer bounds an answer, in bytes: registers read no more.
const maxAnswer = 1024

// caisseAP is a register of Caisse-AP over IP. Each name is a till (CA). It cannot ask, and the end of its connection is its abort.
func caisseAP(Settings) (Protocol, error) {
	sale := debit{Till: "09", Amount: 1250, Currency: 978}.request()
	return Protocol{
		Name: "caisse-ap", Can: Can{Names: true, Acks: true, Once: true},
		Hostile: []string{
			"CZ0040300", "CZ00403", "C", "CONNECT terminal:443 HTTP/1.1\r\n\r\n", "CZ9990300", "CZ0000", "CZ0040300CJ0120123456789", "\x02CZ0040300\x03\x10", "\x06\x01\x07\x04\x00\x00\x00\x00\x12\x50",
			strings.Replace(sale, "CB0041250", "CB0010", 1), strings.Replace(sale, "CB0041250", "CB004-250", 1), strings.Replace(sale, "CD0010", "CD0012", 1), sale[9:], sale[:30],
		},
		New: func(l Line) (Till, error) {
			currency, known := money.Lookup(l.Currency)
			if !known {
				return nil, fmt.Errorf("no currency %q", l.Currency)
			}
			return &caisseAPTill{l, currency.Numeric}, nil
		},
	}, nil
}

type caisseAPTill struct {
	Line
	currency uint16
}

// Pay implements Till. It closes the connection when it has the answer: that acknowledges it.
func (t *caisseAPTill) Pay(ctx context.Context, amount money.Minor, _ string) (Answer, error) {
	defer t.Conn.Close()
	defer context.AfterFunc(ctx, func() { _ = t.Conn.SetDeadline(time.Unix(1, 0)) })()
	ask := debit{Till: number(t.Name, 2), Amount: int64(amount), Currency: t.currency}
	if _, err := io.WriteString(t.Conn, ask.request()); err != nil {
		return Answer{}, err
	}
	runs := time.AfterFunc(taken, func() {
		if t.Running != nil {
			t.Running()
		}
	})
	defer runs.Stop()
	text, pieces, err := t.answer(runs)
	if err != nil {
		return Answer{}, err
	}
	fields, err := fieldsOf(text)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Pieces: pieces, Raw: text}
	if fields["AE"] == "01" {
		a.Text = strings.TrimSpace("AF " + fields["AF"])
	}
	switch fields["AE"] + (fields["AF"] + "  ")[:2] {
	case "10  ":
		paid, err := ask.answered(fields)
		if err != nil {
			return Answer{}, fmt.Errorf("%w: %q", err, text)
		}
		a.Said, a.Amount = Approved, money.Minor(paid)
		a.Receipt, _ = strconv.Atoi(strings.TrimPrefix(fields["AC"], "R")) // an authorisation of any other form names no receipt
	case "0105", "0109", "0110", "0111", "0112", "0113":
		a.Said = Refused
	case "0106", "0108":
		a.Said = Aborted
	case "0107":
		return Answer{}, fmt.Errorf("it is not known how the sale ended: %q", text)
	default:
		if a.Said = Declined; fields["AE"] != "01" {
			return Answer{}, fmt.Errorf("no result: %q", text)
		}
	}
	return a, nil
}

// answer reads until the fields are whole, and counts the pieces in which they came. Nothing else says where an answer ends.
func (t *caisseAPTill) answer(runs *time.Timer) (text string, pieces int, err error) {
	buf := make([]byte, maxAnswer)
	for {
		n, err := t.Conn.Read(buf)
		runs.Stop()
		if n > 0 {
			text, pieces = text+string(buf[:n]), pieces+1
		}
		fields, part := fieldsOf(text)
		whole := part == nil && fields["AE"] != ""
		switch {
		case whole && (err == nil || errors.Is(err, io.EOF)) && fields["AE"] == "01" && fields["AF"] == "" && n > 0:
			_ = t.Conn.SetReadDeadline(time.Now().Add(rest))
		case whole && (err == nil || errors.Is(err, io.EOF) || errors.Is(err, os.ErrDeadlineExceeded)):
			return text, pieces, nil
		case err != nil:
			return text, pieces, err
		case len(text) > maxAnswer:
			return text, pieces, errors.New("the answer has more bytes than a register reads")
		}
	}
}

// Greet implements Till: Caisse-AP has no word for it, and none for a terminal for tests.
func (t *caisseAPTill) Greet(context.Context) (bool, error) { return false, nil }

// Again implements Till.
func (t *caisseAPTill) Again(context.Context, money.Minor, string) (Answer, error) {
	return Answer{}, ErrNoWord
}

// Abort implements Till.
func (t *caisseAPTill) Abort(context.Context, string) (bool, error) { return false, ErrNoWord }

// Totals implements Till.
func (t *caisseAPTill) Totals(context.Context) (Totals, error) { return Totals{}, ErrNoWord }

// Close implements Till.
func (t *caisseAPTill) Close() error { return t.Conn.Close() }
