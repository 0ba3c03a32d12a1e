package paylinks

import (
	"context"
	"net/http"
	"strings"

	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
)

// Every write takes a Key first; "" means that the caller gave none. With a key, the same call with the same body has one effect
// and one answer, and with another body is wire.KeyReused. (The service this contract is taken from has no such header: there
// a key changes nothing, and two creates make two links.) A write ends in one of:
//
//  1. its result; Operation is set where the call is stored and not yet answered by the backend;
//  2. wire.Invalid: the request breaks a rule; nothing happened;
//  3. wire.NotFound: no such link or transaction;
//  4. wire.Conflict: its status forbids it (reason WrongStatus), or too little is left (TooMuch); nothing happened;
//  5. wire.KeyReused, Unauthorized, Forbidden, TooLarge, TooMany: refused, nothing happened;
//  6. wire.Unavailable: provably not sent, or refused before any effect;
//  7. wire.UnknownOutcome, Internal: the effect is not known.
//
// A read ends in its result, wire.NotFound, or any other error: nothing is known.

// Links is the link half of the service (S1 4.1).
type Links interface {
	// Create makes a link: Hash and Link name its page.
	Create(ctx context.Context, key wire.Key, req CreateRequest) (Created, error)
	// Read reads a link.
	Read(ctx context.Context, id int64) (Link, error)
	// Delete takes back a link that is neither paid nor being paid (wire.Conflict, WrongStatus). It is not found afterwards.
	Delete(ctx context.Context, key wire.Key, id int64) (Deleted, error)
}

// Transactions is the transaction half (S1 4.1).
type Transactions interface {
	// Read reads a transaction.
	Read(ctx context.Context, id int64) (Transaction, error)
	// Charge collects from a pre-authorized or reserved transaction: the amount, or all of it. Status confirmed.
	Charge(ctx context.Context, key wire.Key, id int64, req ChargeRequest) (Done, error)
	// Capture collects all of a pre-authorized or reserved transaction. Status confirmed.
	Capture(ctx context.Context, key wire.Key, id int64) (Done, error)
	// Refund gives back the amount, or all that is left. Its answer says refunded (S1 3.1); a reading says partially-refunded while
	// something is left.
	Refund(ctx context.Context, key wire.Key, id int64, req RefundRequest) (Done, error)
	// Delete cancels a reserved transaction.
	Delete(ctx context.Context, key wire.Key, id int64) (Deleted, error)
	// List reads the transactions the filter picks.
	List(ctx context.Context, f Filter) ([]Transaction, error)
}

// Service is both halves.
type Service struct {
	Links        Links
	Transactions Transactions
}

// The resources of the paths.
const (
	invoices     = "Invoice"
	transactions = "Transaction"
	signatures   = "SignatureCheck"
)

// API is what all endpoints have in common.
func API() rest.API { return api }

var api = rest.API{
	Prefix: strings.TrimSuffix(Prefix, "/"), Aliases: []string{strings.TrimSuffix(ShortPrefix, "/")}, Type: ContentType, Shape: shape{},
	Pieces: pieces, Wrap: wrap,
}

// pieces leaves out an id of 0, which clients write where there is none. An id that is no whole number of 31 bits has no route.
func pieces(list []string) ([]string, bool) {
	if len(list) < 2 {
		return list, true
	}
	id, ok := digits(list[1])
	if ok && id == 0 {
		return list[:1], len(list) == 2
	}
	return list, ok
}

const (
	reads  = rest.CheckFirst
	writes = rest.CheckFirst | rest.Write
	held   = string(Authorized) + ", " + string(Reserved)
)

// links and sight are what a caller may who changes a link or a transaction, and who reads one.
var links, sight = []string{wire.MayLinks}, []string{wire.MayRead}

// besides are the statuses of a success that other services answer.
var besides = []int{http.StatusCreated}

var (
	verified = rest.Endpoint[Service, struct{}, idRecord]{
		Op: "paylinks.check", What: "are instance and secret right",
		Method: http.MethodGet, Path: "/SignatureCheck/", Status: http.StatusOK, Also: besides, May: []string{}, Read: one[idRecord],
		Do: func(Service, context.Context, wire.Key, struct{}) (idRecord, error) { return idRecord{1}, nil },
	}
	create = rest.Endpoint[Service, CreateRequest, Created]{
		Op: opCreate, What: "make a link",
		Example: `{"title":"Order 7","description":"One chair","referenceId":"order-7","purpose":"One chair","amount":1250,"currency":"EUR",` +
			`"successRedirectUrl":"https://shop.example/thanks"}`,
		Method: http.MethodPost, Path: "/Invoice/", Status: http.StatusOK, Also: besides, Wants: writes, May: links, Read: one[Created],
		Do: func(svc Service, ctx context.Context, key wire.Key, in CreateRequest) (Created, error) {
			out, err := svc.Links.Create(ctx, key, in)
			return out, notFound(err, invoices, 0, "")
		},
		Flaw: func(_ CreateRequest, out Created) string { return flaw(0, out.ID, out.Operation) },
	}
	read = rest.Endpoint[Service, about, Link]{
		Op: "paylinks.read", What: "read a link",
		Method: http.MethodGet, Path: "/Invoice/{id}/", Status: http.StatusOK, Also: besides, Wants: reads, May: sight, Read: one[Link],
		Do: func(svc Service, ctx context.Context, _ wire.Key, in about) (Link, error) {
			out, err := svc.Links.Read(ctx, in.ID)
			return out, notFound(err, invoices, in.ID, "")
		},
		Flaw: func(in about, out Link) string { return flaw(in.ID, out.ID, nil) },
	}
	drop = rest.Endpoint[Service, about, Deleted]{
		Op: "paylinks.delete", What: "take a link back",
		Method: http.MethodDelete, Path: "/Invoice/{id}/", Status: http.StatusOK, Also: besides, Wants: writes, May: links, Read: one[Deleted],
		Do: func(svc Service, ctx context.Context, key wire.Key, in about) (Deleted, error) {
			out, err := svc.Links.Delete(ctx, key, in.ID)
			return out, notFound(err, invoices, in.ID, string(Waiting))
		},
		Flaw: func(in about, out Deleted) string { return flaw(in.ID, out.ID, out.Operation) },
	}
	list = rest.Endpoint[Service, Filter, []Transaction]{
		Op: opList, What: "list the account's transactions",
		Method: http.MethodGet, Path: "/Transaction/", Status: http.StatusOK, Also: besides, Wants: reads, May: []string{wire.MayRead, wire.MayAll}, Read: all,
		Do: func(svc Service, ctx context.Context, _ wire.Key, in Filter) ([]Transaction, error) {
			out, err := svc.Transactions.List(ctx, in)
			return out, notFound(err, transactions, 0, "")
		},
	}
	txn = rest.Endpoint[Service, about, Transaction]{
		Op: "paylinks.transaction", What: "read a transaction",
		Method: http.MethodGet, Path: "/Transaction/{id}/", Status: http.StatusOK, Also: besides, Wants: reads, May: sight, Read: one[Transaction],
		Do: func(svc Service, ctx context.Context, _ wire.Key, in about) (Transaction, error) {
			out, err := svc.Transactions.Read(ctx, in.ID)
			return out, notFound(err, transactions, in.ID, "")
		},
		Flaw: func(in about, out Transaction) string { return flaw(in.ID, out.ID, nil) },
	}
	charge = charges("/Transaction/{id}/", "collect")
	// chargeToo is the other path of a charge. A Client writes the first.
	chargeToo = charges("/Transaction/{id}/charge", "the same")
	capture   = rest.Endpoint[Service, about, Done]{
		Op: opCapture, What: "collect all",
		Method: http.MethodPost, Path: "/Transaction/{id}/capture", Status: http.StatusOK, Also: besides, Wants: writes, May: links, Read: one[Done],
		Do: func(svc Service, ctx context.Context, key wire.Key, in about) (Done, error) {
			out, err := svc.Transactions.Capture(ctx, key, in.ID)
			return out, notFound(err, transactions, in.ID, held)
		},
		Flaw: func(in about, out Done) string { return flaw(in.ID, out.ID, out.Operation) },
	}
	refund = rest.Endpoint[Service, refunding, Done]{
		Op: opRefund, What: "give back", Example: `{"amount":250}`,
		Method: http.MethodPost, Path: "/Transaction/{id}/refund", Status: http.StatusOK, Also: besides, Wants: writes, May: []string{wire.MayLinks, wire.MayRefund}, Read: one[Done],
		Do: func(svc Service, ctx context.Context, key wire.Key, in refunding) (Done, error) {
			out, err := svc.Transactions.Refund(ctx, key, in.ID, in.RefundRequest)
			return out, notFound(err, transactions, in.ID, string(Confirmed))
		},
		Flaw: func(in refunding, out Done) string { return flaw(in.ID, out.ID, out.Operation) },
	}
	cancel = rest.Endpoint[Service, about, Deleted]{
		Op: opCancel, What: "cancel a reservation",
		Method: http.MethodDelete, Path: "/Transaction/{id}/", Status: http.StatusOK, Also: besides, Wants: writes, May: links, Read: one[Deleted],
		Do: func(svc Service, ctx context.Context, key wire.Key, in about) (Deleted, error) {
			out, err := svc.Transactions.Delete(ctx, key, in.ID)
			return out, notFound(err, transactions, in.ID, string(Reserved))
		},
		Flaw: func(in about, out Deleted) string { return flaw(in.ID, out.ID, out.Operation) },
	}
)

func charges(path, what string) rest.Endpoint[Service, charging, Done] {
	return rest.Endpoint[Service, charging, Done]{
		Op: opCharge, What: what, Example: `{"amount":1250,"purpose":"One chair"}`,
		Method: http.MethodPost, Path: path, Status: http.StatusOK, Also: besides, Wants: writes, May: links, Read: one[Done],
		Do: func(svc Service, ctx context.Context, key wire.Key, in charging) (Done, error) {
			out, err := svc.Transactions.Charge(ctx, key, in.ID, in.ChargeRequest)
			return out, notFound(err, transactions, in.ID, held)
		},
		Flaw: func(in charging, out Done) string { return flaw(in.ID, out.ID, out.Operation) },
	}
}

// Table is the service. The signature check, which asks no service, is its last row.
func Table() rest.Table[Service] {
	return rest.Table[Service]{&create, &read, &drop, &list, &txn, &charge, &capture, &refund, &cancel, &verified}
}
