package ecrtest

import (
	"context"
	"net"
	"time"

	"posagent/ecr"
	"posagent/schemes/money"
)

// Fixture is a protocol under test.
type Fixture struct {
	Protocol ecr.Protocol
	// Connect makes a register on a connection, which it owns. It shares no dialogue with the
	// terminal. name tells the registers of one line apart, where the protocol can.
	Connect func(ctx context.Context, kind Kind, conn net.Conn, name string) (Register, error)
	Can     Can
	// Hostile are bytes that begin nothing, beside those that the suite sends to every protocol.
	Hostile []string
}

// Kind is a kind of line.
type Kind string

// The kinds.
const (
	Serial Kind = "serial"
	TCP    Kind = "tcp"
)

// Can is what a protocol can do.
type Can struct {
	// IDs: a request has an id of its own. The same id again is the same request; without ids it is
	// a new one.
	IDs bool
	// Repeats: a lost answer is asked for by the same request again, whose id holds over
	// connections. Without it the protocol asks for the last sale.
	Repeats bool
	// Names: the registers of one line have names, and hear of their own sales only.
	Names bool
	Abort bool
	// EndOfDay: the protocol has an end of day.
	EndOfDay bool
	// Mute: the protocol cannot ask for a lost answer. A register that leaves aborts its sale, and
	// the next sale of its name undoes what it has not heard.
	Mute bool
	// Once: a connection carries one request. The suite connects anew for each.
	Once bool
	// Fades: a lost answer is asked for as the line's last, and one that the register has
	// acknowledged is told again for so long only. 0 = for ever.
	Fades time.Duration
}

// Register is a register of the protocol. An error of its methods means that its question did not
// end; the Answer beside it is what was heard and acknowledged before, the zero value if nothing
// was.
type Register interface {
	// Pay asks for a payment. id is the request's own; a protocol without ids leaves it out.
	Pay(ctx context.Context, amount money.Minor, id string) (Answer, error)
	// Again asks for the answer of such a payment, in the protocol's own way.
	Again(ctx context.Context, amount money.Minor, id string) (Answer, error)
	// Abort aborts the payment that runs, beside it; done says that the terminal will.
	Abort(ctx context.Context) (done bool, err error)
	// EndOfDay ends the day: the number and the sum of its payments; the number is -1 where the
	// protocol does not say it.
	EndOfDay(ctx context.Context) (ended bool, count int, sum money.Minor, err error)
	Close() error
}

// Asker is a Register whose protocol asks by its id what became of a request, and begins nothing by
// that. Its Ask answers Running at once where the sale runs.
type Asker interface {
	Ask(ctx context.Context, id string) (Answer, error)
}

// Answer is what a register was told.
type Answer struct {
	Said   Said
	Amount money.Minor // of an approval
}

// Said is a kind of answer.
type Said string

// The answers.
const (
	Nothing  Said = ""
	Approved Said = "approved"
	Declined Said = "declined"
	Aborted  Said = "aborted"
	Busy     Said = "busy"      // another sale runs, nothing was begun
	Refused  Said = "refused"   // nothing was begun
	NotFound Said = "not found" // there is no such sale
	Running  Said = "running"   // the sale goes on
)
