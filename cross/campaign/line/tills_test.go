package line

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/env"
	"posagent/cross/need"
	"posagent/cross/stack"
	"posagent/cross/stack/stacktest"
	"posagent/cross/tills"
	"posagent/ecr"
	"posagent/ecr/caisseap"
	caisse "posagent/ecr/caisseap/protocol"
	"posagent/ecr/ecr17"
	italian "posagent/ecr/ecr17/protocol"
	"posagent/ecr/jsonl"
	jsonlines "posagent/ecr/jsonl/protocol"
	"posagent/ecr/nexo"
	"posagent/ecr/till"
	"posagent/schemes/money"
	"posagent/schemes/wire"
)

// speaks are the protocols that registers speak over a network in memory, by their names. HTTP is the local port's.
var speaks = map[string]func(t *testing.T) *ecr.Protocol{
	"jsonl": jsonLines,
	"nexo": func(t *testing.T) *ecr.Protocol {
		p, err := nexo.New(nexo.Options{POIID: "POSAGENT-000020000001", TerminalID: "29001006", MerchantID: "merchant", MerchantName: "Campaign", Currency: "EUR"})
		require.NoError(t, err)
		return &p
	},
	"caisse-ap": func(*testing.T) *ecr.Protocol {
		p := caisse.New(caisse.Options{Config: caisseap.Config{Currency: "EUR"}})
		return &p
	},
	"ecr17": func(*testing.T) *ecr.Protocol {
		p := italian.New(italian.Options{Config: ecr17.Config{Currency: "EUR", MerchantName: "Campaign"}})
		return &p
	},
	"http": func(*testing.T) *ecr.Protocol { return nil },
}

func jsonLines(*testing.T) *ecr.Protocol {
	p := jsonlines.New(jsonlines.Options{JSONL: jsonl.Config{TerminalID: "29001006", Currency: "EUR", MerchantName: "Campaign"}})
	return &p
}

// over are the protocols of this campaign: those that PROTOCOLS names, or all that are spoken over a network.
func over(t *testing.T) (list []tills.Protocol) {
	t.Helper()
	all, err := tills.Chosen(os.Getenv("PROTOCOLS"))
	require.NoError(t, err)
	for _, p := range all {
		if p.Name == "zvt" { // it has the cable to itself
			continue
		}
		require.NotNil(t, speaks[p.Name], "%s is not spoken here", p.Name)
		list = append(list, p)
	}
	require.NotEmpty(t, list, "zvt has its own campaign: leave PROTOCOLS out")
	return list
}

// view is what a scenario sees of a terminal.
type view struct{ s *stack.Stack }

// Rows implements tills.Terminal.
func (v view) Rows(ctx context.Context) (rows []tills.Row, err error) {
	sales, err := v.s.Journal(ctx)
	for _, x := range sales {
		rows = append(rows, tills.Row{Reference: x.Reference, Result: x.Result, Told: x.Told, Amount: x.Amount, Settled: !x.Active})
	}
	return rows, err
}

// dial connects a till.
type dial = func(ctx context.Context, k *stack.Stack) (net.Conn, error)

// scenario is one sale of a till, on a terminal of its own.
type scenario struct {
	p    tills.Protocol
	seed uint64
	i    int
	o    stack.Options
	// first lets the till ask for its sale, with pay, and lets happen what happens then.
	first func(ctx context.Context, k *stack.Stack, s *tills.Scenario, pay func(dial) till.Answer) error
	cable dial // of a till on a cable; nil = it is on a wire
}

// overWire connects a till to the wire.
func overWire(ctx context.Context, k *stack.Stack) (net.Conn, error) { return k.Wire.Dial(ctx) }

// play plays it, and returns what is wrong.
func (x scenario) play(t *testing.T) (r result) {
	t.Helper()
	o := x.o
	o.Seed, o.Methods, o.Unit, o.WalletDelay = x.seed, stack.ShortTimeouts, "ms", walletDelay
	way := overWire
	switch speak := speaks[x.p.Name](t); {
	case x.cable != nil:
		o.Serial, way = speak, x.cable
	case speak == nil:
		o.Sales = wire.Secret(tills.Token)
	default:
		o.TCP = speak
	}
	rng := rand.New(rand.NewPCG(x.seed, uint64(x.i)))
	s := tills.Scenario{
		Protocol: x.p, Amount: money.Minor(1000 + x.i), Next: money.Minor(500_000 + x.i), ID: fmt.Sprint(1_000_000 + x.i),
		Asks: x.p.Asks && (x.cable != nil || x.i%2 == 0), Resend: rng.IntN(2) == 0, Again: rng.IntN(3) == 0, Exact: x.cable == nil,
	}
	if x.p.Reverses && !s.Asks { // half of those that do not ask
		s.Undoes = rng.IntN(2) == 0
	}
	play := func(life context.Context, t *testing.T, k *stack.Stack) {
		ctx, cancel := context.WithTimeout(life, 4*time.Hour)
		defer cancel()
		one := func(d dial) *tills.Till {
			return x.p.New(tills.Way{
				Addr: k.Wire.Addr().String(), Name: "01", Token: tills.Token, Wait: 10 * time.Minute,
				Dial: func(ctx context.Context) (net.Conn, error) { return d(ctx, k) },
			})
		}
		s.Till, s.Terminal = one(way), view{k}
		err := x.first(ctx, k, &s, func(d dial) till.Answer {
			a, _ := one(d).Pay(ctx, s.Amount, s.ID) // an error: it was told nothing
			return a
		})
		if err == nil {
			err = s.GoOn(ctx)
		}
		if err != nil {
			r.wrong = append(r.wrong, err.Error())
		}
		wrong, err := k.Compare(life, []stack.Belief{{Amount: s.Amount, Approved: s.Paid}, {Amount: s.Next, Approved: s.NextPaid}})
		require.NoError(t, err)
		verdict, err := k.Verdict(life)
		require.NoError(t, err)
		r.amounts, r.wrong = len(wrong), append(append(r.wrong, wrong...), verdict...)
		counts := k.Cable.Counts()
		r.blocks, r.harmed = counts.Blocks, counts.Harmed
	}
	if o.Dir != "" {
		stacktest.Play(t, o, play)
	} else {
		stacktest.Life(t, o, play)
	}
	for i := range r.wrong {
		r.wrong[i] = s.String() + ": " + r.wrong[i]
	}
	if r.sales = 1; s.Paid {
		r.approved = 1
	}
	if len(s.References[s.Next]) > 0 {
		r.sales++
		r.approved++
	}
	return r
}

// TestTillsPulledAtEveryByte: over each protocol the connection breaks at every byte of a sale, either way. Then the till asks in its
// protocol's way, or goes on with its next sale.
func TestTillsPulledAtEveryByte(t *testing.T) {
	seed := env.Seed()
	for _, p := range over(t) {
		t.Run(p.Name, func(t *testing.T) {
			one := func(i int, way stack.Direction, at int, seen *[2]int) result {
				return scenario{p: p, seed: seed + uint64(i), i: i, first: func(ctx context.Context, _ *stack.Stack, s *tills.Scenario, pay func(dial) till.Answer) error {
					s.First = pay(func(ctx context.Context, k *stack.Stack) (net.Conn, error) {
						conn, err := k.Wire.Dial(ctx)
						return &stack.Snip{Conn: conn, Way: way, Left: at, Seen: seen}, err
					})
					if i%4 < 2 { // else it goes on while the telling may still be recorded
						return s.Recorded(ctx)
					}
					return nil
				}}.play(t)
			}
			var length [2]int
			clean := one(0, stack.ToTerminal, -1, &length)
			require.Empty(t, clean.wrong)
			require.Equal(t, clean.sales, clean.approved)
			type place struct {
				way stack.Direction
				at  int
			}
			var places []place
			for way, n := range length {
				require.Positive(t, n)
				for at := range n + 1 {
					places = append(places, place{stack.Direction(way), at})
				}
			}
			rng := rand.New(rand.NewPCG(seed, 8))
			rng.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
			n := min(len(places), env.Number("FRAMES", need.Size(1000, 4000))/200)
			var all result
			for i := range n {
				all.add(one(1+i, places[i].way, places[i].at, new([2]int)))
			}
			all.report(t, fmt.Sprintf("%s, broken at %d of %d places", p.Name, n, len(places)), seed)
			require.Positive(t, all.approved)
		})
	}
}

// onCable is an end of the cable as a till takes it.
type onCable struct{ stack.Conn }

func (onCable) LocalAddr() net.Addr                { return nil }
func (onCable) RemoteAddr() net.Addr               { return nil }
func (onCable) SetDeadline(time.Time) error        { return nil }
func (onCable) SetWriteDeadline(t time.Time) error { return nil }

// TestJSONLinesInNoise: JSON lines on a cable in every kind of weather, which gets better after the till has asked a few times.
func TestJSONLinesInNoise(t *testing.T) {
	seed, n := env.Seed(), env.Number("FRAMES", need.Size(1000, 4000))/200
	p, err := tills.Chosen("jsonl")
	require.NoError(t, err)
	table := weathers()
	var all result
	for i := range n {
		var opened atomic.Int64
		one := scenario{p: p[0], seed: seed + uint64(i), i: 1 + i}
		one.cable = func(ctx context.Context, k *stack.Stack) (net.Conn, error) {
			d := table[i%len(table)].d
			if opened.Add(1) > 4 {
				d = stack.Damage{}
			}
			k.Cable.Spoil(d, d)
			conn, err := k.Cable.Register().Open(ctx)
			return onCable{conn}, err
		}
		one.first = func(_ context.Context, _ *stack.Stack, s *tills.Scenario, pay func(dial) till.Answer) error {
			s.First = pay(one.cable)
			return nil
		}
		r := one.play(t)
		r.asked = int(opened.Load()) - 1
		all.add(r)
	}
	all.report(t, "JSON lines, noise", seed)
	require.Positive(t, all.approved)
	require.Positive(t, all.harmed)
}
