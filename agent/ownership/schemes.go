package ownership

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/aapay"
	"posagent/schemes/wire"
	"posagent/store"
)

// What a caller chooses and what the backend gives are claimed apart: a reference may look like another's number.
const (
	reference   = "reference"
	transaction = "transaction of a scheme"
)

// Sale names the register's sale ("receipt 7") that has a terminalReference or, where given says so, an id that the backend has given;
// "" where none has.
type Sale func(r store.Reader, id string, given bool) (name string, err error)

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
	return s.start(ctx, false, typ, req, func(ctx context.Context) (aapay.Reply, error) { return s.next.Initialize(ctx, typ, req) })
}

// InitializeWithIdempotency implements aapay.Service.
func (s schemes) InitializeWithIdempotency(ctx context.Context, key wire.Key, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	return s.start(ctx, key != "", typ, req, func(ctx context.Context) (aapay.Reply, error) {
		return s.next.InitializeWithIdempotency(ctx, s.c.key(ctx, key), typ, req)
	})
}

func (s schemes) start(ctx context.Context, keyed bool, typ aapay.Type, req aapay.Request, send func(context.Context) (aapay.Reply, error)) (out aapay.Reply, err error) {
	if err = s.allow(ctx, typ, req); err != nil {
		return out, err
	}
	n := naming{about: reference, id: req.TerminalReference, owner: wire.Client(ctx), at: time.Now().UnixMilli()}
	occupied, undo, err := s.name(ctx, n, keyed, req)
	if err != nil {
		return out, err
	}
	asking, echo := wire.WithEcho(ctx)
	out, err = send(asking)
	proven := err == nil && out.Response != nil && out.Response.NAA2ECR != nil && out.Response.NAA2ECR.PPRef != ""
	if proven && !rejected(out) && n.owner != "" && !echo.Named() {
		if err = s.ours(ctx, n, req, out.Response.NAA2ECR.PPRef); err != nil {
			return aapay.Reply{}, err
		}
	}
	switch {
	case occupied && !proven:
		undo()
		switch {
		case err != nil:
		case rejected(out): // the service's refusal tells of what is not the caller's
			out, err = aapay.Reply{}, s.c.none(ctx, transaction)
		default: // it was taken, and what it made cannot be told from what stood there
			out, err = aapay.Reply{}, &wire.Error{Code: wire.UnknownOutcome, Op: "aapay.initialize", Msg: "accepted, and the terminalReference is that of another transaction, too: ask again under the same Idempotency-Key"}
		}
	case refused(err) || err == nil && rejected(out):
		undo()
	case err == nil:
		err = made("aapay.initialize", s.keep(ctx, out.Response))
	}
	return out, err
}

// ours is wire.UnknownOutcome where what an answer names was not made by the call, as far as a reading shows: an answer names neither the
// reference nor, where a service does not name it, the Key. What the call itself made is not known then, and keeps its naming.
func (s schemes) ours(ctx context.Context, n naming, req aapay.Request, ppref string) error {
	const op = "aapay.initialize"
	st, err := aapay.Status{}, error(wire.Errorf(wire.NotFound, op, "no reference"))
	if n.id != "" {
		st, err = s.look(ctx, n.id, req.Method)
	}
	mine := err == nil && slices.Contains(numbers(st), ppref)
	switch wire.CodeOf(err) {
	case wire.NotFound, wire.Invalid, wire.Conflict: // a service may know it by its own id alone, or two by the reference
		named, fault := s.c.namedBy(ctx, reference, n.id) // a repeat is answered for what the first call made
		if a := req.PurchaseAmount; n.id == "" && a != nil {
			n.amount, n.currency = a.TotalAmount, a.CurrencyCode
			named = []naming{n}
		}
		if st, err = s.look(ctx, ppref, req.Method); err == nil {
			err = fault
		}
		mine = err == nil && slices.Contains(numbers(st), ppref) && slices.ContainsFunc(named, func(of naming) bool { return s.c.shows(of, st) })
	}
	switch {
	case err != nil:
		return &wire.Error{Code: wire.UnknownOutcome, Op: op, Msg: "answered, and what it made cannot be read: ask again under the same Idempotency-Key", Err: err}
	case !mine:
		return &wire.Error{Code: wire.UnknownOutcome, Op: op, Msg: "the answer names another transaction: ask again under the same Idempotency-Key", Err: wire.ErrAnothers}
	}
	return nil
}

// name notes the reference of a call. It is noted with the amount, by which a status is known (naming.shows), only where nothing stands
// under it before the call leaves. undo takes it back.
func (s schemes) name(ctx context.Context, n naming, keyed bool, req aapay.Request) (occupied bool, undo func(), err error) {
	before, err := s.c.namedBy(ctx, reference, n.id)
	if err != nil {
		return false, nil, err
	}
	free := n.id == "" || !wire.CallerOf(ctx).Own || slices.ContainsFunc(before, func(b naming) bool { return b.amount > 0 })
	if !free {
		first, err := s.c.name(ctx, n)
		if err == nil {
			if occupied, err = s.occupied(ctx, req); err == nil && occupied && !keyed {
				err = s.c.none(ctx, transaction)
			}
			if err != nil || !occupied { // it is noted anew
				defer first()
			}
		}
		if err != nil || occupied {
			return occupied, first, err
		}
	}
	if a := req.PurchaseAmount; a != nil {
		n.amount, n.currency = a.TotalAmount, a.CurrencyCode
	}
	undo, err = s.c.name(ctx, n)
	return false, undo, err
}

// occupied says that something stands under a reference that the caller names for the first time. It is another's, whatever it looks like:
// amount and time are easily the same. Only the answer to the caller's own Key can prove that an earlier call of the caller made it (in a
// journal that has lost that call). Where the service does not say, nothing is sent.
func (s schemes) occupied(ctx context.Context, req aapay.Request) (bool, error) {
	if !wire.CallerOf(ctx).Own || req.TerminalReference == "" {
		return false, nil
	}
	_, err := s.look(ctx, req.TerminalReference, req.Method)
	switch wire.CodeOf(err) {
	case "", wire.Conflict: // a name that two have
		return true, nil
	case wire.NotFound, wire.Invalid:
		return false, nil
	}
	return false, &wire.Error{Code: wire.Unavailable, Op: "aapay.initialize", Msg: "the service does not say whether the terminalReference is free: nothing was sent", Err: err}
}

// look reads what a name is of, whatever its method: a service shows a transaction only to those who ask for its method or for any, and a
// call may name another.
func (s schemes) look(ctx context.Context, id, method string) (aapay.Status, error) {
	st, err := s.next.Status(ctx, id, method)
	if method == "" || wire.CodeOf(err) != wire.NotFound {
		return st, err
	}
	if st, fault := s.next.Status(ctx, id, ""); wire.CodeOf(fault) != wire.Invalid {
		return st, fault
	}
	return st, err
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
		if err := s.unsold(ctx, op, id, id == req.OriginalReference); err != nil {
			return err
		}
	}
	if !wire.CallerOf(ctx).Own && req.OriginalReference != "" {
		return s.unsoldByStatus(ctx, op, req)
	}
	switch { // a refund names a transactionId, a reversal a terminalReference
	case req.OriginalReference == "":
		return nil
	case typ == aapay.Reversal:
		return s.reachReference(ctx, req.OriginalReference, req.Method)
	}
	return s.c.reach(ctx, transaction, req.OriginalReference)
}

// reachReference is wire.NotFound where what stands under a reference now is not what a call of the caller made. Where nothing does, it
// may still come, and be the caller's alone.
func (s schemes) reachReference(ctx context.Context, id, method string) error {
	if !wire.CallerOf(ctx).Own {
		return nil
	}
	named, err := s.named(ctx, id)
	if err != nil {
		return err
	}
	st, err := s.look(ctx, id, method)
	switch {
	case wire.CodeOf(err) == wire.NotFound && len(named) > 0:
		if others, err := s.c.othersNamed(ctx, reference, id); err != nil || !others { // else what comes may be theirs
			return err
		}
		return s.c.none(ctx, transaction)
	case err != nil:
		return err
	}
	return s.own(ctx, st, id, named)
}

// named are the caller's namings of a reference. wire.NotFound where it has named none, before the backend is asked.
func (s schemes) named(ctx context.Context, id string) ([]naming, error) {
	list, err := s.c.namedBy(ctx, reference, id)
	if err != nil || len(list) > 0 {
		return list, err
	}
	older := false // it was named before ids were kept as they are spelled
	err = s.c.DB.Read(ctx, func(r store.Reader) error {
		return r.QueryRow(`SELECT EXISTS (SELECT 1 FROM owned_things WHERE about = ? AND id = ? AND owner = ? AND account = '')`, reference, strings.ToLower(id), wire.CallerOf(ctx).Name).Scan(&older)
	})
	switch {
	case err != nil:
		return nil, &wire.Error{Code: wire.Internal, Op: reference, Err: err}
	case !older:
		return nil, s.c.none(ctx, transaction)
	}
	return nil, nil
}

// numbers are the ids that the backend gave a transaction.
func numbers(st aapay.Status) (list []string) {
	if st.NAA2ECR != nil && st.NAA2ECR.PPRef != "" {
		list = append(list, st.NAA2ECR.PPRef)
	}
	if st.TransactionID != 0 {
		list = append(list, strconv.FormatInt(st.TransactionID, 10))
	}
	return list
}

// own gives the caller what a status by a reference shows, where that is what a call of its own made: an id that the call was answered
// with, or amount, currency and time. Else it is wire.NotFound.
func (s schemes) own(ctx context.Context, st aapay.Status, id string, named []naming) error {
	ids, mine := numbers(st), false
	if slices.Contains(ids, id) { // another's number, which the caller took for a reference
		return s.c.none(ctx, transaction)
	}
	for _, n := range ids {
		owner, found := "", false
		err := s.c.DB.Read(ctx, func(r store.Reader) (err error) { owner, found, err = s.c.Owner(r, transaction, n); return err })
		switch {
		case err != nil:
			return &wire.Error{Code: wire.Internal, Op: transaction, Err: err}
		case found && owner != wire.CallerOf(ctx).Name:
			return s.c.none(ctx, transaction)
		}
		mine = mine || found
	}
	if !mine && !slices.ContainsFunc(named, func(n naming) bool { return s.c.shows(n, st) }) {
		return s.c.none(ctx, transaction)
	}
	if !mine {
		others, err := s.c.othersNamed(ctx, reference, id)
		if err == nil && others { // amount and time are those of their call as well: only the answer to a call proves whose it is
			err = s.c.none(ctx, transaction)
		}
		if err != nil {
			return err
		}
	}
	for _, n := range ids {
		if err := s.c.got(ctx, transaction, n); err != nil {
			return err
		}
	}
	return nil
}

// unsold refuses an id of a register's sale. The refusal names the receipt, unless the caller sees no sale.
func (s schemes) unsold(ctx context.Context, op, id string, given bool) error {
	name, err := s.sold(ctx, id, given)
	switch {
	case err != nil || name == "":
		return err
	case wire.CallerOf(ctx).Own:
		return s.c.none(ctx, transaction)
	}
	return wire.Errorf(wire.Conflict, op, "it is the register's: %s; take it back at the register", name)
}

// unsoldByStatus is unsold of all that the backend tells of an original: it may know the original by a name that the journal has not
// heard. What the backend does not know is nobody's sale. Its error is the caller's: what cannot be told is not taken back.
func (s schemes) unsoldByStatus(ctx context.Context, op string, req aapay.Request) error {
	st, err := s.look(ctx, req.OriginalReference, req.Method)
	if wire.CodeOf(err) == wire.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	ids := numbers(st)
	if st.Receipt != nil && st.Receipt.Reference != "" {
		ids = append(ids, st.Receipt.Reference)
	}
	for _, id := range ids {
		if err := s.unsold(ctx, op, id, true); err != nil {
			return err
		}
	}
	return nil
}

func (s schemes) sold(ctx context.Context, id string, given bool) (name string, err error) {
	if id == "" || s.sale == nil {
		return "", nil
	}
	if err := s.c.DB.Read(ctx, func(r store.Reader) error { name, err = s.sale(r, id, given); return err }); err != nil {
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
	err = s.c.reach(ctx, transaction, id)
	var named []naming
	byReference := absent(err)
	if byReference {
		named, err = s.named(ctx, id)
	}
	if err != nil {
		return out, err
	}
	if out, err = s.next.Status(ctx, id, method); err != nil {
		return out, err
	}
	if byReference {
		if err = s.own(ctx, out, id, named); err != nil {
			return aapay.Status{}, err
		}
		return out, nil
	}
	if wire.CallerOf(ctx).Own && another(out, id) {
		return aapay.Status{}, &wire.Error{Code: wire.Unavailable, Op: op, Msg: "the answer is about another transaction: ask again", Err: wire.ErrAnothers}
	}
	list := numbers(out)
	if !slices.Contains(list, id) { // the answer does not tell the id that was asked for
		mine, err := s.shown(ctx, out)
		if err != nil {
			return aapay.Status{}, err
		}
		if mine {
			list = append(list, id)
		}
	}
	for _, n := range numbers(out) { // of one transaction: whose one of them is, all are
		for _, of := range list {
			if err == nil {
				err = s.c.as(ctx, transaction, n, transaction, of)
			}
		}
	}
	return out, err
}

// another says that a status which was asked for by an id of the backend's is of another transaction: it tells an id of that kind, and
// another one (law II).
func another(st aapay.Status, id string) bool {
	list := numbers(st)
	if slices.Contains(list, id) {
		return false
	}
	n, err := strconv.ParseInt(id, 10, 64)
	number := err == nil && n > 0 && strconv.FormatInt(n, 10) == id
	return number && st.TransactionID != 0 || !number && st.NAA2ECR != nil && st.NAA2ECR.PPRef != ""
}

// shown says that a status is of what a call of the caller made, by the reference that it tells.
func (s schemes) shown(ctx context.Context, st aapay.Status) (bool, error) {
	if st.Receipt == nil || st.Receipt.Reference == "" {
		return false, nil
	}
	named, err := s.c.namedBy(ctx, reference, st.Receipt.Reference)
	if err == nil {
		var others bool
		if others, err = s.c.othersNamed(ctx, reference, st.Receipt.Reference); others {
			named = nil
		}
	}
	return slices.ContainsFunc(named, func(of naming) bool { return s.c.shows(of, st) }), err
}
