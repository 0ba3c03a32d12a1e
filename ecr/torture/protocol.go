package torture

import (
	"context"
	"net"

	"posagent/schemes/money"
)

// Protocol is a register of one protocol.
type Protocol struct {
	Name string
	Can  Can
	// Dial makes a register on a connection, which it owns. name tells the registers of one terminal apart, where the protocol can.
	// running hears that the terminal has taken a request.
	Dial func(ctx context.Context, conn net.Conn, name, currency string, running func()) (Till, error)
	// Hostile are bytes that begin nothing, beside those that every terminal gets.
	Hostile []string
}

// Can is what a protocol can do.
type Can struct {
	IDs    bool // a request has an id of its own: the same id again is the same request
	Names  bool // registers have names, and hear of their own sales only
	Abort  bool // a sale that runs can be stopped
	Totals bool // the terminal says how many sales there were, and their sum, without ending its day
}

// Till is a register on one connection. An error says that a question has no answer.
type Till interface {
	Pay(ctx context.Context, amount money.Minor, id string) (Answer, error)
	// Again asks how a sale has ended, in the protocol's own way. It begins nothing.
	Again(ctx context.Context, amount money.Minor, id string) (Answer, error)
	// Abort stops the sale that runs, beside Pay; done = the terminal says that it will.
	Abort(ctx context.Context, id string) (done bool, err error)
	Totals(ctx context.Context) (Totals, error)
	// Test says that the terminal calls itself one for tests.
	Test() bool
	Close() error
}

// Totals are the sales that the terminal counts as paid.
type Totals struct {
	Count int
	Sum   money.Minor
}

// Answer is what a register was told.
type Answer struct {
	Said    Said
	Amount  money.Minor // of an approval
	Receipt int         // 0 = the terminal names none
}

// Said is a kind of answer.
type Said string

// The answers.
const (
	Nothing  Said = "nothing"
	Approved Said = "approved"
	Declined Said = "declined"
	Aborted  Said = "aborted"
	Refused  Said = "refused" // nothing was begun
	NotFound Said = "not found"
)

// Protocols are those that can be tortured. Another one is a file beside zvt.go and a row here.
func Protocols() []Protocol { return []Protocol{zvt(), jsonl()} }
