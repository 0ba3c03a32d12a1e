package tills

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"posagent/ecr/till"
	"posagent/schemes/money"
)

// ecr17 asks by G for the last result of its register id. The protocol has no id of a sale, so the
// till must have made no other sale since.
type ecr17 struct{ Way }

func newECR17(w Way) Till { return ecr17{w} }

// form is the code of a payment: tills of even ids ask for extended payments, whose results have the
// amount.
func (ecr17) form(id string) string {
	if n, err := strconv.Atoi(strings.TrimRight(id, "n")); err == nil && n%2 == 0 {
		return "X"
	}
	return "P"
}

func (z ecr17) ask(ctx context.Context, request func(*till.ECR17) string, read func(said string) (Answer, error)) (Answer, error) {
	return z.over(ctx, func(conn net.Conn) (Answer, error) {
		t := till.NewECR17(conn, till.ECR17Options{ID: fmt.Sprintf("%08s", z.Name), Wait: z.Wait})
		said, err := t.Ask(request(t))
		switch {
		case errors.Is(err, till.ErrNAK):
			return Answer{Word: Busy, Text: err.Error()}, nil
		case said == "":
			return Answer{}, err
		}
		return read(said) // it has been read whole; the line may have broken under the ACK
	})
}

// Lengths of E, and what stands in it.
const (
	ecr17Payment  = 71
	ecr17Reversal = 84
	ecr17Extended = 92
	reversalAuth  = "000000" // the authorisation in the result of a reversal
)

var ecr17Reasons = map[string]Word{
	"NESSUNA OPERAZIONE": Unknown,
	// Nothing was done, or the end is not known yet.
	"TERMINALE NON PRONTO": Busy, "IN CORSO NON RIPETERE": Busy,
}

// result reads E. amount is what was asked for: that of a payment tells none.
func (z ecr17) result(said, form string, amount money.Minor) (Answer, error) {
	a := Answer{Text: fmt.Sprintf("%q", said)}
	if len(said) < ecr17Payment || said[9] != 'E' {
		return Answer{}, fmt.Errorf("no result: %s", a.Text)
	}
	switch size := map[string]int{"P": ecr17Payment, "S": ecr17Reversal, "X": ecr17Extended}[form]; said[10:12] {
	case "00":
		if len(said) != size || (said[34:40] == reversalAuth) != (form == "S") {
			return Answer{}, fmt.Errorf("the result of another request: %s", a.Text)
		}
		if a.Word, a.Amount = Approved, amount; form == "X" {
			n, err := strconv.ParseUint(said[74:82], 10, 32)
			if err != nil {
				return Answer{}, fmt.Errorf("no amount: %s", a.Text)
			}
			a.Amount = money.Minor(n)
		}
	case "01":
		if a.Word = ecr17Reasons[strings.TrimSpace(said[12:36])]; a.Word == Nothing {
			a.Word = NotPaid
		}
	default:
		return Answer{}, fmt.Errorf("the terminal says %s", a.Text)
	}
	return a, nil
}

// Pay implements Till.
func (z ecr17) Pay(ctx context.Context, amount money.Minor, id string) (Answer, error) {
	form := z.form(id)
	return z.ask(ctx, func(t *till.ECR17) string { return t.Sale(form, int64(amount)) },
		func(said string) (Answer, error) { return z.result(said, form, amount) })
}

// Again implements Till.
func (z ecr17) Again(ctx context.Context, amount money.Minor, id string, _ bool) (Answer, error) {
	return z.ask(ctx, (*till.ECR17).Last, func(said string) (Answer, error) { return z.result(said, z.form(id), amount) })
}

// Reverse implements Reverser.
func (z ecr17) Reverse(ctx context.Context) (Answer, error) {
	return z.ask(ctx, func(t *till.ECR17) string { return t.Reversal(0) },
		func(said string) (Answer, error) { return z.result(said, "S", 0) })
}
