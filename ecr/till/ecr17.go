package till

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"posagent/schemes/money"
)

// folds are what the scopes of check bytes add to them.
var folds = map[string]byte{"": 0, "std": 0, "stx": 1, "noext": 3, "stx_noext": 2}

// The words of a result that is no approval. A terminal may have others: then the sale counts as declined.
var reasons = map[string]Said{
	"ANNULLATO": Aborted, "TEMPO SCADUTO": Aborted, "ABORTED": Aborted, "TIME IS OVER": Aborted,
	"NESSUNA OPERAZIONE": NotFound, "NESSUN ESITO RECENTE": NotFound, "NO TRANSACTION": NotFound, "NO RECENT RESULT": NotFound,
}

// ecr17 is a register of ECR17 over TCP. Each name is a register id.
func ecr17(s Settings) (Protocol, error) {
	fold, known := folds[s.LRC]
	terminal := cmp.Or(s.TerminalID, "00000000")
	switch {
	case !known:
		return Protocol{}, fmt.Errorf("no check byte %q: std, stx, noext, stx_noext", s.LRC)
	case len(terminal) != 8:
		return Protocol{}, fmt.Errorf("the terminal id %q has not eight characters", s.TerminalID)
	}
	form := &form{code: "X"}
	sale := ECR17Options{Terminal: terminal, ID: "00000009"}.Sale("P", 1250)
	return Protocol{
		Name: "ecr17", Can: Can{Asks: true, Names: true, Acks: true, Totals: true},
		Late: 500 * time.Millisecond, // a terminal waits for two seconds
		Hostile: []string{
			"\x02", "\x02\x03", "\x02\x03\x7c", "\x06\x03\x79\x06\x03\x79", "\x15\x03\x6a", "\x01ELABORAZIONE...     \x04", ECR17Frame(fold, sale)[:100], ECR17Frame(fold, sale[:166]),
			ECR17Frame(fold, strings.Replace(sale, "00001250", "0000125A", 1)), ECR17Frame(fold^0x55, sale), ECR17Frame(fold, terminal+"0J00000001"), ECR17Frame(fold, terminal+"0P"),
			"\x02" + strings.Repeat("P", 70000), "CZ0040300CJ012012345678901CA00201",
		},
		Dial: func(_ context.Context, l Line) (Till, error) {
			t := NewECR17(l.Conn, ECR17Options{Terminal: terminal, ID: number(l.Name, 8), Cable: l.Cable, Fold: fold, Wait: 3 * time.Minute})
			t.form, t.running = form, l.Running
			return t, nil
		},
	}, nil
}

// form is the request that a terminal takes for a payment: the extended one, whose result has the amount, or the plain one.
type form struct {
	mu   sync.Mutex
	code string
	sure bool
}

// until ends the connection with ctx.
func (z *ECR17) until(ctx context.Context) (release func() bool) {
	return context.AfterFunc(ctx, func() { _ = z.conn.Close() })
}

// read reads the result of a payment, or of the question for it. A plain one says no amount: it is that which was asked for.
func (z *ECR17) read(amount money.Minor, said string) (Answer, error) {
	if len(said) < 71 || said[9] != 'E' {
		return Answer{Said: Nothing}, fmt.Errorf("no result: %q", said)
	}
	if said[10:12] != "00" {
		text := strings.TrimRight(said[12:36], " ")
		return Answer{Said: cmp.Or(reasons[text], Declined), Text: text}, nil
	}
	a := Answer{Said: Approved, Amount: amount}
	var err error
	if a.Receipt, err = strconv.Atoi(said[59:65]); err != nil {
		return Answer{Said: Nothing}, fmt.Errorf("no number: %q", said)
	}
	if len(said) >= 92 {
		n, err := strconv.ParseInt(said[74:82], 10, 64)
		if err != nil {
			return Answer{Said: Nothing}, fmt.Errorf("no amount: %q", said)
		}
		a.Amount = money.Minor(n)
	}
	return a, nil
}

// ask sends a request, hears that it is taken, and returns its result, which it has acknowledged. running may be nil.
func (z *ECR17) ask(payload string, running func()) (string, error) {
	early, err := z.Begin(payload)
	switch {
	case err != nil:
		return "", err
	case early != "":
		return early, z.Ack()
	}
	if running != nil {
		running()
	}
	return z.Result()
}

// Pay implements Till.
func (z *ECR17) Pay(ctx context.Context, amount money.Minor, _ string) (Answer, error) {
	defer z.until(ctx)()
	z.form.mu.Lock()
	code, sure := z.form.code, z.form.sure
	z.form.mu.Unlock()
	said, err := z.ask(z.Sale(code, int64(amount)), z.running)
	if errors.Is(err, ErrNAK) && !sure { // nothing was done: the terminal may have the plain form alone
		code = "P"
		said, err = z.ask(z.Sale(code, int64(amount)), z.running)
	}
	switch {
	case errors.Is(err, ErrNAK):
		return Answer{Said: Refused}, nil
	case err != nil:
		return Answer{Said: Nothing}, err
	}
	z.form.mu.Lock()
	z.form.code, z.form.sure = code, true
	z.form.mu.Unlock()
	return z.read(amount, said)
}

// Again implements Till. A terminal that cannot say it now says NAK.
func (z *ECR17) Again(ctx context.Context, amount money.Minor, _ string) (Answer, error) {
	defer z.until(ctx)()
	for {
		said, err := z.ask(z.Last(), nil)
		if err == nil {
			return z.read(amount, said)
		}
		if !errors.Is(err, ErrNAK) {
			return Answer{Said: Nothing}, err
		}
		if err := Pause(ctx); err != nil {
			return Answer{Said: Nothing}, err
		}
	}
}

// Abort implements Till: ECR17 has none.
func (z *ECR17) Abort(context.Context, string) (bool, error) {
	return false, ErrNoWord
}

// Totals implements Till: a sum.
func (z *ECR17) Totals(ctx context.Context) (Totals, error) {
	defer z.until(ctx)()
	said, err := z.ask(z.Sums(), nil)
	if err == nil && (len(said) < 28 || said[9] != 'T' || said[10:12] != "00") {
		err = fmt.Errorf("no totals: %q", said)
	}
	if err != nil {
		return Totals{}, err
	}
	sum, err := strconv.ParseInt(said[12:28], 10, 64)
	return Totals{Count: -1, Sum: money.Minor(sum)}, err
}

// Test implements Till: ECR17 has no word for it.
func (z *ECR17) Test() bool { return false }
