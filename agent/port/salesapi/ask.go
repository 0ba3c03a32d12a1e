package salesapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"posagent/agent/checkout/drive/journal"
	"posagent/agent/httpd"
	"posagent/agent/intent"
	"posagent/agent/view"
	"posagent/ecr"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// What becomes of an approval that the client does not hear: Request.Unheard.
const (
	Keep = "keep" // it is kept, with an alert; the default
	Undo = "undo" // it is undone
)

// Limits of a request.
const (
	maxWait  = 60 * time.Second
	maxItems = 200
	maxText  = 128 // bytes of a text
	maxName  = 64  // of a reference, a method, an original
)

// invalid is a request that breaks a rule.
func invalid(format string, args ...any) error { return wire.Errorf(wire.Invalid, "", format, args...) }

// read reads the body of a request into v; an empty one is {} where may says so.
func read[T any](r *http.Request, may bool) (v T, err error) {
	if err := wire.InAddress(r.URL, reflect.TypeFor[T]()); err != nil {
		return v, err
	}
	data, err := wire.ReadBody(r, wire.MaxRequest)
	if err != nil || may && len(data) == 0 {
		return v, err
	}
	if _, err := wire.CheckJSON(r.Header.Get("Content-Type")); err != nil {
		return v, err
	}
	return wire.ParseOwn[T]("", data)
}

// keyOf reads the Idempotency-Key, which has to be there.
func keyOf(r *http.Request) (string, error) {
	key, err := wire.KeyFrom(r.Header)
	if err == nil && key == "" {
		err = invalid("%s is missing: make one before the first try, and repeat it with each try", wire.KeyHeader)
	}
	return string(key), err
}

// wait reads how long a request may wait for the outcome: "25s", or whole seconds.
func wait(r *http.Request) (time.Duration, error) {
	list := r.URL.Query()["wait"]
	if len(list) == 0 {
		return 0, nil
	}
	d, err := time.ParseDuration(list[0])
	if n, whole := strconv.Atoi(list[0]); whole == nil && n <= int(maxWait/time.Second) {
		d, err = time.Duration(n)*time.Second, nil
	}
	if err != nil || len(list) > 1 || d < 0 || d > maxWait {
		return 0, invalid("wait: want a time from 0s to 60s")
	}
	return d, nil
}

// begin serves a request for a sale.
func (t *Till) begin(w http.ResponseWriter, r *http.Request) error {
	body, err := read[Request](r, false)
	if err != nil {
		return err
	}
	req, err := body.request()
	if err != nil {
		return err
	}
	return t.sell(w, r, req, body.Language, "", func() error { return nil })
}

// request is what is asked of the checkout, with what can be checked here.
func (b Request) request() (req ecr.Request, err error) {
	if b.Type == "" {
		b.Type = ecr.Payment
	}
	for _, text := range []struct {
		name, value string
		most        int
	}{{"reference", b.Reference, maxName}, {"method", b.Method, maxName}, {"original", b.Original, maxName}, {"consumerId", b.ConsumerID, maxText}, {"language", b.Language, 16}} {
		if text.value != "" && !wire.PlainText(text.value, text.most) {
			return req, invalid("%s: want at most %d characters that can be printed", text.name, text.most)
		}
	}
	switch {
	case b.Amount < 0 || b.Amount == 0 && b.Type != ecr.Reversal:
		return req, invalid("amount: want minor units above 0")
	case b.Receipt < 0 || b.Receipt > 9999:
		return req, invalid("receipt: want a number from 1 to 9999")
	case b.Unheard != "" && b.Unheard != Keep && b.Unheard != Undo:
		return req, invalid("unheard: want keep or undo")
	case len(b.Order) > maxItems:
		return req, invalid("order: at most %d lines", maxItems)
	}
	req = ecr.Request{
		Kind: b.Type, Amount: money.Minor(b.Amount), Currency: b.Currency, Method: b.Method, ConsumerID: b.ConsumerID, Reference: b.Reference,
		Progress: true, Keep: b.Unheard != Undo, ByTCP: true,
	}
	switch b.Type {
	case ecr.Payment:
		if b.Original != "" || b.Receipt != 0 {
			return req, invalid("original, receipt: a payment has none")
		}
	case ecr.Refund:
		if req.Original = b.Original; b.Receipt != 0 && b.Original == "" {
			req.Original = "R" + strconv.FormatInt(b.Receipt, 10)
		}
		if req.Original == "" || b.Receipt != 0 && b.Original != "" {
			return req, invalid("original: want R<receipt>, R<batch>/<receipt> or T<transaction>, or receipt alone")
		}
	case ecr.Reversal:
		if req.Receipt = int(b.Receipt); b.Receipt == 0 || b.Original != "" {
			return req, invalid("receipt: a reversal names its payment by the receipt number, and by nothing else")
		}
	default:
		return req, invalid("type: want payment, refund or reversal")
	}
	for i, l := range b.Order {
		for _, text := range []string{l.ItemNo, l.Name, l.Unit} {
			if text != "" && !wire.PlainText(text, maxText) {
				return req, invalid("order[%d]: want texts of at most %d characters that can be printed", i, maxText)
			}
		}
		req.Lines = append(req.Lines, ecr.Item{
			ItemNo: l.ItemNo, Name: l.Name, Unit: l.Unit, Quantity: l.Quantity, UnitPrice: money.Minor(l.UnitPrice), Gross: money.Minor(l.Gross),
			Tax: money.Minor(l.Tax), TaxRate: l.TaxRate,
		})
	}
	return req, nil
}

// takeBack serves a refund or reversal of a sale that is named by its id.
func (t *Till) takeBack(w http.ResponseWriter, r *http.Request, refund bool) error {
	body, err := read[Taken](r, !refund)
	if err != nil {
		return err
	}
	_, row, err := t.o.House.Sale(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	b := Request{Type: ecr.Refund, Amount: body.Amount, Currency: row.Currency, Reference: body.Reference, Unheard: body.Unheard}
	judge := func() error { return nil }
	held := &ecr.Refusal{Code: ecr.NotReversible, Text: ecr.HeldText(t.o.Language)}
	switch {
	case row.Receipt == 0 && row.Held():
		return held
	case row.Receipt == 0:
		return &ecr.Refusal{Code: ecr.NotReversible, Text: "the sale has no receipt number: it was not approved, or it was undone"}
	case refund:
		b.Original = fmt.Sprintf("R%d/%d", row.Batch, row.Receipt)
	default:
		b.Type, b.Receipt, b.Amount = ecr.Reversal, int64(row.Receipt), cmp.Or(body.Amount, int64(row.Amount))
		judge = func() error { return t.today(r.Context(), row) }
	}
	if row.Held() { // what its row says is not to be relied on, and nothing new is begun
		b.Amount, judge = body.Amount, func() error { return held }
	}
	req, err := b.request()
	if err != nil {
		return err
	}
	return t.sell(w, r, req, "", row.Key, judge)
}

// today refuses to reverse a sale of a closed batch: the open one may give its number anew.
func (t *Till) today(ctx context.Context, row *journal.Row) error {
	var open int
	err := t.o.DB.Read(ctx, func(tx store.Reader) (err error) { open, err = journal.Batch(tx); return err })
	if err == nil && row.Batch != open {
		err = &ecr.Refusal{Code: ecr.NotReversible, Text: "the batch of the sale is closed: refund it"}
	}
	return err
}

// sell begins a sale, or joins the one that was begun under the same key, and answers with it. of is the original that the path names,
// "" = none; judge decides about what is new.
func (t *Till) sell(w http.ResponseWriter, r *http.Request, req ecr.Request, language string, of wire.Key, judge func() error) error {
	ctx := r.Context()
	key, err := keyOf(r)
	if err != nil {
		return err
	}
	within, err := wait(r)
	if err != nil {
		return err
	}
	req.Line, req.Sequence = line(ctx), key
	req.Trace = string(wire.TraceOf(ctx))
	sale, err := t.start(ctx, req, of, judge)
	if err != nil {
		return err
	}
	run := t.follow(ctx, key, sale)
	heard := false
	defer func() { run.leave(heard) }()
	t.await(w, r, run, within)
	heard, err = t.answer(w, r, run, sale.ID, language)
	return err
}

// start begins the sale of a request. Where the client has ended its connection it begins none: it may
// have asked by the key since, and was told that nothing will be done.
func (t *Till) start(ctx context.Context, req ecr.Request, of wire.Key, judge func() error) (sale ecr.Sale, err error) {
	defer t.takings.Take(line(ctx), req.Sequence)()
	if sale, known, err := t.repeated(ctx, req, of); known {
		return sale, err
	}
	if err := judge(); err != nil {
		return sale, err
	}
	if err := t.reaches(ctx, req); err != nil {
		return sale, err
	}
	t.recorded()
	if httpd.Gone(ctx) {
		return sale, invalid("the client ended the connection before the sale began: nothing was begun")
	}
	sale, err = t.o.Desk.Begin(written(ctx), req)
	return sale, t.otherBody(ctx, req.Sequence, err)
}

// bySequence reads the caller's newest sale under a key. It returns journal.ErrUnknown.
func (t *Till) bySequence(ctx context.Context, r store.Reader, key string) (*journal.Row, error) {
	return journal.Named(r, line(ctx), intent.KeptName(t.o.DB, key))
}

// repeated looks for the sale of the same key before anything else is judged: whatever ended a day, or closed a batch, since the
// request was answered changes nothing of the answer. known is false where the key is new, or so old that it may be used anew.
func (t *Till) repeated(ctx context.Context, req ecr.Request, of wire.Key) (sale ecr.Sale, known bool, err error) {
	var row *journal.Row
	err = t.o.DB.Read(ctx, func(tx store.Reader) (err error) { row, err = t.bySequence(ctx, tx, req.Sequence); return err })
	if errors.Is(err, journal.ErrUnknown) || err == nil && of != "" && row.Original != of {
		return sale, false, nil
	}
	if err != nil {
		return sale, true, err
	}
	t.recorded()
	req.Repeat = true
	sale, err = t.o.Desk.Begin(written(ctx), req)
	if errors.Is(err, ecr.ErrNone) {
		return sale, false, nil
	}
	return sale, true, t.otherBody(ctx, req.Sequence, err)
}

// await waits for the outcome, for as long as the request says.
func (t *Till) await(w http.ResponseWriter, r *http.Request, run *run, within time.Duration) {
	if within == 0 {
		return
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(within + writeWithin)) // what cannot be written fails later
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-run.ended:
	case <-timer.C:
	case <-r.Context().Done():
	case <-t.done:
	}
}

// reaches refuses an original of another client's: it is not known.
func (t *Till) reaches(ctx context.Context, req ecr.Request) error {
	caller := wire.CallerOf(ctx)
	if !caller.Own || req.Kind == ecr.Payment {
		return nil
	}
	var of string
	err := t.o.DB.Read(ctx, func(tx store.Reader) (err error) {
		name, batch, receipt := req.Original, 0, req.Receipt
		if id, ok := strings.CutPrefix(name, "T"); ok {
			n, _ := strconv.ParseInt(id, 10, 64) // none has the number 0
			of, err = journal.LineOfTransaction(tx, n)
			return err
		}
		if req.Kind == ecr.Reversal {
			batch, err = journal.Batch(tx)
		} else if first, second, two := strings.Cut(strings.TrimPrefix(name, "R"), "/"); two {
			batch, _ = strconv.Atoi(first)
			receipt, _ = strconv.Atoi(second)
		} else {
			receipt, _ = strconv.Atoi(first)
		}
		if err == nil {
			of, err = journal.LineOfReceipt(tx, batch, receipt)
		}
		if err == nil && of == "" && req.Kind == ecr.Reversal { // the checkout says that its day is closed
			of, err = journal.LineOfReceipt(tx, 0, receipt)
		}
		return err
	})
	if err == nil && (of == "" || view.OwnerOf(of) != caller.Name) {
		err = wire.Errorf(wire.NotFound, "", "no such sale: this terminal has not sold it to you; the one that has sold it must give the money back")
	}
	return err
}

// otherBody says of a refusal whether the key was used for another request.
func (t *Till) otherBody(ctx context.Context, key string, err error) error {
	var no *ecr.Refusal
	if !errors.As(err, &no) || no.Code != ecr.Processing {
		return err
	}
	known := t.o.DB.Read(ctx, func(tx store.Reader) error { _, err := t.bySequence(ctx, tx, key); return err })
	if known == nil {
		return wire.Errorf(wire.KeyReused, "", "the %s was used for another sale, with another type, amount, currency, original or reference: nothing was begun", wire.KeyHeader)
	}
	return err
}

// abort asks a running sale to stop.
func (t *Till) abort(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if _, err := wire.KeyFrom(r.Header); err != nil {
		return err
	}
	if _, err := wire.ReadBody(r, maxText); err != nil {
		return err
	}
	_, row, err := t.o.House.Sale(ctx, r.PathValue("id"))
	if err != nil {
		return err
	}
	if row.State.Result != ecr.Aborted { // asked again it is the same answer
		if err := t.o.Desk.Abort(written(ctx), string(row.Key)); err != nil {
			return err
		}
	}
	return t.told(w, r, row, "")
}
