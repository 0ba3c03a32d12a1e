package aapay

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"posagent/schemes/aapay"
	"posagent/schemes/backend/books/journal"
	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// Initialize implements aapay.Service.
func (w *Wallets) Initialize(ctx context.Context, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	return w.start(ctx, "", typ, req)
}

// InitializeWithIdempotency implements aapay.Service.
func (w *Wallets) InitializeWithIdempotency(ctx context.Context, key wire.Key, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	if _, err := wire.ParseKey(string(key)); err != nil {
		return aapay.Reply{}, &wire.Error{Code: wire.Invalid, Op: opInit, Err: err}
	}
	return w.start(ctx, key, typ, req)
}

const (
	opInit   = "aapay.initialize"
	opStatus = "aapay.status"
)

// said is what one initialize came to.
type said struct {
	reply aapay.Reply
	do    scenario.Do // how the reply is spoilt or refused, "" = not at all
}

func (w *Wallets) start(ctx context.Context, key wire.Key, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	a, err := w.check(key, typ, req)
	if err != nil {
		return aapay.Reply{}, err
	}
	a.trace, a.by = wire.TraceOf(ctx), room.CallerOf(ctx).Merchant
	if a.by != "" && a.by != req.MerchantID {
		return aapay.Reply{}, wire.Errorf(wire.NotFound, opInit, "merchantId: not the merchant of the credentials")
	}
	if key != "" {
		leave, err := w.Turn(ctx, opInit, a.by+"\x00"+string(key))
		if err != nil {
			return aapay.Reply{}, err
		}
		defer leave()
	}
	var s said
	err = w.DB.Write(ctx, func(tx store.Tx) error {
		var err error
		s, err = w.decide(tx, a)
		return err
	})
	if err != nil {
		return aapay.Reply{}, wire.AsError(opInit, err)
	}
	w.Poke()
	return answer(ctx, opInit, s.reply, s.do)
}

// answer gives a reply as the row has it: whole, refused, or for Perform to spoil.
func answer[T any](ctx context.Context, op string, reply T, do scenario.Do) (T, error) {
	var none T
	if no := scenario.Refused(op, do); no != nil {
		return none, no
	}
	lost := wire.Unavailable
	if op == opInit {
		lost = wire.UnknownOutcome
	}
	if err := scenario.Spoilt(ctx, op, do, lost); err != nil {
		return none, err
	}
	return reply, nil
}

// check applies what needs no store: the contract's own rules, money that is money, a method that exists.
func (w *Wallets) check(key wire.Key, typ aapay.Type, req aapay.Request) (asked, error) {
	invalid := func(format string, args ...any) (asked, error) {
		return asked{}, wire.Errorf(wire.Invalid, opInit, format, args...)
	}
	if err := aapay.Validate(typ, req); err != nil {
		return asked{}, err
	}
	typ, _ = aapay.ParseType(string(typ))
	cur, ok := money.Lookup(req.PurchaseAmount.CurrencyCode)
	if !ok {
		return invalid("purchaseAmount.currencyCode: not an ISO 4217 code")
	}
	minor, err := money.FromHundredths(req.PurchaseAmount.TotalAmount, cur)
	if err != nil || minor < 0 || minor == 0 && typ != aapay.Reversal {
		return invalid("purchaseAmount.totalAmount: not an amount of %s", cur.Alpha)
	}
	provider, ok := w.seed.find(req.Method)
	if !ok {
		return invalid("method: no such provider")
	}
	body, err := json.Marshal(struct {
		Type    aapay.Type
		Request aapay.Request
	}{typ, req})
	if err != nil {
		return invalid("request cannot be stored")
	}
	return asked{key: key, typ: typ, req: req, provider: provider, minor: minor, body: body, now: w.Now().UnixMilli()}, nil
}

// decide is the whole of an initialize inside one commit.
func (w *Wallets) decide(tx store.Tx, a asked) (said, error) {
	if a.key != "" {
		s, found, err := w.replay(tx, a)
		if found || err != nil {
			return s, err
		}
	}
	s, id, err := w.begin(tx, a)
	if err != nil || a.key == "" || s.do.Refuses() {
		return s, err
	}
	text, err := json.Marshal(stored{HTTPStatus: s.reply.HTTPStatus, Reply: s.reply})
	if err != nil {
		return said{}, fmt.Errorf("write reply: %w", err)
	}
	var txnID any
	if id != 0 {
		txnID = id
	}
	_, err = tx.Exec(`INSERT INTO wallets_key (key, body, reply, txn, created_ms) VALUES (?, ?, ?, ?, ?)`,
		scoped(a.by, string(a.key)), w.seal(a), string(text), txnID, a.now)
	if err != nil {
		return said{}, fmt.Errorf("store key: %w", err)
	}
	return s, nil
}

// stored is a reply kept under its key, with the status its own JSON leaves out.
type stored struct {
	HTTPStatus int
	Reply      aapay.Reply
}

// seal authenticates the body of a key, so that the key's row says nothing about the consumer.
func (w *Wallets) seal(a asked) []byte { return w.DB.MAC("wallets_key", string(a.key), a.body) }

// replay answers a key that was used before: the stored answer, or KeyReused for another body. What a merchant sent with the
// operator's credentials before it had its own is the same request, where the body is the same, and so is what it sent with its own.
func (w *Wallets) replay(tx store.Tx, a asked) (said, bool, error) {
	s, found, err := w.under(tx, a, a.by)
	if found || err != nil {
		return s, found, err
	}
	other := ""
	if a.by == "" {
		other = a.req.MerchantID
	}
	if s, found, err = w.under(tx, a, other); wire.CodeOf(err) == wire.KeyReused {
		return said{}, false, nil
	}
	return s, found, err
}

// under answers a key that one caller has used.
func (w *Wallets) under(tx store.Tx, a asked, by string) (said, bool, error) {
	var body []byte
	var text string
	err := tx.QueryRow(`SELECT body, reply FROM wallets_key WHERE key = ?`, scoped(by, string(a.key))).Scan(&body, &text)
	if errors.Is(err, sql.ErrNoRows) {
		return said{}, false, nil
	}
	if err != nil {
		return said{}, false, fmt.Errorf("read key: %w", err)
	}
	if !bytes.Equal(body, w.seal(a)) {
		return said{}, true, wire.Errorf(wire.KeyReused, opInit, "the key was used with another body")
	}
	var s stored
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return said{}, true, fmt.Errorf("read reply: %w", err)
	}
	s.Reply.HTTPStatus = s.HTTPStatus
	return said{reply: s.Reply}, true, nil
}

// begin creates the transaction, or says why not. id is 0 when nothing was created.
func (w *Wallets) begin(tx store.Tx, a asked) (s said, id int64, err error) {
	t := w.blank(a)
	row := scenario.Default()
	if a.typ == aapay.Payment {
		row = scenario.Pick(t.Hundredths, a.req.Consumer.ConsumerID)
		t.Scenario = row.Name
	}
	if no, err := w.taken(tx, a, t); no != "" || err != nil {
		return said{reply: rejection(aapay.CodeReject, extTaken, no, nil)}, 0, err
	}
	var why verdict
	if a.typ == aapay.Payment {
		why, err = w.preparePayment(tx, a, t)
	} else {
		why, err = w.prepareUndo(tx, a, t, &row)
	}
	if err != nil {
		return said{}, 0, err
	}
	act := row.Do
	if !about(row.On, a.typ) || why.no != "" {
		act = ""
	}
	mark := "init/" + string(a.typ) + "/" + row.Name + "/" + subject(a)
	if act.Refuses() || act.Spoils() {
		first, err := once(tx, mark, a.now)
		if err != nil {
			return said{}, 0, err
		}
		if !first {
			act = ""
		}
	}
	switch act {
	case scenario.SayResend:
		return said{reply: accepted(aapay.CodeResend, nil), do: act}, 0, nil
	case scenario.RefuseInternal, scenario.RefuseTooMany:
		return said{do: act}, 0, nil
	case scenario.SayReject, scenario.SayRejectValid, scenario.Composite:
		why = verdict{no: "the provider rejects the transaction", code: aapay.CodeReject, state: aapay.Rejected}
	case scenario.SayCancel:
		why = verdict{no: "the provider cancels the transaction", code: aapay.CodeCancel, state: aapay.Cancelled}
	case scenario.SayPending:
		t.State = aapay.Pending
	}
	if why.no != "" {
		t.State, t.Script = why.state, nil
	}
	if err := w.create(tx, a, t); err != nil {
		return said{}, 0, err
	}
	if act.Spoils() {
		s.do = act
	}
	if why.no != "" {
		s.reply = rejection(why.code, why.ext, why.no, w.naa(t))
		s.reply.Valid = act == scenario.SayRejectValid
		return s, t.ID, nil
	}
	s.reply = accepted(aapay.CodeOK, w.naa(t))
	switch act {
	case scenario.SayPending:
		s.reply.Response.ResponseCode = aapay.CodePending
	case scenario.SayOddCode:
		s.reply.Response.ResponseCode = 42
	case scenario.SayNotValid:
		s.reply.Valid = false
	case scenario.SayLink:
		s.reply.NextLink = &aapay.NextLink{Rel: "next", Title: "continue", URI: "http://scheme.example/next?id=" + t.PPRef}
	}
	return s, t.ID, w.advance(tx, t, a.now)
}

// create stores the transaction and opens the books of a payment.
func (w *Wallets) create(tx store.Tx, a asked, t *txn) error {
	request, err := json.Marshal(a.req)
	if err != nil {
		return fmt.Errorf("write request: %w", err)
	}
	if err := w.insert(tx, t, request); err != nil {
		return err
	}
	if err := journal.Traced(tx, Service, t.key(), a.trace); err != nil {
		return err
	}
	if t.Type != aapay.Payment {
		return nil
	}
	if err := journal.Open(tx, Service, t.key(), t.Currency, t.Minor); err != nil {
		return err
	}
	if bad(t.State) {
		return w.closeBooks(tx, t, a.now)
	}
	return nil
}

// subject names what "once" means for an initialize: its key, else its reference, else its original.
func subject(a asked) string {
	switch {
	case a.typ != aapay.Payment:
		return a.req.OriginalReference
	case a.key != "":
		return "key " + string(a.key)
	}
	return "ref " + a.req.TerminalReference
}

func (w *Wallets) naa(t *txn) *aapay.NAA2ECR {
	n := &aapay.NAA2ECR{SchemeID: t.Method, PPRef: t.PPRef}
	if p, ok := w.seed.find(t.Method); ok {
		n.SchemeID, n.AdditionalInfo = cmp.Or(p.WalletID, n.SchemeID), p.Label
	}
	return n
}

func accepted(code int, naa *aapay.NAA2ECR) aapay.Reply {
	return aapay.Reply{
		HTTPStatus: http.StatusAccepted, Valid: true,
		Response: &aapay.Response{ResponseCode: code, NAA2ECR: naa},
	}
}

func rejection(code, ext int, why string, naa *aapay.NAA2ECR) aapay.Reply {
	return aapay.Reply{
		HTTPStatus: http.StatusCreated,
		Error: &aapay.Fault{
			Message:         why,
			ComponsiteFault: &aapay.CompositeFault{Faults: []aapay.FaultItem{{ExplanationText: why}}},
		},
		Response: &aapay.Response{ResponseCode: code, ExtendedResponseCode: ext, NAA2ECR: naa},
	}
}
