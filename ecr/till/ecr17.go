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
	"TERMINALE NON PRONTO": Refused, "IN CORSO NON RIPETERE": Busy,
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
	form := &form{code: cmp.Or(s.Form, "X"), sure: s.Form != "", only: s.Form != ""}
	sale := ECR17Options{Terminal: terminal, ID: "00000009"}.Sale("P", 1250)
	return Protocol{
		Name: "ecr17", Can: Can{Asks: true, Names: true, Acks: true, Totals: true},
		Late: 500 * time.Millisecond, // a terminal waits for two seconds
		Hostile: []string{
			"\x02", "\x02\x03", "\x02\x03\x7c", "\x06\x03\x79\x06\x03\x79", "\x15\x03\x6a", "\x01ELABORAZIONE...     \x04", ECR17Frame(fold, sale)[:100], ECR17Frame(fold, sale[:166]),
			ECR17Frame(fold, strings.Replace(sale, "00001250", "0000125A", 1)), ECR17Frame(fold^0x55, sale), ECR17Frame(fold, terminal+"0J00000001"), ECR17Frame(fold, terminal+"0P"),
			"\x02" + strings.Repeat("P", 70000), "CZ0040300CJ012012345678901CA00201",
		},
		New: func(l Line) (Till, error) {
			t := NewECR17(l.Conn, ECR17Options{Terminal: terminal, ID: number(l.Name, 8), Cable: l.Cable, Fold: fold, Wait: cmp.Or(l.Wait, 3*time.Minute)})
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
	only bool // it was said beforehand: the result of another form is that of another request
}

// now is the form that is asked for now; only is "" where the result may have another.
func (f *form) now() (code, only string, sure bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.only {
		only = f.code
	}
	return f.code, only, f.sure
}

// until ends the connection with ctx.
func (z *ECR17) until(ctx context.Context) (release func() bool) {
	return context.AfterFunc(ctx, func() { _ = z.conn.Close() })
}

// reversed is the authorisation in the result of a reversal.
const reversed = "000000"

// Lengths of results, by the form of the request.
const (
	plainLen, reversalLen, extendedLen = 71, 84, 92
)

// read reads the result of a request of a form, or of the question for it. A plain one says no amount: it is that which was asked for.
func (z *ECR17) read(form string, amount money.Minor, said string) (Answer, error) {
	a := Answer{Raw: fmt.Sprintf("%q", said)}
	if len(said) < plainLen || said[9] != 'E' {
		return Answer{}, fmt.Errorf("no result: %q", said)
	}
	if said[10:12] != "00" {
		a.Text = strings.TrimRight(said[12:36], " ")
		a.Said = cmp.Or(reasons[a.Text], Declined)
		return a, nil
	}
	size := map[string]int{"P": plainLen, "S": reversalLen, "X": extendedLen}[form]
	if size > 0 && (len(said) != size || (said[34:40] == reversed) != (form == "S")) {
		return Answer{}, fmt.Errorf("the result of another request: %q", said)
	}
	number, err := strconv.Atoi(said[59:65])
	if err != nil {
		return Answer{}, fmt.Errorf("no number: %q", said)
	}
	a.Said, a.Amount, a.Receipt = Approved, amount, number
	if len(said) >= extendedLen {
		n, err := strconv.ParseUint(said[74:82], 10, 32)
		if err != nil {
			return Answer{}, fmt.Errorf("no amount: %q", said)
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

// Greet implements Till: ECR17 has no word for it, and none for a terminal for tests.
func (z *ECR17) Greet(context.Context) (bool, error) { return false, nil }

// Pay implements Till.
func (z *ECR17) Pay(ctx context.Context, amount money.Minor, _ string) (Answer, error) {
	defer z.until(ctx)()
	code, only, sure := z.form.now()
	said, err := z.ask(z.Sale(code, int64(amount)), z.running)
	if errors.Is(err, ErrNAK) && !sure { // nothing was done: the terminal may have the plain form alone
		code = "P"
		said, err = z.ask(z.Sale(code, int64(amount)), z.running)
	}
	if err == nil {
		z.form.mu.Lock()
		z.form.code, z.form.sure = code, true
		z.form.mu.Unlock()
	}
	return z.answer(only, amount, said, err, Refused)
}

// answer is what a request has come to; nak is what a NAK says. What was read whole counts, though the line may have broken under the ACK.
func (z *ECR17) answer(form string, amount money.Minor, said string, err error, nak Said) (Answer, error) {
	switch {
	case errors.Is(err, ErrNAK):
		return Answer{Said: nak, Raw: err.Error()}, nil
	case said == "":
		return Answer{}, err
	}
	a, wrong := z.read(form, amount, said)
	return a, cmp.Or(wrong, err)
}

// Again implements Till. A terminal that cannot say it now says NAK.
func (z *ECR17) Again(ctx context.Context, amount money.Minor, _ string) (Answer, error) {
	defer z.until(ctx)()
	_, only, _ := z.form.now()
	said, err := z.ask(z.Last(), nil)
	return z.answer(only, amount, said, err, Busy)
}

// Reverse implements Reverser.
func (z *ECR17) Reverse(ctx context.Context) (Answer, error) {
	defer z.until(ctx)()
	said, err := z.ask(z.Reversal(0), nil)
	return z.answer("S", 0, said, err, Refused)
}

// Abort implements Till: ECR17 has none.
func (z *ECR17) Abort(context.Context, string) (bool, error) { return false, ErrNoWord }

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
