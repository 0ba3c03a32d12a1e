package kill

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"posagent/cross/env"
	"posagent/schemes/money"
)

// amounts is what the registers ask for: mostly plain sales, some of the backend's scenarios (900.xx).
var amounts = []money.Minor{0, 0, 0, 0, 90003, 90010, 90012, 90013, 90016, 90021, 90022, 90023}

// TestKill: terminals, one sale and at least one kill each, at random moments. The first is killed after its answer, the second
// is declined: a short campaign has an approval, and a sale without one.
func TestKill(t *testing.T) {
	t.Parallel()
	n, seedNo := share(killed), env.Seed()
	t.Logf("seed %d, %d sales, %d terminals at a time", seedNo, n, workers)
	c := begin(t, false)
	results := make([]told, n)
	c.all(n, func(i int) (err error) {
		rng := rand.New(rand.NewPCG(seedNo, uint64(i)))
		amount := amounts[rng.IntN(len(amounts))]
		switch i {
		case 0:
			amount = 0
		case 1:
			amount = 90003
		}
		if i%100 < env.Number("LINKS", 0) && amount > 90003 { // a link's provider thinks for minutes
			amount = 0
		}
		if amount == 0 {
			amount = money.Minor(1000 + i)
		}
		results[i] = told{amount: amount}
		x, err := c.terminal(i)
		if err == nil && i%6 == 5 && i%100 >= env.Number("LINKS", 0) {
			err = x.attended()
		}
		if err == nil {
			results[i].name = x.dir
			err = x.finish(x.moments(rng, &results[i], i == 0))
		}
		return err
	})
	c.check(results)
}

// moments tells the story of one sale. calm kills the terminal after its answer.
func (x *terminal) moments(rng *rand.Rand, res *told, calm bool) error {
	if err := x.start(""); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), saleTime())
	defer cancel()
	x.watched(ctx)
	asked := x.pay(ctx, res.amount, 0, !calm && rng.IntN(4) == 0)
	var first answer
	if calm {
		first = <-asked
	} else {
		<-time.After(moment(rng))
	}
	x.kill()
	if !calm {
		first = <-asked
	}
	for range rng.IntN(3) { // killed again while it picks up the pieces
		if err := x.start(""); err != nil {
			return err
		}
		<-time.After(moment(rng) / 2)
		x.kill()
	}
	if err := x.start(""); err != nil {
		return err
	}
	return x.conclude(ctx, res, first)
}

// moment is a random time within a sale's life, early ones as likely as late ones.
func moment(rng *rand.Rand) time.Duration {
	if rng.IntN(2) == 0 {
		return time.Duration(rng.IntN(60_000)) * time.Microsecond
	}
	return time.Duration(rng.IntN(600)) * time.Millisecond
}
