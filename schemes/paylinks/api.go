package paylinks

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
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
	// Refund gives back the amount, or all that is left. Status refunded, partially-refunded while something is left.
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

// Paths of the service (S1 4.1). The official client writes version 1.0 as v1.
const (
	Prefix      = "/v1.0/"
	ShortPrefix = "/v1/"
)

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

// about names a link or a transaction.
type about struct {
	ID int64 `path:"id" json:"-"`
}

func (in about) id() int64 { return in.ID }

// Check implements check.Checked.
func (in about) Check(l *check.List) {
	if CheckID(in.ID) != nil {
		l.Add("id", "want 1 to 2147483647")
	}
}

// charging is a charge of a transaction.
type charging struct {
	about
	ChargeRequest
}

// Check implements check.Checked.
func (in charging) Check(l *check.List) {
	in.about.Check(l)
	in.ChargeRequest.Check(l)
}

// refunding is a refund of a transaction.
type refunding struct {
	about
	RefundRequest
}

// Check implements check.Checked.
func (in refunding) Check(l *check.List) {
	in.about.Check(l)
	in.RefundRequest.Check(l)
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
		Op: "paylinks.capture", What: "collect all",
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
		Op: "paylinks.cancel", What: "cancel a reservation",
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

const (
	opCreate = "paylinks.create"
	opCharge = "paylinks.charge"
	opRefund = "paylinks.refund"
	opList   = "paylinks.list"
)

// Table is the service. The signature check, which asks no service, is its last row.
func Table() rest.Table[Service] {
	return rest.Table[Service]{create, read, drop, list, txn, charge, capture, refund, cancel, verified}
}

// HandlerOptions adjusts a Handler. Without Secret every request is refused.
type HandlerOptions struct {
	Log          *slog.Logger                               // gets internal errors; nil drops them
	Secret       func(instance string) (wire.Secret, error) // of an account; "" = no such account
	MaxBody      int64                                      // bytes of a body's texts; 0 means wire.MaxRequest
	MaxFiles     int64                                      // bytes of a link's attachments; 0 means bracket.MaxFiles
	Dir          string                                     // where attachments lie while a request is served; "" = the system's folder
	OperationURL func(key wire.Key) string                  // names a pending operation in the Location header; nil = none

	// Others are more secrets that an account's requests may be proven by; nil = none. Proof tells which one it was.
	Others func(instance string) []wire.Secret
	// Proven gets every request whose proof is good, and calls serve or answers itself; nil = serve.
	Proven func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc)
	// Around gets every good request in place of the service; nil = the service.
	Around func(ctx context.Context, a *rest.Asked) (any, error)
}

// Handler serves links and txns at Prefix and ShortPrefix, and answers the signature check itself. Host checks and time limits are
// the caller's; the proof of who calls is checked here, because it lies in the parameters.
func Handler(links Links, txns Transactions, opts HandlerOptions) http.Handler {
	svc := Service{links, txns}
	return api.Handler(opts.Rest(), Table().Bind(svc), rest.Table[Service]{chargeToo}.Bind(svc))
}

// Rest are the engine's options: how a request is opened and proven.
func (o HandlerOptions) Rest() rest.Options {
	return rest.Options{Log: o.Log, OperationURL: o.OperationURL, Open: o.open, Admit: o.admit, Around: o.Around}
}

// Client speaks to the service over HTTP. It works as soon as its fields are set, signs what it sends, and sends each
// call once; whether to send again is the caller's decision, by code.
type Client struct {
	BaseURL  string // scheme and host, and a path before /v1.0 if there is one
	Instance string // the account
	Secret   wire.Secret
	Doer     wire.Doer
}

func (c *Client) to() rest.Client {
	return rest.Client{API: api, BaseURL: c.BaseURL, Doer: c.Doer, Write: c.write, Secrets: []string{c.Secret.Reveal()}}
}

// Links is the link half of the service.
func (c *Client) Links() Links { return linkClient{c} }

// Transactions is the transaction half.
func (c *Client) Transactions() Transactions { return txnClient{c} }

// Check asks whether instance and secret are right: nil, wire.Forbidden, or another error: nothing is known.
func (c *Client) Check(ctx context.Context) error {
	_, err := verified.Call(ctx, c.to(), "", struct{}{})
	return err
}

type linkClient struct{ c *Client }

type txnClient struct{ c *Client }

var (
	_ Links        = linkClient{}
	_ Transactions = txnClient{}
)

// Create implements Links.
func (l linkClient) Create(ctx context.Context, key wire.Key, req CreateRequest) (Created, error) {
	return create.Call(ctx, l.c.to(), key, req)
}

// Read implements Links.
func (l linkClient) Read(ctx context.Context, id int64) (Link, error) {
	return read.Call(ctx, l.c.to(), "", about{id})
}

// Delete implements Links.
func (l linkClient) Delete(ctx context.Context, key wire.Key, id int64) (Deleted, error) {
	return drop.Call(ctx, l.c.to(), key, about{id})
}

// Read implements Transactions.
func (t txnClient) Read(ctx context.Context, id int64) (Transaction, error) {
	return txn.Call(ctx, t.c.to(), "", about{id})
}

// Charge implements Transactions.
func (t txnClient) Charge(ctx context.Context, key wire.Key, id int64, req ChargeRequest) (Done, error) {
	return charge.Call(ctx, t.c.to(), key, charging{about{id}, req})
}

// Capture implements Transactions.
func (t txnClient) Capture(ctx context.Context, key wire.Key, id int64) (Done, error) {
	return capture.Call(ctx, t.c.to(), key, about{id})
}

// Refund implements Transactions.
func (t txnClient) Refund(ctx context.Context, key wire.Key, id int64, req RefundRequest) (Done, error) {
	return refund.Call(ctx, t.c.to(), key, refunding{about{id}, req})
}

// Delete implements Transactions.
func (t txnClient) Delete(ctx context.Context, key wire.Key, id int64) (Deleted, error) {
	return cancel.Call(ctx, t.c.to(), key, about{id})
}

// List implements Transactions.
func (t txnClient) List(ctx context.Context, f Filter) ([]Transaction, error) {
	return list.Call(ctx, t.c.to(), "", f)
}
