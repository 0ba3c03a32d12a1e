package tills

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"strconv"
	"strings"
	"time"

	"posagent/ecr/till"
	"posagent/schemes/money"
)

// Way leads a till to its terminal.
type Way struct {
	Dial  func(ctx context.Context) (net.Conn, error)
	Addr  string                                // host:port, as the till knows it
	Name  string                                // of the till
	Token string                                // of a client of the local port
	Roots func() (cert *x509.CertPool, e error) // what it trusts; nil = plain
	Wait  time.Duration                         // for an answer
	// Counts says that a till of ZVT registers first, and numbers its messages (TLV 1F73).
	Counts bool
}

// Till is a register that makes a connection for each question. An error says that it was told nothing, or nothing whole; what it was
// told whole counts, though the connection may have broken after it.
type Till struct {
	way  Way
	kind till.Kind
}

// New makes a till.
func (p Protocol) New(w Way) *Till { return &Till{w, p.kind} }

// Pay asks for a payment under an id of the till's, and returns what it was told.
func (t *Till) Pay(ctx context.Context, amount money.Minor, id string) (till.Answer, error) {
	return t.over(ctx, id, func(ctx context.Context, r till.Till) (till.Answer, error) { return r.Pay(ctx, amount, id) })
}

// Again asks once what became of a payment.
func (t *Till) Again(ctx context.Context, amount money.Minor, id string) (till.Answer, error) {
	return t.over(ctx, id, func(ctx context.Context, r till.Till) (till.Answer, error) { return r.Again(ctx, amount, id) })
}

// Reverse asks once that the last payment is taken back, in a protocol that Reverses.
func (t *Till) Reverse(ctx context.Context) (till.Answer, error) {
	return t.over(ctx, "", func(ctx context.Context, r till.Till) (till.Answer, error) {
		back, can := r.(till.Reverser)
		if !can {
			return till.Answer{}, till.ErrNoWord
		}
		return back.Reverse(ctx)
	})
}

// Abort stops a sale, or the one that runs where the protocol has no ids. What becomes of it is told by the sale.
func (t *Till) Abort(ctx context.Context, id string) error {
	_, err := t.over(ctx, id, func(ctx context.Context, r till.Till) (till.Answer, error) {
		_, err := r.Abort(ctx, id)
		return till.Answer{}, err
	})
	return err
}

// settings are those of a till. Its id says which form a payment of ECR17 has: the results of even ones tell the amount.
func (t *Till) settings(id string) till.Settings {
	s := till.Settings{
		Host: t.way.Addr, Tokens: []till.Secret{till.Secret(t.way.Token)}, Prints: true, Counts: t.way.Counts,
		TerminalID: "12345678", Form: "P", POIID: poi,
	}
	if n, err := strconv.Atoi(strings.TrimRight(id, "n")); err == nil && n%2 == 0 {
		s.Form = "X"
	}
	return s
}

// over asks on a connection of its own, which ends with ctx.
func (t *Till) over(ctx context.Context, id string, ask func(context.Context, till.Till) (till.Answer, error)) (till.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, t.way.Wait)
	defer cancel()
	p, err := t.kind.Make(t.settings(id))
	if err != nil {
		return till.Answer{}, err
	}
	conn, err := t.way.connect(ctx)
	if err != nil {
		return till.Answer{}, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	r, err := p.New(till.Line{Conn: conn, More: t.way.connect, Name: t.way.Name, Currency: "EUR", Wait: t.way.Wait})
	if err != nil {
		return till.Answer{}, err
	}
	defer r.Close()
	if t.way.Counts {
		if _, err := r.Greet(ctx); err != nil {
			return till.Answer{}, err
		}
	}
	a, err := ask(ctx, r)
	if a.Said != till.Nothing {
		err = nil
	}
	return a, err
}

// connect connects to the terminal, encrypted where there are Roots.
func (w Way) connect(ctx context.Context) (net.Conn, error) {
	conn, err := w.Dial(ctx)
	if err != nil || w.Roots == nil {
		return conn, err
	}
	roots, err := w.Roots()
	if err == nil {
		var host string
		if host, _, err = net.SplitHostPort(w.Addr); err == nil {
			return tls.Client(conn, &tls.Config{RootCAs: roots, ServerName: host, MinVersion: tls.VersionTLS12}), nil
		}
	}
	_ = conn.Close()
	return nil, err
}

// Definite reports whether a till knows by an answer whether it was paid.
func Definite(a till.Answer) bool {
	return a.Said == till.Approved || NotPaid(a.Said) || a.Said == till.NotFound
}

// NotPaid reports whether an answer says that the sale has ended, and costs nothing.
func NotPaid(s till.Said) bool { return s == till.Declined || s == till.Aborted }
