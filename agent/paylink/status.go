package paylink

import (
	"context"
	"time"

	"posagent/schemes/aapay"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
)

// Status implements aapay.Service. The question for an undo takes its next step first.
func (s *Service) Status(ctx context.Context, id, _ string) (aapay.Status, error) {
	return s.status(ctx, id, s.advance)
}

// Seen is Status that takes no step and writes nothing: an undo stands as its last step left it.
func (s *Service) Seen(ctx context.Context, id, _ string) (aapay.Status, error) {
	return s.status(ctx, id, func(context.Context, *entry) error { return nil })
}

func (s *Service) status(ctx context.Context, id string, advance func(context.Context, *entry) error) (aapay.Status, error) {
	if err := aapay.CheckID(id); err != nil {
		return aapay.Status{}, err
	}
	var e *entry
	err := s.o.DB.Read(ctx, func(r store.Reader) (err error) {
		e, err = s.find(r, id)
		return err
	})
	switch {
	case err != nil:
		return aapay.Status{}, unavailable(err)
	case e == nil, e.intended():
		return aapay.Status{}, wire.Errorf(wire.NotFound, op, "no such transaction")
	}
	st := aapay.Status{
		Valid: true, TransactionID: e.Link, TimeStamp: time.UnixMilli(e.CreatedMS).UTC().Format(time.RFC3339), State: e.End, AccountState: e.Account,
		QRTrigger: "0", NAA2ECR: e.names(),
	}
	switch {
	case e.Type == aapay.Payment:
		st.QRTrigger, st.QRCodePayload = "1", e.URL
		if e.End == "" {
			st.State, st.AccountState, err = s.look(ctx, e)
		}
	default:
		if e.End == "" {
			err = advance(ctx, e)
		}
		if st.TransactionID, st.State, st.AccountState = e.Txn, e.End, e.Account; st.State == "" {
			st.State = aapay.Pending
		}
	}
	if err != nil {
		return aapay.Status{}, err
	}
	if e.why != "" {
		st.Error = &aapay.Fault{Message: e.why}
	}
	return st, nil
}

// look says how a payment stands. A word that is no more than the last customer's bad luck does not end it: while there is a link, it
// may be paid. So a link that says that it is over is TIMEDOUT, which is undone; only one that is gone is CANCELLED.
func (s *Service) look(ctx context.Context, p *entry) (aapay.State, aapay.AccountState, error) {
	if p.Instance != s.o.Instance {
		return "", "", wire.Errorf(wire.Internal, op, "the link is of the account %s", p.Instance)
	}
	link, err := s.link(ctx, p)
	if err != nil {
		return "", "", unavailable(err)
	}
	if link == nil {
		return s.gone(ctx, p)
	}
	switch link.Status {
	case paylinks.Waiting:
		return aapay.Initialized, "", nil
	case paylinks.Confirmed:
		return aapay.Finalized, aapay.Commit, nil
	case paylinks.Authorized, paylinks.Reserved, paylinks.Uncaptured:
		return aapay.Reserved, "", nil
	}
	if classOf(link.Status) == dead {
		return aapay.TimedOut, "", nil
	}
	return aapay.Pending, "", nil
}

// gone says how a payment stands whose link there is not. That nothing was paid is known only of a link that was deleted from here; of
// any other one "not found" proves nothing.
func (s *Service) gone(ctx context.Context, p *entry) (aapay.State, aapay.AccountState, error) {
	list, _, err := s.payments(ctx, p)
	if err != nil {
		return "", "", unavailable(err)
	}
	state := aapay.Cancelled
	for _, t := range list {
		switch classOf(t.Status) {
		case paid:
			return aapay.Finalized, aapay.Commit, nil
		case dead, back:
		default:
			state = aapay.Pending
		}
	}
	if !p.Deleted {
		return "", "", wire.Errorf(wire.NotFound, op, "link %d is not found", p.Link)
	}
	return state, "", nil
}
