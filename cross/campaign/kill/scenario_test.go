package kill

import (
	"context"
	"crypto/x509"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"time"

	"posagent/cross/env"
	"posagent/cross/need"
	"posagent/cross/tills"
	"posagent/ecr/till"
	"posagent/schemes/money"
)

// scenario is one sale of a till over any protocol. The terminal is killed, then the till goes on.
type scenario struct {
	tills.Scenario
	x    *terminal
	rng  *rand.Rand
	cut  int  // the till's connection breaks after so many bytes of the terminal; -1 = it does not
	calm bool // the kill comes after the answer
}

// scenario draws the ith scenario. The kinds take turns, so that a short campaign has all of them.
func (c *campaign) scenario(i int, p tills.Protocol, rng *rand.Rand) *scenario {
	s := &scenario{rng: rng, cut: -1, calm: i%4 >= 2, Scenario: tills.Scenario{
		Protocol: p, Amount: amounts[rng.IntN(len(amounts))], Next: money.Minor(500_000 + i), ID: fmt.Sprint(1_000_000 + i),
		Asks: p.Asks && i/4%2 == 0, Resend: rng.IntN(2) == 0, Again: rng.IntN(3) == 0, Exact: p.Confirms, Within: need.Limit(),
	}}
	if p.Reverses && !s.Asks { // half of those that do not ask
		s.Undoes = rng.IntN(2) == 0
	}
	if i%2 == 1 && (s.calm || rng.IntN(2) == 0) {
		s.cut = rng.IntN(16 << rng.IntN(9))
	}
	if s.calm && s.cut >= 0 { // an approval that is told, and not heard
		s.Amount = 0
		switch p.Name {
		case "caisse-ap":
			s.cut = rng.IntN(90)
		case "ecr17":
			s.cut = rng.IntN(200)
		}
	}
	if i%100 < env.Number("LINKS", 0) && s.Amount > 90003 { // a link's provider thinks for minutes
		s.Amount = 0
	}
	if s.Amount == 0 {
		s.Amount = money.Minor(1000 + i)
	}
	return s
}

// on gives the scenario its terminal.
func (s *scenario) on(x *terminal) {
	s.x, s.Terminal = x, view{x}
	s.Till = s.till(-1)
}

// till is a till whose connections break after so many bytes of the terminal; -1 = they do not.
func (s *scenario) till(cut int) *tills.Till {
	w := tills.Way{Addr: s.x.tcp, Name: "01", Token: tills.Token, Wait: need.Limit(), Dial: func(ctx context.Context) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.x.tcp)
		if err == nil && cut >= 0 {
			conn = tills.Breaking(conn, cut)
		}
		return conn, err
	}}
	if s.Name == "nexo" {
		w.Roots = func() (*x509.CertPool, error) {
			data, err := os.ReadFile(filepath.Join(s.x.dir, "nexo-nexo-tcp.pem"))
			roots := x509.NewCertPool()
			roots.AppendCertsFromPEM(data)
			return roots, err
		}
	}
	return s.New(w)
}

// view is what other processes see of a terminal.
type view struct{ x *terminal }

// Rows implements tills.Terminal.
func (v view) Rows(context.Context) ([]tills.Row, error) {
	if !v.x.Alive() {
		return nil, fmt.Errorf("the terminal died: %s", v.x.Cmd.ProcessState)
	}
	sales, err := v.x.journal()
	rows := make([]tills.Row, len(sales))
	for i, s := range sales {
		rows[i] = tills.Row{Reference: s.Reference, Result: s.Result, Told: s.Told, Amount: money.Minor(s.Amount), Settled: s.Settled}
	}
	return rows, err
}

// play plays the scenario to its end.
func (s *scenario) play() error {
	x := s.x
	if err := x.start(""); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), saleTime())
	defer cancel()
	asked := make(chan till.Answer, 1)
	go func() {
		a, _ := s.till(s.cut).Pay(ctx, s.Amount, s.ID) // an error: it was told nothing
		asked <- a
	}()
	if s.calm {
		s.First = <-asked
		if err := s.Recorded(ctx); err != nil {
			return err
		}
	} else {
		<-time.After(moment(s.rng))
	}
	x.kill()
	if !s.calm {
		s.First = <-asked
	}
	for range s.rng.IntN(3) { // killed again while it picks up the pieces
		if err := x.start(""); err != nil {
			return err
		}
		<-time.After(moment(s.rng) / 2)
		x.kill()
	}
	if err := x.start(""); err != nil {
		return err
	}
	return s.GoOn(ctx)
}
