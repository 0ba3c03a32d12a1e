package zvt

import (
	"context"
	"fmt"

	"posagent/ecr/zvt/apdu"
	"posagent/schemes/money"
)

// Register sends 06 00. Result.TerminalID and Result.Status are the terminal's.
func (r *Register) Register(ctx context.Context) (Result, error) {
	config := r.habit.Config
	if r.opt.Config != 0 {
		config = r.opt.Config
	}
	prefix := append(r.pw(false), config)
	if !r.habit.NoRegCurrency {
		cc, err := apdu.PackBCD(int64(r.currency.Numeric), 2)
		if err != nil {
			return Result{}, err
		}
		prefix = append(prefix, cc...)
	}
	m := apdu.NewPrefixed(apdu.Registration, prefix)
	if r.habit.ServiceByte >= 0 {
		m.Fields = append(m.Fields, apdu.Bytes(0x03, byte(r.habit.ServiceByte)))
	}
	objects := append([]apdu.TLV{}, r.habit.RegistrationTLV...)
	if r.opt.Sequence {
		objects = append(objects, apdu.PrimitiveBCD(tagSequence, 0, 3))
	}
	if len(objects) > 0 {
		m.Fields = append(m.Fields, apdu.Container(objects...))
	}
	r.mu.Lock()
	r.useSeq = false
	r.mu.Unlock()
	return r.Command(ctx, m, true)
}

// PayOptions are what a register may add to a payment.
type PayOptions struct {
	CardType  int  // selects a wallet; above 254 it is sent as TLV 41; 0 = none
	MaxStatus int  // BMP 02: how often 84 9C may be answered to 04 0F; 0 = not sent
	TLV       bool // send a container, empty if there is nothing in it
	Sequence  int  // TLV 1F73 of this command instead of the next one; 0 = none
	Objects   []apdu.TLV
}

// Pay sends 06 01. currency "" is the register's own. An amount of 0 sends none.
func (r *Register) Pay(ctx context.Context, amount money.Minor, currency string, opt PayOptions) (Result, error) {
	m := apdu.New(apdu.Authorisation)
	add := func(f ...apdu.Field) { m.Fields = append(m.Fields, f...) }
	if opt.MaxStatus > 0 {
		add(apdu.Bytes(0x02, byte(min(opt.MaxStatus, 0xFF))))
	}
	if amount != 0 {
		add(apdu.Amount(int64(amount)))
	}
	cc, err := r.currencyField(currency)
	if err != nil {
		return Result{}, err
	}
	add(cc...)
	objects := append([]apdu.TLV{}, opt.Objects...)
	switch {
	case opt.CardType > 0xFE:
		objects = append(objects, apdu.Primitive(0x41, byte(opt.CardType>>8), byte(opt.CardType)))
	case opt.CardType > 0:
		add(apdu.Bytes(0x8A, byte(opt.CardType)))
	}
	if opt.Sequence > 0 {
		objects = append(objects, apdu.PrimitiveBCD(tagSequence, int64(opt.Sequence), 3))
	}
	if opt.TLV || r.habit.SaleContainer || len(objects) > 0 {
		add(apdu.Container(objects...))
	}
	return r.Command(ctx, m, true)
}

// currencyField is BMP 49 where it has to be sent.
func (r *Register) currencyField(currency string) ([]apdu.Field, error) {
	cur := r.currency
	if currency != "" {
		var ok bool
		if cur, ok = money.Lookup(currency); !ok {
			return nil, fmt.Errorf("register: currency %q is not known", currency)
		}
	}
	if !r.habit.SaleCurrency && cur.Alpha == r.currency.Alpha {
		return nil, nil
	}
	return []apdu.Field{apdu.Currency(int(cur.Numeric))}, nil
}

// Reverse sends 06 30 for a receipt number. amount 0 sends none.
func (r *Register) Reverse(ctx context.Context, receipt int, amount money.Minor) (Result, error) {
	m := apdu.NewPrefixed(apdu.Reversal, r.pw(true), apdu.Receipt(receipt))
	if amount != 0 {
		m.Fields = append(m.Fields, apdu.Amount(int64(amount)))
	}
	return r.Command(ctx, m, true)
}

// Refund sends 06 31. original names the sale given back: "R" and a receipt number, or "T" and a transaction id;
// "" leaves it to the terminal.
func (r *Register) Refund(ctx context.Context, amount money.Minor, currency, original string) (Result, error) {
	cc, err := r.currencyField(currency)
	if err != nil {
		return Result{}, err
	}
	m := apdu.NewPrefixed(apdu.RefundCmd, r.pw(false), append([]apdu.Field{apdu.Amount(int64(amount))}, cc...)...)
	if original != "" {
		m.Fields = append(m.Fields, apdu.Container(apdu.PrimitiveText(0x1F0D, apdu.ASCII, original)))
	}
	return r.Command(ctx, m, true)
}

// RepeatStatus is the service byte of a Repeat that wants 04 0F.
const RepeatStatus = 0x01

// Repeat sends 06 20 and so learns how the last command ended. service -1 sends no service byte.
func (r *Register) Repeat(ctx context.Context, service int) (Result, error) {
	m := apdu.NewPrefixed(apdu.RepeatReceipt, r.pw(false))
	if service >= 0 {
		m.Fields = []apdu.Field{apdu.Bytes(0x03, byte(service))}
	}
	return r.Command(ctx, m, true)
}

// EndOfDay sends 06 50.
func (r *Register) EndOfDay(ctx context.Context) (Result, error) {
	return r.Command(ctx, apdu.NewPrefixed(apdu.EndOfDay, r.pw(true)), true)
}

// Turnover sends 06 10.
func (r *Register) Turnover(ctx context.Context) (Result, error) {
	return r.Command(ctx, apdu.NewPrefixed(apdu.TurnoverTotals, r.pw(false)), true)
}

// Status sends 05 01. Result.Status is the terminal's.
func (r *Register) Status(ctx context.Context) (Result, error) {
	m := apdu.NewPrefixed(apdu.StatusEnquiry, r.pw(false))
	if r.habit.StatusService >= 0 {
		m.Fields = []apdu.Field{apdu.Bytes(0x03, byte(r.habit.StatusService))}
	}
	return r.Command(ctx, m, true)
}

// Diagnosis sends 06 70.
func (r *Register) Diagnosis(ctx context.Context) (Result, error) {
	return r.Command(ctx, apdu.New(apdu.Diagnosis), true)
}

// Abort sends 06 B0. While a command runs it goes beside it, and that command then ends by itself; Result.Refused:
// it is too late. Without a running command it is an ordinary command.
func (r *Register) Abort(ctx context.Context) (Result, error) {
	m := apdu.New(apdu.AbortECR)
	res := Result{Command: m.Cmd.Name()}
	reply, line, ok := r.join()
	if !ok {
		return r.Command(ctx, m, false)
	}
	if err := r.send(ctx, line, m); err != nil {
		r.leave(reply)
		return res, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, r.opt.T3, ErrNoAnswer)
	defer cancel()
	select {
	case a := <-reply:
		if !a.Cmd.IsOK() {
			res.Refused, res.Code = true, a.Cmd.Code()
		}
		res.finish()
		return res, nil
	case <-ctx.Done():
		return res, context.Cause(ctx)
	}
}
