package reconcile

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/intent"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/wire"
)

// Backend says how transactions stand. It changes nothing.
type Backend interface {
	// Status reads a transaction, with the outcomes of aapay.Service.
	Status(ctx context.Context, id, method string) (aapay.Status, error)
}

// ErrBackend says that the backend cannot be asked at all; the cause is wrapped.
var ErrBackend = errors.New("the backend does not answer")

const (
	// busyTries is how often a question is repeated that a backend had no time for.
	busyTries = 5
	// busyWait is the pause before, where the backend names none.
	busyWait = time.Second
	// busyMost bounds a pause that the backend names.
	busyMost = time.Minute
)

// asker asks the backend for the statuses of references.
type asker struct {
	backend Backend
	asked   atomic.Int64
}

// of is what the backend says of a sale. Its error wraps ErrBackend.
func (a *asker) of(ctx context.Context, s *sale) (BackendSays, error) {
	if s.elsewhere != "" {
		return BackendSays{Reference: s.reference, Says: string(unasked), Why: "sold at " + s.elsewhere + ", before the provider changed"}, nil
	}
	b, err := a.about(ctx, s.reference, s.method, s.kind, s.okWords, s.owns)
	if err != nil || s.kind != ecr.Payment || b.Says != string(paid) || s.says != unpaid || s.undo == "" {
		return b, err
	}
	undo, err := a.about(ctx, journal.ReferenceOf(s.undo), s.method, ecr.Reversal, nil, s.ownsUndo)
	if err == nil && undo.Says == string(paid) {
		b.Says, b.Undone = string(unpaid), true
	}
	return b, err
}

// named is what the backend says of a row that the journal does not have, by the names that a backend may know.
func (a *asker) named(ctx context.Context, r Row) (BackendSays, error) {
	id := r.Reference
	if id == "" && r.Transaction != 0 {
		id = strconv.FormatInt(r.Transaction, 10)
	}
	if id == "" || aapay.CheckID(id) != nil {
		return BackendSays{Says: string(unasked)}, nil
	}
	return a.about(ctx, id, "", r.Kind, nil, func(st aapay.Status) bool {
		asked := intent.Request{Reference: id}
		if told := st.Receipt; told != nil { // whether that was the amount is what is looked for
			asked.Hundredths, asked.Currency = told.Amount, told.Currency
		}
		return asked.Status(st) != intent.Anothers
	})
}

// anothers is why an answer does not count.
const anothers = "the backend answered about another transaction"

// about asks for one reference. ours, nil = it is not judged, says whether a status can be of what was asked for: one that cannot is no
// answer.
func (a *asker) about(ctx context.Context, id, method string, kind ecr.Kind, okWords []string, ours func(aapay.Status) bool) (BackendSays, error) {
	b := BackendSays{Reference: wire.MaskPANs(id)}
	for try := 1; ; try++ {
		a.asked.Add(1)
		st, err := a.backend.Status(ctx, id, method)
		switch code := wire.CodeOf(err); {
		case err == nil && ours != nil && !ours(st):
			b.Says, b.Why = string(unasked), anothers
			return b, nil
		case err == nil:
			b.State, b.AccountState, b.Says = string(st.State), string(st.AccountState), string(wordOf(st, kind, okWords))
			return b, nil
		case ctx.Err() != nil:
			return b, ctx.Err()
		case code == wire.NotFound:
			b.Says = string(absent)
			return b, nil
		case code == wire.TooMany && try < busyTries:
			pause := min(max(wire.AsError("", err).RetryAfter, busyWait), busyMost)
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return b, ctx.Err()
			}
		case code == wire.TooMany, code == wire.Internal, code == wire.Invalid:
			b.Says, b.Why = string(unasked), wire.MaskPANs(wire.AsError("", err).Msg)
			return b, nil // that concerns this one alone
		default:
			return b, fmt.Errorf("%w: %w", ErrBackend, err)
		}
	}
}

// wordOf says what a status means for the money.
func wordOf(st aapay.Status, kind ecr.Kind, okWords []string) word {
	if kind != ecr.Payment && (st.State == "REVERSED" || st.State == "REFUNDED") { // S1 2.4
		return paid
	}
	switch checkout.Judge(st.State, st.AccountState, okWords) {
	case checkout.Success:
		return paid
	case checkout.Bad, checkout.Overdue:
		return unpaid
	}
	return open
}
