package offlinetest

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"

	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
)

// Effect is one thing that the bank did: under a Key, or for the customer of a link.
type Effect struct {
	Key    wire.Key // "" = the customer's
	Kind   string   // in the operation table, or Paid
	About  string   // the bank's id of what it was done to; "" where something was made
	Made   string   // the bank's id of what was made, or of the effect
	Amount int64    // minor units
	Held   paylinks.Status
}

// Paid is the kind of what the customer of a link does.
const Paid = "customer"

// Bank is a backend of all these services.
type Bank struct {
	tell func(Effect)

	mu      sync.Mutex
	effects []Effect
	byKey   map[wire.Key]Effect // of services that honour Keys
	made    map[string]string   // kind by the id of what was made
	links   map[int64]*link
	loses   int // answers yet to be lost
	chance  *rand.Rand
	keyless bool
}

// NewBank makes a bank in which past has happened. tell hears of every effect as it happens, before anybody is answered; nil = nobody does.
func NewBank(tell func(Effect), past ...Effect) *Bank {
	b := &Bank{tell: tell, byKey: map[wire.Key]Effect{}, made: map[string]string{}, links: map[int64]*link{}}
	for _, e := range past {
		b.happen(e)
	}
	return b
}

// Lose loses every third answer, as chance has it, until n are lost; -1 = always.
func (b *Bank) Lose(n int, chance *rand.Rand) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.loses, b.chance = n, chance
}

// Forget makes a bank that sees no Keys: a tooth.
func (b *Bank) Forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.keyless = true
}

// Effects counts the effects of a Key.
func (b *Bank) Effects() map[wire.Key]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := map[wire.Key]int{}
	for _, e := range b.effects {
		if e.Key != "" {
			n[e.Key]++
		}
	}
	return n
}

// Services are the bank's own contracts.
func (b *Bank) Services() Services {
	return Services{bankPayments{b: b}, bankTokens{b}, bankLinks{b}, bankTransactions{b}, b.Pay}
}

// happen takes an effect over.
func (b *Bank) happen(e Effect) {
	b.effects = append(b.effects, e)
	if !strings.HasPrefix(e.Kind, "paylinks.") || e.Kind == "paylinks.create" {
		b.byKey[e.Key] = e
	}
	if e.About == "" {
		b.made[e.Made] = e.Kind
	}
	n, _ := strconv.ParseInt(e.About, 10, 64) // 0 where it is no number
	l := b.links[n]
	if n > toTransaction {
		l = b.links[n-toTransaction]
	}
	switch e.Kind {
	case "paylinks.create":
		n, _ = strconv.ParseInt(e.Made, 10, 64)
		b.links[n] = &link{total: e.Amount, held: e.Held}
	case "paylinks.delete":
		l.deleted = true
	case Paid:
		l.status = l.held
	case "paylinks.charge", "paylinks.capture":
		l.status, l.charged = paylinks.Confirmed, e.Amount
	case "paylinks.cancel":
		l.status = paylinks.Cancelled
	case "paylinks.refund":
		l.given += e.Amount
		if l.status = paylinks.PartiallyRefunded; l.given == l.charged {
			l.status = paylinks.Refunded
		}
	}
}

// act does something that may be done, and may lose the answer.
func (b *Bank) act(e Effect, may func() error) (Effect, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	old, again := b.byKey[e.Key]
	switch {
	case again && !b.keyless:
		e = old
	default:
		if err := may(); err != nil {
			return e, err
		}
		if e.Made = fmt.Sprint("B", e.Key); e.Kind == "paylinks.create" {
			e.Made = strconv.Itoa(firstLink + len(b.links))
		}
		b.happen(e)
		if b.tell != nil {
			b.tell(e)
		}
	}
	if b.loses != 0 && b.chance.IntN(3) == 0 {
		b.loses--
		return e, wire.Errorf(wire.UnknownOutcome, e.Kind, "no reply")
	}
	return e, nil
}

// about asks for a thing that was made by one of kinds.
func (b *Bank) about(id string, kinds ...string) func() error {
	return func() error {
		for _, k := range kinds {
			if b.made[id] == k {
				return nil
			}
		}
		return wire.Errorf(wire.NotFound, kinds[0], "the bank never gave the id %s", id)
	}
}

func always() error { return nil }
