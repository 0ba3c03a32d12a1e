package session

import (
	"context"
	"errors"
	"time"

	"posagent/ecr"
)

// closing is the end of day for a register that waits for a while, 0 = as long as it takes.
func (s *Session) closing(patience time.Duration, by ecr.Asker) func(context.Context) (ecr.Totals, error) {
	ask := s.o.Till.Close
	if c, ok := s.o.Till.(ecr.Closer); ok && by.Line != "" {
		ask = func(ctx context.Context) (ecr.Totals, error) { return c.CloseFor(ctx, by) }
	}
	if patience <= 0 {
		return ask
	}
	return func(ctx context.Context) (ecr.Totals, error) {
		ctx, cancel := context.WithTimeout(ctx, max(patience-answerLead, patience/2))
		defer cancel()
		return ask(ctx)
	}
}

func (d *dialog) total(ctx context.Context, gen int, ask func(context.Context) (ecr.Totals, error)) {
	t, err := ask(ctx)
	code := ecr.OK
	if err != nil {
		code = ecr.SystemError
		var r *ecr.Refusal
		if errors.As(err, &r) {
			code = r.Code
		} else if ctx.Err() == nil {
			d.s.log.Error("totals not available", "err", err)
		}
	}
	d.post(ecr.Totalled{Gen: gen, Totals: t, Code: code})
}

// closedDay asks for the day that a request closed.
func (d *dialog) closedDay(ctx context.Context, a ecr.ClosedDay) {
	c, ok := d.s.o.Till.(ecr.Closer)
	if !ok {
		d.post(ecr.Totalled{Gen: a.Gen})
		return
	}
	t, err := c.ClosedBy(ctx, a.By)
	switch {
	case errors.Is(err, ecr.ErrNone):
		d.post(ecr.Totalled{Gen: a.Gen})
	case err != nil:
		d.s.log.Error("closed day not available", "err", err)
		d.post(ecr.Totalled{Gen: a.Gen, Code: ecr.SystemError})
	default:
		d.post(ecr.Totalled{Gen: a.Gen, Totals: t, Code: ecr.OK})
	}
}

// dayTold stores that the register has acknowledged an end of day.
func (s *Session) dayTold(ctx context.Context, a ecr.DayTold) {
	c, ok := s.o.Till.(ecr.Closer)
	if !ok {
		return
	}
	if err := c.DayTold(ctx, a.Line, a.Batch); err != nil {
		s.log.Error("telling of an end of day not stored", "batch", a.Batch, "err", err)
	}
}
