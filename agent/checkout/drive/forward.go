package drive

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/gateway"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
	"posagent/store"
)

// repeats finds the refund or reversal that a request repeats (MONEY A.9): one of its line that runs,
// that a person has to look at, or whose end the register does not have. rows are the active sales;
// "" = it repeats none.
func (a *accepting) repeats(r store.Reader, rows []*journal.Row) (wire.Key, error) {
	orig, err := a.meant(r)
	if err != nil {
		return "", err
	}
	same := func(row *journal.Row) bool {
		return row.Line == a.req.Line && sameKind(row, a.req) && sameForward(row, a.req, orig)
	}
	for _, row := range rows {
		if (checkout.Running(row.State) || row.Held()) && same(row) {
			return row.Key, nil
		}
	}
	ended, err := a.d.j.Untold(r)
	if err != nil {
		return "", err
	}
	for _, row := range ended {
		if same(row) {
			return row.Key, nil
		}
	}
	return "", nil
}

// sameKind reports whether a sale is of the kind that a request asks for: a reversal of a part is a
// refund.
func sameKind(r *journal.Row, req ecr.Request) bool {
	return r.Kind == req.Kind || req.Kind == ecr.Reversal && req.Part && r.Kind == ecr.Refund
}

// inPart returns the refund that a reversal of less than the original is; any other request stays.
func inPart(req ecr.Request, o *journal.Row) ecr.Request {
	if req.Kind == ecr.Reversal && req.Part && req.Amount > 0 && req.Amount < o.Amount {
		req.Original, req.Kind = askedFor(req), ecr.Refund
	}
	return req
}

// sameForward says whether a request speaks of the same original and amount, by whatever name. orig is
// the payment that it names now, "" where it names none.
func sameForward(r *journal.Row, req ecr.Request, orig wire.Key) bool {
	asked := askedFor(req)
	trace, last := strings.CutPrefix(asked, "L")
	same := r.Original == orig
	switch {
	case last && trace != "": // also after other sales
		same = trace == strconv.Itoa(r.OriginalTrace)
	case orig == "":
		same = !last && asked != "" && asked == r.Asked // of a closed day: its number is no name any more
	}
	return same && (req.Amount == 0 || req.Amount == r.Amount)
}

// askedFor is how the register named the original.
func askedFor(req ecr.Request) string {
	if req.Kind == ecr.Reversal && req.Original == "" {
		return "R" + strconv.Itoa(req.Receipt)
	}
	return req.Original
}

// joinRepeated joins the refund or reversal that a request repeats while nothing new may begin: refused,
// it would be taken for one that is not carried out. ok is false where it repeats none.
func (d *Drive) joinRepeated(ctx context.Context, req ecr.Request) (sale ecr.Sale, ok bool) {
	if !d.mayRepeat(req) {
		return ecr.Sale{}, false
	}
	var key wire.Key
	err := d.db.Write(ctx, func(tx store.Tx) (err error) {
		if key, err = d.repeated(tx, req); err == nil && key != "" {
			err = journal.AskedAgain(tx, req.Line, key)
		}
		return err
	})
	if err != nil {
		return d.joinUnwritten(ctx, req)
	}
	if key == "" {
		return ecr.Sale{}, false
	}
	sale, err = d.joinKnown(ctx, key)
	return sale, err == nil
}

// joinUnwritten is joinRepeated while the journal cannot be written.
func (d *Drive) joinUnwritten(ctx context.Context, req ecr.Request) (sale ecr.Sale, ok bool) {
	if !d.mayRepeat(req) {
		return ecr.Sale{}, false
	}
	var key wire.Key
	err := d.db.Read(ctx, func(r store.Reader) (err error) { key, err = d.repeated(r, req); return err })
	if err != nil || key == "" {
		return ecr.Sale{}, false
	}
	return d.p.JoinUnwritten(ctx, key)
}

// mayRepeat says that a request may repeat one that has no id; the end of another one is not told under an
// id of its own.
func (d *Drive) mayRepeat(req ecr.Request) bool {
	return req.Kind != ecr.Payment && req.Sequence == "" && d.acceptable(req) == nil
}

// repeated is the refund or reversal that a request repeats; "" = none.
func (d *Drive) repeated(r store.Reader, req ecr.Request) (wire.Key, error) {
	rows, err := d.j.Active(r)
	if err != nil {
		return "", err
	}
	return (&accepting{d: d, req: req}).repeats(r, rows)
}

// joinEnded joins the sale that a request repeats by its id before the journal is taken up, or as the program
// stops: what has ended can change no more, and "not ready" is a no to registers that can wait no longer.
func (d *Drive) joinEnded(ctx context.Context, req, asked ecr.Request) (sale ecr.Sale, ok bool) {
	key, _, err := d.known(ctx, req, asked)
	if err != nil || key == "" {
		return ecr.Sale{}, false
	}
	if row, err := d.j.Sale(ctx, key); err != nil || row.State.Result == "" {
		return ecr.Sale{}, false
	}
	return d.p.JoinUnwritten(ctx, key)
}

// joinKnown joins the sale that a request repeats, also where the journal cannot be written.
func (d *Drive) joinKnown(ctx context.Context, key wire.Key) (ecr.Sale, error) {
	sale, err := d.p.Join(ctx, key)
	if err != nil {
		if sale, ok := d.p.JoinUnwritten(ctx, key); ok {
			return sale, nil
		}
	}
	return sale, err
}

// meant is the payment that a request speaks of; "" where it names none.
func (a *accepting) meant(r store.Reader) (wire.Key, error) {
	row, err := a.named(r)
	var no refusal
	switch {
	case errors.As(err, &no), errors.Is(err, journal.ErrUnknown):
		return "", nil
	case err != nil && !errors.Is(err, journal.ErrQuarantined):
		return "", err
	case row == nil:
		return "", nil
	}
	return row.Key, nil
}

// original finds the payment a refund or reversal speaks of, and checks that it can be taken back.
func (a *accepting) original(tx store.Tx) (*journal.Row, error) {
	row, err := a.named(tx)
	switch {
	case errors.Is(err, journal.ErrUnknown):
		return nil, a.notSold(tx)
	case errors.Is(err, journal.ErrQuarantined):
		return nil, aPersonLooks(row)
	case err == nil && row.Held():
		return nil, refuse(ecr.NotReversible, "%s", ecr.HeldText(a.d.cfg.Language))
	case err != nil:
		return nil, err
	}
	place, err := journal.Elsewhere(tx, row)
	if err == nil {
		err = reversible(row, inPart(a.req, row))
	}
	if place != "" {
		err = refuse(ecr.NotReversible, "the original was paid at %s, before the provider changed: give it back there", place)
	}
	return row, err
}

// notSold says why the journal has no such payment, and who can give the money back.
func (a *accepting) notSold(tx store.Tx) error {
	asked := askedFor(a.req)
	if a.req.Kind == ecr.Reversal && a.req.Original == "" {
		switch row, err := a.d.j.Newest(tx, a.req.Receipt); {
		case errors.Is(err, journal.ErrQuarantined):
			return aPersonLooks(row)
		case err == nil:
			return closedDay(row)
		case !errors.Is(err, journal.ErrUnknown):
			return err
		}
	}
	if err := unsaid(tx); err != nil {
		return err
	}
	if asked == "" || strings.HasPrefix(asked, "L") {
		return refuse(ecr.NotReversible, "this register has sold nothing")
	}
	return refuse(ecr.NotReversible, "this terminal has not sold %s: the one that has sold it must give the money back", asked)
}

// closedDay refuses the reversal of a payment whose day is over: it can be refunded.
func closedDay(row *journal.Row) error {
	return refuse(ecr.NotReversible, "receipt %d is of the closed day %d: refund it, as R%d/%d", row.Receipt, row.Batch, row.Batch, row.Receipt)
}

// aPersonLooks refuses what nothing may be done with by itself.
func aPersonLooks(row *journal.Row) error {
	return refuse(ecr.NotReversible, "a person must look at this sale first: posagent sale show %s", row.Key)
}

// named finds the payment a refund or reversal speaks of, whatever has become of it. It returns
// journal.ErrUnknown, journal.ErrQuarantined, and a refusal of what names none.
func (a *accepting) named(tx store.Reader) (*journal.Row, error) {
	d, req := a.d, a.req
	open, err := journal.Batch(tx)
	if err != nil {
		return nil, err
	}
	var row *journal.Row
	switch {
	case strings.HasPrefix(req.Original, "L"):
		row, err = d.j.LastPaymentOf(tx, req.Line)
		trace := req.Original[1:]
		if err = cmp.Or(a.lastLost(tx, row, err), lostTrace(tx, trace), err); err != nil {
			return row, err
		}
		switch {
		case trace != "" && trace != strconv.Itoa(row.Trace):
			return nil, refuse(ecr.NotReversible, "the last payment is another one")
		case row.Batch != open:
			return nil, closedDay(row)
		}
	case req.Kind == ecr.Reversal:
		row, err = d.j.InBatch(tx, open, req.Receipt)
		return byNumber(tx, req, row, err, func(l journal.Lost) bool { return l.Receipt(req.Receipt) })
	case req.Original == "":
		if !d.cfg.RefundLast && !req.RefundLast {
			return nil, refuse(ecr.NoOriginal, "%s", ecr.NameOriginal(d.cfg.Language))
		}
		row, err = d.j.LastPaymentOf(tx, req.Line)
		err = cmp.Or(a.lastLost(tx, row, err), err)
	case strings.HasPrefix(req.Original, "R"):
		batch, receipt, ok := receiptNamed(req.Original[1:])
		switch {
		case !ok:
			return nil, refuse(ecr.NotReversible, "%q names no receipt: R<receipt> or R<batch>/<receipt>", req.Original)
		case batch != 0:
			row, err = d.j.InBatch(tx, batch, receipt)
		default:
			row, err = d.j.Newest(tx, receipt)
			return byNumber(tx, req, row, err, func(l journal.Lost) bool { return l.Receipt(receipt) })
		}
	case strings.HasPrefix(req.Original, "T"):
		n, convert := strconv.ParseInt(req.Original[1:], 10, 64)
		if convert != nil || n == 0 {
			return nil, refuse(ecr.NotReversible, "%q names no transaction", req.Original)
		}
		if row, err = d.j.ByTransactionID(tx, n); errors.Is(err, journal.ErrAmbiguousID) {
			return nil, refuse(ecr.NotReversible, "T%d names two payments: name the receipt", n)
		}
	default:
		return nil, refuse(ecr.NotReversible, "%q names no original", req.Original)
	}
	return row, err
}

// lastLost refuses "the last payment" where the journal whose place this one took may have sold it;
// nil = it cannot have.
func (a *accepting) lastLost(r store.Reader, row *journal.Row, err error) error {
	switch {
	case errors.Is(err, journal.ErrUnknown):
		row = nil
	case err != nil:
		return nil
	}
	old, err := journal.BeforeLoss(r, row)
	if err == nil && old {
		err = ambiguous(r)
	}
	return err
}

// lostTrace refuses a trace number that the journal whose place this one took may have given.
func lostTrace(r store.Reader, trace string) error {
	n, err := strconv.Atoi(trace)
	if err != nil {
		return nil
	}
	numbers, err := journal.LostNumbers(r)
	if err == nil && numbers.Trace(n) {
		err = ambiguous(r)
	}
	return err
}

// receiptNamed reads <receipt> or <batch>/<receipt>; batch is 0 where none is named.
func receiptNamed(s string) (batch, receipt int, ok bool) {
	first, second, two := strings.Cut(s, "/")
	if two {
		var err error
		if batch, err = strconv.Atoi(first); err != nil || batch <= 0 {
			return 0, 0, false
		}
		first = second
	}
	receipt, err := strconv.Atoi(first)
	return batch, receipt, err == nil && !journal.NoReceipt(receipt)
}

// reversible applies the ledger of the original.
func reversible(o *journal.Row, req ecr.Request) error {
	switch {
	case o.Kind != ecr.Payment:
		return refuse(ecr.NotReversible, "only payments can be taken back")
	case (req.Kind == ecr.Reversal || req.Part) && (o.Reversed || o.Undone()):
		return refuse(ecr.AlreadyReversed, "already reversed")
	case o.State.Phase != checkout.Confirmed && o.State.Phase != checkout.Done, o.State.Result != ecr.Approved:
		return refuse(ecr.NotReversible, "the original is not an acknowledged payment")
	case req.Kind == ecr.Reversal && o.Debited != 0:
		return refuse(ecr.NotReversible, "refunded in part")
	case req.Kind == ecr.Reversal && req.Amount != 0 && req.Amount != o.Amount:
		return refuse(ecr.AmountWrong, "the original had another amount")
	case req.Kind == ecr.Refund && req.Amount > o.Amount-o.Debited:
		return refuse(ecr.AmountWrong, "more than is left of the original: %s", journal.Amount(o.Amount-o.Debited, o.Currency))
	case req.Currency != o.Currency:
		return refuse(ecr.WrongCurrency, "the original was in %s", o.Currency)
	}
	return nil
}

// writeForward debits the ledger, stores the sale and accepts its operation, in one commit.
func (a *accepting) writeForward(tx store.Tx) error {
	d := a.d
	orig, err := a.original(tx)
	if err != nil {
		return err
	}
	req := inPart(a.req, orig)
	row, err := d.newRow(tx, req, a.key, a.reuse)
	if err != nil {
		return err
	}
	if req.Kind == ecr.Reversal {
		row.Amount = orig.Amount
	}
	row.Method, row.Original, row.Asked, row.OriginalTrace = orig.Method, orig.Key, askedFor(req), orig.Trace
	if req.Part && req.Kind == ecr.Refund && !methods.Supports(orig.Method, methods.Refund) {
		return refuse(ecr.NotReversible, "%s gives back the whole amount only", orig.Method.Label)
	}
	typ, ref, err := back(req.Kind, orig)
	if err != nil {
		return err
	}
	pick := checkout.Back(orig.Method, backType(typ), checkout.Wish{Answers: a.req.Answers})
	if a.asks = pick.Asks(); a.asks && !(d.person() && pick.Answerable()) {
		return refuse(ecr.NotReversible, "%s asks for %q first: a keypad is needed", orig.Method.Label, pick.Open()[0].Label)
	}
	a.offers, a.pick = []checkout.Pick{pick}, 0
	limits := checkout.LimitsOf(orig.Method, d.cfg.TimeoutUnit, cmp.Or(a.req.Patience, d.cfg.Patience), false)
	terms := checkout.Terms{Kind: req.Kind, Ask: a.asks, Limits: limits, Till: a.till()}
	if terms.ReadFirst, err = journal.UsedBefore(tx, a.req.Sequence); err != nil {
		return err
	}
	row.State, _ = checkout.Start(terms, d.boot())
	if err := d.j.AcceptForward(tx, row, orig, typ, ref, params(pick, sent(a.req, pick))); err != nil {
		return err
	}
	a.steps = append(a.steps, d.j.Step(row, nil))
	return d.j.GivenBackAfterLoss(tx, row, orig)
}

// back is how the backend is asked to give money back, and how the original is named for it.
func back(kind ecr.Kind, orig *journal.Row) (typ aapay.Type, ref string, err error) {
	typ, ref = aapay.Reversal, orig.Reference
	if kind == ecr.Refund || !methods.Supports(orig.Method, methods.Reversal) {
		typ, ref = aapay.Refund, strconv.FormatInt(orig.State.TransactionID, 10)
	}
	if typ == aapay.Refund && (!methods.Supports(orig.Method, methods.Refund) || orig.State.TransactionID == 0) {
		return "", "", refuse(ecr.NotReversible, "the method cannot give money back")
	}
	if orig.Method.Name == gateway.MethodPaylink { // its number is its account's: another account may have given it, too
		ref = orig.Reference
	}
	return typ, ref, nil
}

func backType(typ aapay.Type) methods.TransactionType {
	if typ == aapay.Refund {
		return methods.Refund
	}
	return methods.Reversal
}
