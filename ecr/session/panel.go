package session

import (
	"context"
	"errors"

	"posagent/ecr"
)

// onPanel performs what a dialogue wants of the terminal's own screen, keys and printer.
func (d *dialog) onPanel(ctx context.Context, a ecr.Action) {
	p := d.s.o.Panel
	switch a := a.(type) {
	case ecr.EndNotice:
		d.endNotice()
	case ecr.Notify:
		d.endNotice()
		if p == nil {
			d.own = append(d.own, ecr.Noticed{Gen: a.Gen, Code: ecr.Impossible})
			return
		}
		asked, cancel := context.WithCancel(ctx)
		d.notice = cancel
		d.jobs.Go(func() {
			defer cancel()
			pressed, err := p.Notify(asked, a.Notice)
			d.post(ecr.Noticed{Gen: a.Gen, Pressed: pressed, Code: d.codeOf(asked, err)})
		})
	case ecr.Print:
		if p == nil {
			d.own = append(d.own, ecr.Printed{Gen: a.Gen, Code: ecr.Impossible})
			return
		}
		d.jobs.Go(func() {
			err := p.Print(ctx, a.Lines)
			d.post(ecr.Printed{Gen: a.Gen, Code: d.codeOf(ctx, err)})
		})
	}
}

// endNotice ends the notice that waits for its answer, if one does.
func (d *dialog) endNotice() {
	if d.notice != nil {
		d.notice()
		d.notice = nil
	}
}

// codeOf is the code of what a panel said.
func (d *dialog) codeOf(ctx context.Context, err error) ecr.Code {
	var r *ecr.Refusal
	switch {
	case err == nil:
		return ecr.OK
	case errors.As(err, &r):
		return r.Code
	case ctx.Err() == nil:
		d.s.log.Error("screen or printer", "err", err)
	}
	return ecr.SystemError
}
