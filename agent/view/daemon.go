package view

import (
	"context"
	"errors"
	"fmt"
	"time"

	"posagent/agent/checkout/drive/journal"
	"posagent/agent/inbox"
	"posagent/agent/outbox"
	"posagent/agent/ready"
	"posagent/agent/records/deletedrows"
	"posagent/agent/records/events"
	"posagent/agent/records/replacedjournal"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
	"posagent/store"
)

// Daemon reads what the running daemon shows. DB, Outbox, Inbox, Happened and Now are required.
type Daemon struct {
	DB       store.Store
	Outbox   *outbox.Outbox
	Inbox    *inbox.Inbox
	Happened *events.Log
	Own      *methods.Definition   // the terminal's own method, nil = none
	Unit     string                // of the methods' time-outs
	IDs      IDs                   // nil = no ids are shown
	Find     Find                  // nil = operations are found by their keys alone
	About    Status                // what does not change while it runs
	Live     func() Live           // nil = nothing
	Lines    func() []RegisterLine // nil = none
	Services []Upstream
	Now      func() time.Time
	// Asked returns what the backend says of a sale that this journal does not have, by its
	// terminalReference; nil = it is not asked.
	Asked func(ctx context.Context, reference string) (string, error)
	// Ready says whether a register may ask for a sale; nil = not known.
	Ready func(context.Context) ready.Report
	// Deeds reads the newest lines of the audit log, the newest first; nil = none are shown.
	Deeds func(ctx context.Context, limit int) ([]Deed, error)
	// Examine makes the checks of the doctor that ask nothing of the network; nil = none are shown.
	Examine func(ctx context.Context) (Checks, error)

	removed deletedrows.Watch
}

// Upstream is a service of the backend and whether it answered last time.
type Upstream struct {
	Name    string
	Healthy func() bool
}

// Status is the whole screen.
func (h *Daemon) Status(ctx context.Context) (Status, error) {
	health := h.DB.Health(ctx)
	var v Status
	err := h.DB.Read(ctx, func(r store.Reader) error {
		v = NewStatus(h.About)
		if err := v.Read(r, h.Own != nil); err != nil {
			return err
		}
		missing, err := h.removed.Read(r)
		v.Removed(missing)
		return err
	})
	if wire.CallerOf(ctx).Own { // what others have is in the sums, too
		v.Open, v.Operations, v.Attention, v.Alerts, v.Unconfirmed = []Sale{}, []OpsCount{}, []string{}, []Alert{}, 0
		v.Differences, v.Reconciled, v.few = []Difference{}, nil, ""
	}
	v.Disk(health)
	if h.Live != nil {
		v.Live = h.Live()
		if h.Lines != nil {
			v.Live.Lines = h.Lines()
		}
	}
	if h.Ready != nil {
		v.Judged(h.Ready(ctx))
	}
	v.Advise()
	return v, err
}

// Sales is a page of sales, the newest first: the caller's own where it reaches no others.
// wire.Forbidden.
func (h *Daemon) Sales(ctx context.Context, which journal.Which) (v Sales, err error) {
	if err := wire.Allow(ctx, "", wire.MaySales); err != nil {
		return v, err
	}
	if caller := wire.CallerOf(ctx); caller.Own {
		which.OneLine, which.Line = true, LineOf(caller.Name)
	}
	err = h.DB.Read(ctx, func(r store.Reader) error { v, err = readSales(r, which); return err })
	return v, err
}

// Sale is one sale by its id, with the row that it was made of. wire.NotFound, wire.Forbidden.
func (h *Daemon) Sale(ctx context.Context, id string) (v Timeline, row *journal.Row, err error) {
	if err := wire.Allow(ctx, "", wire.MaySales); err != nil {
		return v, nil, err
	}
	err = h.DB.Read(ctx, func(r store.Reader) error { v, row, err = readSale(r, id); return err })
	if err == nil && !wire.CallerOf(ctx).Reaches(OwnerOf(row.Line)) {
		v, row, err = Timeline{}, nil, fmt.Errorf("sale %s: %w", id, journal.ErrUnknown)
	}
	if errors.Is(err, journal.ErrUnknown) {
		err = h.unknownSale(ctx, id)
	}
	return v, row, err
}

// unknownSale is the answer to the id of a sale that is not in the journal. Where a lost journal
// may have made it the backend is asked.
func (h *Daemon) unknownSale(ctx context.Context, id string) error {
	err := h.DB.Read(ctx, func(r store.Reader) error { return NoSale(r, id) })
	if wire.CodeOf(err) != wire.UnknownOutcome || h.Asked == nil || !wire.Key(id).Ours() {
		return err
	}
	said, fault := h.Asked(ctx, journal.ReferenceOf(wire.Key(id)))
	if fault != nil {
		return err
	}
	return wire.Errorf(wire.UnknownOutcome, "", "%s. The backend says: %s", wire.AsError("", err).Msg, said)
}

// NoSale is the answer to the id of a sale that the journal does not have.
func NoSale(r store.Reader, id string) error {
	if key := wire.Key(id); key.Ours() {
		return replacedjournal.NotFound(r, "", fmt.Sprintf(replacedjournal.AskReference, journal.ReferenceOf(key)), "no such sale")
	}
	return replacedjournal.NotFound(r, "", replacedjournal.AskPortal, "no such sale")
}

// Methods is what the terminal may be paid with.
func (h *Daemon) Methods(ctx context.Context) (v Methods, err error) {
	err = h.DB.Read(ctx, func(r store.Reader) error { v, err = ReadMethods(r, h.Own, h.Unit); return err })
	return v, err
}

// Operations is what is owed to the backend, and what became of it: the caller's own where it
// reaches no others.
func (h *Daemon) Operations(ctx context.Context, f outbox.Filter) (v Operations, err error) {
	if caller := wire.CallerOf(ctx); caller.Own {
		f.Owned, f.Owner = true, caller.Name
	}
	err = h.DB.Read(ctx, func(r store.Reader) error {
		list, err := h.Outbox.List(r, f)
		v = operationsOf(r, list, h.IDs)
		return err
	})
	return v, err
}

// OperationsNamed is those that Operation knows by a name: none where there are none.
func (h *Daemon) OperationsNamed(ctx context.Context, name string) (v Operations, err error) {
	caller := wire.CallerOf(ctx)
	err = h.DB.Read(ctx, func(r store.Reader) error {
		keys, err := FindOperations(r, h.Find, caller, name)
		if err != nil && !errors.Is(err, outbox.ErrUnknown) {
			return err
		}
		var list []outbox.Op
		for _, key := range keys {
			op, err := outbox.Look(r, key)
			if err != nil {
				return err
			}
			if caller.Reaches(op.Owner) {
				list = append(list, op)
			}
		}
		v = operationsOf(r, list, h.IDs)
		return nil
	})
	return v, err
}

// Operation is one of them by its Key, its caller's Idempotency-Key, or an id of what it is about.
// wire.NotFound, wire.Conflict where several came under the key.
func (h *Daemon) Operation(ctx context.Context, name string) (v OneOperation, err error) {
	err = h.DB.Read(ctx, func(r store.Reader) error {
		caller := wire.CallerOf(ctx)
		key, err := FindOperation(r, h.Find, caller, name)
		if err != nil {
			return err
		}
		op, err := h.Outbox.Get(r, key)
		if !caller.Reaches(op.Owner) {
			return outbox.ErrUnknown
		}
		altered := errors.Is(err, outbox.ErrAltered)
		if err != nil && !altered {
			return err
		}
		v, err = history(r, op, h.IDs, altered)
		return err
	})
	if errors.Is(err, outbox.ErrUnknown) {
		err = h.DB.Read(ctx, NoOperation)
	}
	return v, err
}

// NoOperation is the answer to the name of an operation that the journal does not have. It never
// advises to repeat the write: the name does not say of which service it was, and not every one
// honours Keys.
func NoOperation(r store.Reader) error {
	return replacedjournal.NotFound(r, "", replacedjournal.AskPortal, "no such operation")
}
