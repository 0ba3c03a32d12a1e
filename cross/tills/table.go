package tills

import (
	"context"
	"crypto/x509"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/money"
)

// Word is what a till was told of a payment.
type Word string

// The words.
const (
	Nothing  Word = ""
	Approved Word = "approved"
	NotPaid  Word = "not paid"
	Unknown  Word = "not found" // no sale has this id, and none will have it
	Busy     Word = "busy"      // nothing was begun, or nothing can be said yet: ask again
)

// Answer is what a till was told.
type Answer struct {
	Word   Word
	Amount money.Minor // of an approval
	Firm   bool        // the terminal has said that it knows that the till has the answer
	Text   string      // as it came, for a report
}

// Definite reports whether the till knows now whether it was paid.
func (a Answer) Definite() bool { return a.Word == Approved || a.Word == NotPaid || a.Word == Unknown }

// Till is one cash register. It makes a connection for each question.
type Till interface {
	// Pay asks for a payment under an id of the till's, and returns what it was told. An error means
	// that it was told nothing, or nothing whole.
	Pay(ctx context.Context, amount money.Minor, id string) (Answer, error)
	// Again asks once what became of a payment. resend asks with the same request as before, where
	// the protocol has an id for it.
	Again(ctx context.Context, amount money.Minor, id string, resend bool) (Answer, error)
}

// Reverser is a till that can take its last payment back.
type Reverser interface {
	Till
	// Reverse asks for it once. Approved = it was taken back, NotPaid = there was none to take back.
	Reverse(ctx context.Context) (Answer, error)
}

var _ Reverser = ecr17{}

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

// Protocol is a row of the table.
type Protocol struct {
	Name string
	// Asks says that a till can ask what became of a payment. One that cannot goes on with its next
	// sale (MONEY F.5).
	Asks bool
	// IDs says that each request has an id of the till's: asked for twice it is one sale.
	IDs bool
	// Keeps says that an approval stays where the till did not hear it. Elsewhere it is undone with
	// the till's next sale.
	Keeps bool
	// Confirms says that the till shows that it has an answer, after it has taken it whole. Elsewhere
	// the terminal may hold an answer for told that has reached the till's machine alone.
	Confirms bool
	// Acks says that a till acknowledges an outcome with a message of its own, which may get lost.
	Acks bool
	// Reverses says that a till that does not know may take its last payment back instead: it is a
	// Reverser.
	Reverses bool
	// Config is the part of a terminal's configuration that has its line at an address.
	Config func(addr string) string
	New    func(Way) Till
}

// Token is that of the local clients in the configurations of Table.
const Token = "till-port-token-0123"

// Table is every protocol.
func Table() []Protocol {
	line := func(name, more string) func(string) string {
		return func(addr string) string {
			return fmt.Sprintf("[port]\nlisten = \"\"\n[[ecr]]\nprotocol = %q\ntcp = %q\n%s", name, addr, more)
		}
	}
	return []Protocol{
		{Name: "zvt", Asks: true, Acks: true, Config: line("zvt", ""), New: newZVT},
		{Name: "jsonl", Asks: true, IDs: true, Confirms: true, Acks: true, Config: line("jsonl", ""), New: newJSONL},
		{Name: "nexo", Asks: true, IDs: true, Config: line("nexo", "poi_id = \"POSAGENT-000020000001\"\n"), New: newNexo},
		{Name: "ecr17", Asks: true, Confirms: true, Acks: true, Reverses: true, Config: line("ecr17", ""), New: newECR17},
		{Name: "caisse-ap", Confirms: true, Config: line("caisse-ap", ""), New: newCaisseAP},
		{Name: "http", Asks: true, IDs: true, Keeps: true, New: newHTTP, Config: func(addr string) string {
			// A terminal is ready where it has a register line, too.
			host, port, _ := net.SplitHostPort(addr)
			return fmt.Sprintf("[port]\nlisten = %q\ntoken = %q\n[[ecr]]\nprotocol = \"jsonl\"\ntcp = %q\n", addr, Token, net.JoinHostPort(host, beside(port)))
		}},
	}
}

// Chosen returns the protocols that a list names, as PROTOCOLS=jsonl,http has it; "" = all. It fails
// where a name is none.
func Chosen(list string) ([]Protocol, error) {
	all := Table()
	if list == "" {
		return all, nil
	}
	var some []Protocol
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(all, func(p Protocol) bool { return p.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("PROTOCOLS: %q is no protocol", name)
		}
		some = append(some, all[i])
	}
	return some, nil
}

// beside is a port for a second line at an address.
func beside(port string) string {
	n, _ := strconv.Atoi(port)
	return strconv.Itoa(n + 300)
}

// over runs f on a connection of its own, which ends with ctx.
func (w Way) over(ctx context.Context, f func(conn net.Conn) (Answer, error)) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, w.Wait)
	defer cancel()
	conn, err := w.Dial(ctx)
	if err != nil {
		return Answer{}, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	return f(conn)
}
