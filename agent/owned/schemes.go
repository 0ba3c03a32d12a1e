package owned

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"posagent/schemes/aapay"
	"posagent/schemes/wire"
	"posagent/store"
)

// What a caller chooses and what the backend gives are claimed apart: a reference may look like another's number.
const (
	reference   = "reference"
	transaction = "transaction of a scheme"
)

// Sale names the register's sale ("receipt 7") that has a terminalReference or, where it is asked for, a transactionId; "" where
// none has.
type Sale func(r store.Reader, id string, byNumber bool) (name string, err error)

// Schemes gives a client its own transactions of next alone, and lets none take back a register's sale.
func Schemes(c Claims, sale Sale, next aapay.Service) aapay.Service { return schemes{c, sale, next} }

// schemes implements the contract. It writes out every method: a new one must not pass by.
type schemes struct {
	c    Claims
	sale Sale
	next aapay.Service
}

var _ aapay.Service = schemes{}

// Initialize implements aapay.Service.
func (s schemes) Initialize(ctx context.Context, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	return s.start(ctx, typ, req, func() (aapay.Reply, error) { return s.next.Initialize(ctx, typ, req) })
}

// InitializeWithIdempotency implements aapay.Service.
func (s schemes) InitializeWithIdempotency(ctx context.Context, key wire.Key, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	return s.start(ctx, typ, req, func() (aapay.Reply, error) {
		return s.next.InitializeWithIdempotency(ctx, s.c.key(ctx, key), typ, req)
	})
}

func (s schemes) start(ctx context.Context, typ aapay.Type, req aapay.Request, send func() (aapay.Reply, error)) (out aapay.Reply, err error) {
	if err = s.allow(ctx, typ, req); err != nil {
		return out, err
	}
	done, err := s.c.name(ctx, reference, req.TerminalReference)
	if err != nil {
		return out, err
	}
	out, err = send()
	no := refused(err) || err == nil && rejected(out)
	done(no)
	if err == nil && !no {
		err = s.keep(ctx, out.Response)
	}
	return out, err
}

// rejected says that a reply is a refusal: 201, and nothing in it says otherwise (S1 2.4).
func rejected(r aapay.Reply) bool {
	if r.HTTPStatus != http.StatusCreated || r.Operation != nil {
		return false
	}
	if r.Response == nil {
		return !r.Valid
	}
	return r.Response.ResponseCode == aapay.CodeReject || r.Response.ResponseCode == aapay.CodeCancel
}

// allow is nil where the caller may start a transaction: its own reference, and its own original.
func (s schemes) allow(ctx context.Context, typ aapay.Type, req aapay.Request) error {
	const op = "aapay.initialize"
	word := mayRefund
	if typ == aapay.Payment {
		word = mayPay
	}
	if err := wire.Allow(ctx, op, word); err != nil {
		return err
	}
	for _, id := range []string{req.OriginalReference, req.TerminalReference} {
		name, err := s.sold(ctx, id, id == req.OriginalReference)
		switch {
		case err != nil:
			return err
		case name == "":
		case wire.CallerOf(ctx).Own:
			return s.c.none(ctx, transaction)
		default:
			return wire.Errorf(wire.Conflict, op, "it is the register's: %s; take it back at the register", name)
		}
	}
	about := transaction // a refund names a transactionId, a reversal a terminalReference
	if typ == aapay.Reversal {
		about = reference
	}
	if req.OriginalReference != "" {
		if err := s.c.reach(ctx, about, req.OriginalReference); err != nil {
			return err
		}
	}
	return nil
}

func (s schemes) sold(ctx context.Context, id string, byNumber bool) (name string, err error) {
	if id == "" || s.sale == nil {
		return "", nil
	}
	if err := s.c.DB.Read(ctx, func(r store.Reader) error { name, err = s.sale(r, id, byNumber); return err }); err != nil {
		return "", &wire.Error{Code: wire.Unavailable, Op: "aapay", Msg: "the terminal cannot tell whose it is", Err: err}
	}
	return name, nil
}

// keep gives the caller what a reply names its transaction.
func (s schemes) keep(ctx context.Context, r *aapay.Response) error {
	if r == nil || r.NAA2ECR == nil {
		return nil
	}
	return s.c.got(ctx, transaction, r.NAA2ECR.PPRef)
}

// Status implements aapay.Service. A register's sale is read by those that may see sales.
func (s schemes) Status(ctx context.Context, id, method string) (out aapay.Status, err error) {
	const op = "aapay.status"
	if err = wire.Allow(ctx, op, mayRead); err != nil {
		return out, err
	}
	about := transaction
	if err = s.c.reach(ctx, about, id); wire.CodeOf(err) == wire.NotFound || wire.CodeOf(err) == wire.UnknownOutcome {
		about = reference
		err = s.c.reach(ctx, about, id)
	}
	if err != nil {
		return out, err
	}
	if out, err = s.next.Status(ctx, id, method); err != nil {
		return out, err
	}
	number, ppref := strconv.FormatInt(out.TransactionID, 10), ""
	if out.NAA2ECR != nil {
		ppref = out.NAA2ECR.PPRef
	}
	if about == reference && (number == id || strings.EqualFold(ppref, id)) { // another's number, which the caller took for a reference
		return aapay.Status{}, s.c.none(ctx, transaction)
	}
	if out.TransactionID != 0 {
		err = s.c.as(ctx, transaction, number, about, id)
	}
	if err == nil {
		err = s.c.as(ctx, transaction, ppref, about, id)
	}
	return out, err
}
