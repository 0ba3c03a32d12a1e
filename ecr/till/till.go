package till

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"posagent/schemes/money"
)

// Protocol is a register of one protocol.
type Protocol struct {
	Name string
	Can  Can
	// New makes a register on a connection, which it owns. It fails where the protocol cannot have the line's currency.
	New func(l Line) (Till, error)
	// Hostile are bytes that begin nothing, beside those that every terminal gets.
	Hostile []string
	Late    time.Duration // how late a register may be with what it says; 0 = 2 s
}

// Line leads a register to its terminal.
type Line struct {
	Conn     net.Conn
	More     func(ctx context.Context) (net.Conn, error) // another connection to the same terminal
	Name     string                                      // tells the registers of one terminal apart, where the protocol can; it ends in digits
	Cable    bool                                        // Conn is a serial line: JSON lines and ECR17
	Currency string
	Wait     time.Duration // for what the terminal says next; 0 = as long as registers of the protocol wait
	Running  func()        // hears that the terminal has taken a request; nil = nobody does, and nothing is asked for it
}

// Can is what a protocol can do.
type Can struct {
	Asks   bool // a register can ask how an earlier sale has ended
	IDs    bool // a request has an id of its own: the same id again is the same request
	Names  bool // registers have names, and hear of their own sales only
	Abort  bool // a sale that runs can be stopped
	Mute   bool // nothing answers an abort but the end of the sale
	Acks   bool // a register says that it has the outcome
	Once   bool // nothing says where an answer ends: registers read once, and hanging up says that they have
	Totals bool // the terminal says how many sales there were, or their sum, without ending its day
	Since  bool // its totals begin at the first reading
}

// Till is a register on one connection. An error says that a question was not answered to its end: an answer beside it was heard before,
// and the terminal may not know that it was.
type Till interface {
	// Greet asks what registers ask before their first sale, in protocols that have such a question. test says that the terminal calls
	// itself one for tests. A register that does not greet may still sell.
	Greet(ctx context.Context) (test bool, err error)
	Pay(ctx context.Context, amount money.Minor, id string) (Answer, error)
	// Again asks once how a sale has ended, in the protocol's own way. It begins nothing.
	Again(ctx context.Context, amount money.Minor, id string) (Answer, error)
	// Abort stops the sale that runs, beside Pay; done = the terminal says that it will, or, where it is
	// mute, has read the abort.
	Abort(ctx context.Context, id string) (done bool, err error)
	Totals(ctx context.Context) (Totals, error)
	Close() error
}

// Reverser is a register that can take its last payment back without naming it.
type Reverser interface {
	Till
	// Reverse asks for it. Approved = it was taken back.
	Reverse(ctx context.Context) (Answer, error)
}

// Totals are the sales that the terminal counts as paid.
type Totals struct {
	Count int // -1 = it says their sum alone
	Sum   money.Minor
}

// Answer is what a register was told.
type Answer struct {
	Said    Said
	Amount  money.Minor // of an approval
	Receipt int         // 0 = the terminal names none
	Pieces  int         // in which the answer came, where registers read once
	Text    string      // what the terminal says beside it
	Firm    bool        // the terminal has said that it knows that the register has the answer
	Raw     string      // as it came, for a report
}

// Said is a kind of answer.
type Said string

// The answers.
const (
	Nothing  Said = ""
	Approved Said = "approved"
	Declined Said = "declined"
	Aborted  Said = "aborted"
	Refused  Said = "refused"   // nothing was begun
	NotFound Said = "not found" // there is no such sale, and there will be none
	Busy     Said = "busy"      // nothing can be said yet: ask again
)

// String implements fmt.Stringer.
func (s Said) String() string {
	if s == Nothing {
		return "nothing"
	}
	return string(s)
}

// Same reports whether two answers say the same; their texts may differ, and so may what the terminal knows of them.
func (a Answer) Same(b Answer) bool {
	b.Text, b.Firm, b.Raw = a.Text, a.Firm, a.Raw
	return a == b
}

// ErrNoWord is what a register says whose protocol has no word for it.
var ErrNoWord = errors.New("the protocol has no word for it")

// Settings are what a register has to be told of its terminal beside the address. It prints none of them.
type Settings struct {
	Host   string   // the address as ADDRESS has it
	Tokens []Secret // of sales over HTTP: that of the register, and that of another one
	// Of ZVT: it has its receipts printed through it, and numbers its messages.
	Prints, Counts bool
	// Of JSON lines: the line's; "" = it has none.
	Password Secret
	// Of ECR17: what the check byte is made of (std, stx, noext, stx_noext; "" = std), the terminal's id ("" = any), and the form of
	// payments, X or P ("" = X, or P where the terminal has no other).
	LRC, TerminalID, Form string
	// Of nexo: the terminal's POIID, the ProtocolVersion ("" = 3.0), what the register says in X-API-Key, and the key of its messages; no
	// passphrase = messages in clear.
	POIID, Version     string
	APIKey, Passphrase Secret
	KeyID              string
	KeyVersion         int
}

// Secret prints as stars.
type Secret string

// String implements fmt.Stringer.
func (Secret) String() string { return "***" }

// GoString implements fmt.GoStringer.
func (Secret) GoString() string { return "***" }

// Kind is a row of Protocols.
type Kind struct {
	Name   string
	Scheme string // what carries the messages where ADDRESS does not say: "" = TCP alone, "http", "https"
	// Make makes the protocol; it fails where a setting is missing or wrong.
	Make func(Settings) (Protocol, error)
}

// Protocols are those that a terminal may speak. Another one is a file beside zvt.go and a row here.
func Protocols() []Kind {
	return []Kind{
		{Name: "zvt", Make: overZVT},
		{Name: "jsonl", Make: jsonl},
		{Name: "ecr17", Make: ecr17},
		{Name: "caisse-ap", Make: caisseAP},
		{Name: "nexo", Scheme: "https", Make: nexo},
		{Name: "http", Scheme: "http", Make: overHTTP},
	}
}

// Named finds a row by its name.
func Named(name string) (k Kind, known bool) {
	for _, k := range Protocols() {
		if k.Name == name {
			return k, true
		}
	}
	return k, false
}

// Until asks how a sale has ended until the terminal can say it.
func Until(ctx context.Context, t Till, amount money.Minor, id string) (Answer, error) {
	for {
		a, err := t.Again(ctx, amount, id)
		if err != nil || a.Said != Busy {
			return a, err
		}
		if err := Pause(ctx); err != nil {
			return Answer{}, err
		}
	}
}

// Pause waits for a second between two questions. It fails when ctx ends.
func Pause(ctx context.Context) error {
	select {
	case <-time.After(time.Second):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// number is the number at the end of a register's name in so many digits; a name without one is 0.
func number(name string, digits int) string {
	from := strings.LastIndexFunc(name, func(r rune) bool { return r < '0' || r > '9' }) + 1
	text := strings.Repeat("0", digits) + name[from:]
	return text[len(text)-digits:]
}
