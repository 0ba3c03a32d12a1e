package stack

import (
	"context"
	"fmt"
	"time"

	"posagent/ecr/till/zvt"
	"posagent/ecr/zvt/apdu"
	"posagent/ecr/zvt/frame"
	"posagent/schemes/backend"
	"posagent/schemes/money"
)

// Belief is what a register knows of one sale at the end.
type Belief struct {
	Amount   money.Minor
	Approved bool
	Receipt  int
	Asked    int    // how often it asked again
	Said     string // what it last heard
}

// Plan is how one sale goes, seen from the register.
type Plan struct {
	Amount  money.Minor
	Habit   zvt.Habit
	AbortAt time.Duration        // 06 B0 so long after the sale began; 0 = none
	DieAt   time.Duration        // the register dies so long after the sale began, 0 = never
	DeadFor time.Duration        // and comes back after
	React   zvt.React            // nil = a careful register
	Again   func(n int)          // before it asks for the nth time
	Within  time.Duration        // until it gives up asking; 0 = 2 h
	Tap     func(string, []byte) // sees the APDUs
}

// careful refuses an approval of an amount that was not asked for: no goods are handed out for that. An earlier sale
// may be told again, if it was approved.
func (s *Stack) careful(amount money.Minor) zvt.React {
	return func(m apdu.Message) zvt.Reaction {
		if m.Cmd != apdu.StatusInfo {
			return zvt.Reaction{}
		}
		code, ok := m.Result()
		minor, _, err := m.Amount()
		if ok && code == 0 && (err != nil || money.Minor(minor) != amount && !s.approved[money.Minor(minor)]) {
			return zvt.Reaction{Code: zvt.CodeGoodsFailed}
		}
		return zvt.Reaction{}
	}
}

func (s *Stack) register(p Plan) (*zvt.Register, error) {
	return zvt.Dial(context.Background(), "cable", zvt.Options{
		Habit: p.Habit, React: p.React, Tap: p.Tap,
		OpenSerial: func(ctx context.Context, _ string) (frame.Conn, error) { return s.Cable.Register().Open(ctx) },
	})
}

// Dial opens the register's end of the cable; tap sees the APDUs; it may be nil. The caller closes it.
func (s *Stack) Dial(tap func(direction string, data []byte)) (*zvt.Register, error) {
	return s.register(Plan{Habit: zvt.Steady(), Tap: tap})
}

// Sell makes one sale and asks again with 06 20 until the answer is definite. Amounts have to be unique in the life
// of a terminal: the protocol has no other name for a sale that never got a receipt number.
func (s *Stack) Sell(ctx context.Context, p Plan) (b Belief, err error) {
	if p.React == nil {
		p.React = s.careful(p.Amount)
	}
	defer func() { s.approved[p.Amount] = b.Approved }()
	if p.Within == 0 {
		p.Within = 2 * time.Hour
	}
	if p.Habit.Name == "" {
		p.Habit = zvt.Steady()
	}
	b = Belief{Amount: p.Amount}
	ctx, cancel := context.WithTimeout(ctx, p.Within)
	defer cancel()
	var heard hearing
	p.Tap = heard.listen(p.Tap)
	first, err := s.pay(ctx, p)
	b.Said = fmt.Sprintf("%+v, %v", first, err)
	if err == nil && heard.told {
		b.Approved, b.Receipt = first.Approved && first.Amount == p.Amount, first.Receipt
		return b, nil
	}
	p.React = s.careful(p.Amount)
	for {
		b.Asked++
		if p.Again != nil {
			p.Again(b.Asked)
		}
		heard = hearing{}
		r, err := s.ask(ctx, p)
		b.Said = fmt.Sprintf("%+v, %v", r, err)
		none := r.Refused && r.Code == zvt.CodeImpossible // there was never a sale
		if err == nil && (heard.told || none) {
			b.Approved, b.Receipt = r.Approved && r.Amount == p.Amount, r.Receipt
			if first.Approved && !b.Approved {
				return b, fmt.Errorf("told approved (%+v), then otherwise (%+v)", first, r)
			}
			return b, nil
		}
		if !wait(ctx, time.Second) {
			return b, fmt.Errorf("no definite answer in %v: %s", p.Within, b.Said)
		}
	}
}

// hearing tells a definite answer from what belongs to an earlier dialogue: a result is a 04 0F after the 80 00 to the
// command. The end of a dialogue alone, which may be the repeated end of the one before, says nothing.
type hearing struct{ taken, told bool }

func (h *hearing) listen(next func(string, []byte)) func(string, []byte) {
	return func(direction string, data []byte) {
		switch {
		case direction == "in" && data[0] == 0x80:
			h.taken = true
		case direction == "in" && data[0] == 0x04 && data[1] == 0x0F && h.taken:
			h.told = true
		}
		if next != nil {
			next(direction, data)
		}
	}
}

// pay sends 06 01, with what else the plan says.
func (s *Stack) pay(ctx context.Context, p Plan) (res zvt.Result, err error) {
	r, err := s.register(p)
	if err != nil {
		return res, err
	}
	defer r.Close()
	over := make(chan struct{})
	helper := make(chan struct{})
	go func() {
		defer close(helper)
		if p.AbortAt > 0 {
			select {
			case <-time.After(p.AbortAt):
				_, _ = r.Abort(ctx) // its answer says nothing the end of the sale does not say
			case <-over:
			}
		}
		if p.DieAt > 0 {
			select {
			case <-time.After(p.DieAt):
				r.Disconnect()
			case <-over:
			}
		}
	}()
	res, err = r.Pay(ctx, p.Amount, "EUR", zvt.PayOptions{})
	close(over)
	<-helper
	if err != nil && p.DieAt > 0 {
		wait(ctx, p.DeadFor)
	}
	return res, err
}

func (s *Stack) ask(ctx context.Context, p Plan) (zvt.Result, error) {
	r, err := s.register(p)
	if err != nil {
		return zvt.Result{}, err
	}
	defer r.Close()
	return r.Repeat(ctx, zvt.RepeatStatus)
}

// Compare holds what registers believe against the backend's books; it wants every sale settled. An empty answer is a
// good one.
func (s *Stack) Compare(ctx context.Context, beliefs []Belief) (wrong []string, err error) {
	list, err := s.Backend.Books(ctx)
	if err != nil {
		return nil, err
	}
	net := backend.NetByReference(list)
	sales, err := s.Journal(ctx)
	if err != nil {
		return nil, err
	}
	journalled, got, story := map[string]bool{}, map[money.Minor]money.Minor{}, map[money.Minor][]string{}
	for _, x := range sales {
		journalled[x.Reference] = true
		got[x.Amount] += net[x.Reference]
		story[x.Amount] = append(story[x.Amount], fmt.Sprintf("%+v", x))
		story[x.Amount] = append(story[x.Amount], s.Story(ctx, x.Key)...)
	}
	believed := map[money.Minor]bool{}
	for _, b := range beliefs {
		believed[b.Amount] = true
		want := money.Minor(0)
		if b.Approved {
			want = b.Amount
		}
		if got[b.Amount] != want {
			wrong = append(wrong, fmt.Sprintf("told approved=%v of %d, the books have %d; heard %s; journal %q", b.Approved, b.Amount, got[b.Amount], b.Said, story[b.Amount]))
		}
	}
	for amount, sum := range got {
		if !believed[amount] && sum != 0 {
			wrong = append(wrong, fmt.Sprintf("%d moved for a sale nobody made: %q", sum, story[amount]))
		}
	}
	for ref, sum := range net {
		if !journalled[ref] && sum != 0 {
			wrong = append(wrong, fmt.Sprintf("%d moved under %s, which the journal does not know", sum, ref))
		}
	}
	var total int64
	for _, e := range list {
		for _, x := range e.Postings {
			total += int64(x.Amount)
		}
	}
	if total != 0 {
		wrong = append(wrong, fmt.Sprintf("the postings sum to %d", total))
	}
	return wrong, nil
}
