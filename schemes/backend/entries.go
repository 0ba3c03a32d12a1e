package backend

import (
	"cmp"
	"context"
	"fmt"

	"posagent/schemes/backend/aapay"
	"posagent/schemes/backend/books"
	"posagent/schemes/backend/books/journal"
	"posagent/schemes/backend/hosted"
	"posagent/schemes/backend/paylinks"
	"posagent/schemes/backend/payments"
	"posagent/schemes/backend/room"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// Entry is one transaction with its postings, as `posagent backend books` prints it.
type Entry struct {
	Service      string          `json:"service"`
	ID           string          `json:"id"`                 // the service's own id of the transaction
	Reference    string          `json:"reference"`          // aapay: terminalReference
	Original     string          `json:"original,omitempty"` // id of the payment a reversal or refund is about
	Type         string          `json:"type"`
	Amount       money.Minor     `json:"amount"`
	Currency     string          `json:"currency"`
	State        string          `json:"state"`
	AccountState string          `json:"accountState"`
	Postings     []books.Posting `json:"postings"`
	TraceID      wire.Trace      `json:"traceId,omitempty"` // of the request that made it, else of its payment's (W3C Trace Context)
}

// ReadBooks reads every transaction of the backend in a place, oldest first. It changes nothing and works beside a running
// backend; states that only time has changed show when the backend has noticed.
func ReadBooks(ctx context.Context, p Place) ([]Entry, error) {
	db, err := p.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("read books: %w", err)
	}
	defer db.Close()
	return entries(ctx, db)
}

// Books is ReadBooks of an open backend.
func (b *Backend) Books(ctx context.Context) ([]Entry, error) { return entries(ctx, b.db) }

func entries(ctx context.Context, db store.DB) ([]Entry, error) {
	out := []Entry{}
	err := db.Read(ctx, func(r store.Reader) error {
		out = out[:0]
		for _, of := range [...]struct {
			service string
			report  func(store.Reader) ([]room.Line, error)
			moved   bool // AccountState is what the postings say
		}{
			{aapay.Service, aapay.Report, false}, {paylinks.Service, paylinks.Report, false},
			{payments.Service, payments.Report, true}, {hosted.Service, hosted.Report, true},
		} {
			posts, err := journal.ByTxn(r, of.service)
			if err != nil {
				return err
			}
			traces, err := journal.Traces(r, of.service)
			if err != nil {
				return err
			}
			lines, err := of.report(r)
			if err != nil {
				return err
			}
			for _, l := range lines {
				e := Entry{
					Service: of.service, ID: l.ID, Reference: l.Reference, Original: l.Original, Type: l.Type, Amount: l.Amount,
					Currency: l.Currency, State: l.State, AccountState: l.AccountState, Postings: append([]books.Posting{}, posts[l.ID]...), TraceID: cmp.Or(traces[l.ID], traces[l.Original]),
				}
				if of.moved && books.NetOf(e.Postings) != 0 {
					e.AccountState = "COMMIT"
				}
				out = append(out, e)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read books: %w", err)
	}
	return out, nil
}

// NetByReference sums what the merchant has of each payment, everything that refers to it included, by the payment's
// reference. A payment that was undone, or never paid, has 0.
func NetByReference(list []Entry) map[string]money.Minor {
	type payment struct{ service, id string } // two services may give the same id
	name, net := map[payment]string{}, map[string]money.Minor{}
	for _, e := range list {
		if e.Original == "" && e.Type == "payment" {
			name[payment{e.Service, e.ID}] = e.Reference
			net[e.Reference] += 0
		}
	}
	for _, e := range list {
		id := e.ID
		if e.Original != "" {
			id = e.Original
		}
		if ref, ok := name[payment{e.Service, id}]; ok {
			net[ref] += books.NetOf(e.Postings)
		}
	}
	return net
}

// WalletRef finds a payment's reference in what was scanned: a wallet page's URL, an EMV code, or the reference itself.
func WalletRef(scanned string) string { return aapay.Ref(scanned) }
