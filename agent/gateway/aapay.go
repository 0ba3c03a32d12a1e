package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/intent"
	"posagent/agent/outbox"
	"posagent/schemes/aapay"
	"posagent/schemes/wire"
	"posagent/store"
)

// The kinds of this file.
const (
	KindReversal     = "aapay.reversal"
	KindRefund       = "aapay.refund"
	KindLinkReversal = "paylink.reversal" // of a payment link used as a method (MONEY B.15)
	KindLinkRefund   = "paylink.refund"
)

// undoRows are the undos' part of the table.
func undoRows() []Row {
	row := func(kind, service string) Row {
		return Row{Kind: kind, Service: service, Thing: "terminalReference", Offline: Always, Replay: outbox.SameKey, Keyless: outbox.Compare}
	}
	return []Row{row(KindReversal, Schemes), row(KindRefund, Schemes), row(KindLinkReversal, LinkUndos), row(KindLinkRefund, LinkUndos)}
}

// The names of the services in the outbox's list of services.
const (
	Schemes   = "schemes"
	LinkUndos = "paylink" // of the method; the links of local clients are another, so that neither holds the other up
)

// MethodPaylink is the method whose transactions are payment links. The name is the terminal's own.
const MethodPaylink = "paylink"

// InDoubt is the word of an undo that a service of ours cannot tell the end of: a person decides.
const InDoubt aapay.State = "IN_DOUBT"

// IsUndo says that a kind gives the money of a sale back: for a register, or as an undo.
func IsUndo(kind string) bool {
	return kind == KindReversal || kind == KindRefund || kind == KindLinkReversal || kind == KindLinkRefund
}

// KindOf names the kind that takes a payment by a method back: by its reference, or by its transactionId.
func KindOf(method string, refund bool) string {
	switch link := method == MethodPaylink; {
	case link && refund:
		return KindLinkRefund
	case link:
		return KindLinkReversal
	case refund:
		return KindRefund
	}
	return KindReversal
}

// wordReversed is the state of a reversal that is done, and of a payment that was reversed.
const wordReversed = "REVERSED"

const (
	firstPoll     = 2 * time.Second // S1's providers ask for two seconds
	defaultWindow = 10 * time.Minute
)

// UndoPayload is the payload of both kinds, as JSON.
type UndoPayload struct {
	Request aapay.Request `json:"request"`           // OriginalReference and TerminalReference set
	OKWords []string      `json:"okWords,omitempty"` // okCodes values of the method for this type
	// ReadFirst: a journal before this one may have used the Key. Nothing is sent under it until the
	// backend has said that it knows nothing of it.
	ReadFirst bool `json:"readFirst,omitempty"`
	// Window is how long "not found" proves nothing: stale age plus time-out of the method; 0 = 10 minutes.
	Window time.Duration `json:"windowNs,omitempty"`
	// OriginalID is the transactionId of what is taken back, 0 = not known: a status that has it is not this operation's.
	OriginalID int64 `json:"originalId,omitempty"`
}

// UndoResult is the result of both kinds, as JSON.
type UndoResult struct {
	OK            bool               `json:"ok"` // proven done
	State         aapay.State        `json:"state,omitempty"`
	AccountState  aapay.AccountState `json:"accountState,omitempty"`
	HTTPStatus    int                `json:"httpStatus,omitempty"` // of the initialize reply that ended it: 201
	ResponseCode  int                `json:"responseCode"`
	TransactionID string             `json:"transactionId,omitempty"` // the undo's own, "" if never told
	PPRef         string             `json:"ppref,omitempty"`
	NotFound      bool               `json:"notFound,omitempty"` // the backend never heard of it
	Code          wire.Code          `json:"code,omitempty"`     // why the backend refused it
	ByHand        bool               `json:"byHand,omitempty"`   // a technician's decision, not an answer
	Used          *checkout.Use      `json:"used,omitempty"`     // what the journal before this one has made under the Key: nothing was sent
	Text          string             `json:"text,omitempty"`
}

// undoMemo is what an attempt leaves for the next.
type undoMemo struct {
	Answered bool           `json:"answered,omitempty"` // a 202 or a status was read: the backend has known it
	Names    intent.Names   `json:"names,omitzero"`     // what the backend has called it
	Refused  *UndoResult    `json:"refused,omitempty"`  // a no that names nothing of the request, so a read has to agree: a 201, or what came behind a lost attempt
	NoRoute  bool           `json:"noRoute,omitempty"`  // the first attempt found no idempotent route: a read says whether it has arrived all the same
	PlainAt  int            `json:"plainAt,omitempty"`  // the attempt that may use the plain route; 0 = idempotent route
	First    *time.Duration `json:"first,omitempty"`    // the running time of the first attempt
	Strange  *time.Duration `json:"strange,omitempty"`  // the running time since which every status was another's
	Gone     *time.Duration `json:"gone,omitempty"`     // the running time since which the backend has said "not found"
	Late     *time.Duration `json:"lateAt,omitempty"`   // the running time since which a refund has been TIMEDOUT
	Asked    int            `json:"asked,omitempty"`    // status reads, for their rhythm
	Clash    *time.Duration `json:"clash,omitempty"`    // the running time of the first 409 that is not ours, and does not say that it runs
	Touched  bool           `json:"touched,omitempty"`  // an attempt had a connection, or may have had one
	Free     bool           `json:"free,omitempty"`     // read first: the backend knows nothing under the Key
	Ended    int            `json:"ended,omitempty"`    // the attempt that this memo is of
	Live     bool           `json:"live,omitempty"`     // it left the operation sent
	Lost     bool           `json:"lost,omitempty"`     // an attempt may have had its effect, and was not answered
	Good     int64          `json:"good,omitempty"`     // the transaction of a good end that may be the payment's own
}

// Settled is told the outcome in the commit that ends an undo; op.State may be Doubt.
type Settled func(tx store.Tx, op outbox.Op, res UndoResult) error

// Undos are the kinds of both services. settled and after may be nil.
func Undos(schemes, links aapay.Service, settled func(store.Tx, outbox.Op, UndoResult) error, after func(outbox.Op)) []outbox.Kind {
	list := []outbox.Kind{
		Reversal(schemes, settled, after), Refund(schemes, settled, after), Reversal(links, settled, after), Refund(links, settled, after),
	}
	for i, name := range []string{KindLinkReversal, KindLinkRefund} {
		list[2+i].Name, list[2+i].Service = name, LinkUndos
	}
	return list
}

// Reversal is the kind that takes a payment back by its terminalReference. settled and after may be nil.
func Reversal(svc aapay.Service, settled func(store.Tx, outbox.Op, UndoResult) error, after func(outbox.Op)) outbox.Kind {
	return undo(KindReversal, aapay.Reversal, wordReversed, svc, settled, after)
}

// Refund is the kind that gives money back by the payment's transactionId. settled and after may be nil.
func Refund(svc aapay.Service, settled func(store.Tx, outbox.Op, UndoResult) error, after func(outbox.Op)) outbox.Kind {
	return undo(KindRefund, aapay.Refund, "REFUNDED", svc, settled, after)
}

func undo(name string, typ aapay.Type, word string, svc aapay.Service, settled Settled, after func(outbox.Op)) outbox.Kind {
	k := outbox.Kind{
		Name: name, Replay: outbox.SameKey, Service: Schemes, Asks: true, Urgent: true, After: after, Touched: touched,
		Send: func(ctx context.Context, op outbox.Op) outbox.Verdict {
			u := undoing{svc: svc, typ: typ, word: word, op: op}
			return u.send(ctx)
		},
	}
	if settled != nil {
		k.Settled = func(tx store.Tx, op outbox.Op) error { return settled(tx, op, ResultOf(op)) }
	}
	return k
}

// touched reads the memo: an unreadable one proves nothing.
func touched(op outbox.Op) bool {
	var m undoMemo
	return len(op.Memo) > 0 && (json.Unmarshal(op.Memo, &m) != nil || m.Touched)
}

// ResultOf reads the result of a finished undo; without a stored one it is what the state alone says.
func ResultOf(op outbox.Op) UndoResult {
	var res UndoResult
	if len(op.Result) > 0 && json.Unmarshal(op.Result, &res) == nil && res.OK == (op.State == outbox.Done) {
		return res
	}
	res.OK, res.ByHand, res.Text = op.State == outbox.Done, op.State.Final(), op.Reason
	return res
}

// undoing is one attempt.
type undoing struct {
	svc  aapay.Service
	typ  aapay.Type
	word string
	op   outbox.Op
	p    UndoPayload
	m    undoMemo
}

func (u *undoing) send(ctx context.Context) outbox.Verdict {
	if err := json.Unmarshal(u.op.Payload, &u.p); err != nil {
		return outbox.Verdict{State: outbox.Held, Reason: "payload not readable: " + err.Error()}
	}
	if len(u.op.Memo) > 0 {
		if err := json.Unmarshal(u.op.Memo, &u.m); err != nil {
			return outbox.Verdict{State: outbox.Held, Reason: "memo not readable: " + err.Error()}
		}
	}
	if u.p.Window <= 0 {
		u.p.Window = defaultWindow
	}
	plain, first := u.m.PlainAt != 0, u.op.State == outbox.Pending && !u.m.Touched
	if u.p.ReadFirst && !u.m.Free {
		return u.readFirst(ctx)
	}
	if u.op.State == outbox.Sent && (!u.m.Live || u.m.Ended != u.op.Attempts-1) {
		u.m.Lost = true // an attempt without a stored end
	}
	if u.m.First == nil {
		u.m.First = &u.op.Ran
	}
	switch {
	case u.m.Answered, u.m.Refused != nil, u.m.NoRoute, u.op.ReadOnly, plain && u.op.Attempts != u.m.PlainAt:
		return u.ask(ctx)
	case plain:
		reply, err := u.svc.Initialize(ctx, u.typ, u.p.Request)
		if routeMissing(err) {
			u.m = undoMemo{Touched: true, Free: u.m.Free, Lost: u.m.Lost}
			return u.wait(outbox.Verdict{State: outbox.Sent, Reach: outbox.Unreachable, Reason: "neither route exists here: " + err.Error()})
		}
		return u.started(ctx, reply, err)
	}
	reply, err := u.svc.InitializeWithIdempotency(ctx, u.op.Key, u.typ, u.p.Request)
	if routeMissing(err) && first {
		u.m.NoRoute, u.m.Touched = true, true
		return u.ask(ctx)
	}
	return u.started(ctx, reply, err)
}

// readFirst asks what the backend knows under a Key that the journal before this one may have used.
// Nothing is sent before it has said that it knows nothing: what it knows is from before.
func (u *undoing) readFirst(ctx context.Context) outbox.Verdict {
	st, err := u.svc.Status(ctx, u.p.Request.TerminalReference, u.p.Request.Method)
	switch {
	case errors.Is(err, &wire.Error{Code: wire.NotFound}):
		u.m.Free = true
		return u.wait(outbox.Verdict{State: outbox.Pending, After: 100 * time.Millisecond, Reason: "nothing is known under its Key, it is sent next"})
	case err != nil:
		v := outbox.FromError(u.op, outbox.SameKey, err)
		v.State, v.After = outbox.Pending, max(v.After, firstPoll)
		return v
	}
	use := checkout.UsedBefore(st)
	return u.end(outbox.Failed, UndoResult{State: st.State, AccountState: st.AccountState, Used: &use, Text: "the journal was replaced, and the one before it has used its Key"})
}

// started judges the answer to an initialize.
func (u *undoing) started(ctx context.Context, reply aapay.Reply, err error) outbox.Verdict {
	if may, runs := wire.MayRun(err); may && !runs {
		return u.clash(ctx, err)
	}
	if err != nil {
		v := outbox.FromError(u.op, outbox.SameKey, err)
		if v.State == outbox.Failed {
			res := UndoResult{Code: wire.CodeOf(err), Text: err.Error()}
			if u.m.Lost {
				return u.refused(ctx, res)
			}
			return u.end(v.State, res)
		}
		if u.m.Touched || !wire.NeverSent(err) {
			u.m.Touched, u.m.Lost = true, u.m.Lost || v.State == outbox.Sent
			return u.wait(v)
		}
		return v
	}
	res := UndoResult{HTTPStatus: reply.HTTPStatus}
	if r := reply.Response; r != nil {
		res.ResponseCode = r.ResponseCode
		if r.NAA2ECR != nil {
			res.PPRef = r.NAA2ECR.PPRef
		}
	}
	u.m.Touched = true
	if rejected(reply) {
		return u.refused(ctx, res)
	}
	if u.m.Names.PPRef == "" {
		u.m.Names.PPRef = res.PPRef
	}
	if res.ResponseCode == aapay.CodeResend && u.m.PlainAt == 0 {
		return u.wait(outbox.Verdict{State: outbox.Sent, Reach: outbox.Reached, After: firstPoll, Reason: "asked to repeat"})
	}
	u.m.Answered, u.m.Gone, u.m.Asked = res.ResponseCode != aapay.CodeResend, nil, 0
	return u.live("running")
}

// refused remembers a no that names nothing of the request: a read has to agree.
func (u *undoing) refused(ctx context.Context, res UndoResult) outbox.Verdict {
	u.m.Refused, u.m.Gone, u.m.Asked = &res, nil, 0
	return u.ask(ctx)
}

// clash handles a 409 that is not ours, and does not say that the first request under the Key still runs. A status decides; only where
// the backend does not know it, and says the same again after a while, is it refused (MONEY C.9).
func (u *undoing) clash(ctx context.Context, err error) outbox.Verdict {
	u.m.Touched = true
	again := u.m.Clash != nil && u.since(&u.m.Clash) >= quiet
	u.since(&u.m.Clash)
	u.m.Gone = nil
	v := u.ask(ctx)
	switch unknown := v.State == outbox.Sent && u.m.Gone != nil && !u.m.Answered; {
	case unknown && again && u.m.Lost:
		return u.refused(ctx, UndoResult{Code: wire.CodeOf(err), Text: err.Error()})
	case unknown && again:
		return u.end(outbox.Failed, UndoResult{Code: wire.CodeOf(err), Text: err.Error()})
	case unknown:
		u.m.Gone = nil
		return u.wait(outbox.Verdict{State: outbox.Sent, Reach: outbox.Reached, After: askAgain, Reason: err.Error()})
	}
	return v
}

// rejected says that a reply is the backend's final no: 201 that does not contradict itself (MONEY B.9).
func rejected(r aapay.Reply) bool {
	if r.HTTPStatus != 201 {
		return false
	}
	if r.Response == nil {
		return !r.Valid
	}
	return r.Response.ResponseCode == aapay.CodeReject || r.Response.ResponseCode == aapay.CodeCancel
}

func (u *undoing) live(reason string) outbox.Verdict {
	return u.wait(outbox.Verdict{State: outbox.Sent, Reach: outbox.Reached, After: u.rhythm(), Reason: reason})
}

// wait adds the memo to a verdict that is not final.
func (u *undoing) wait(v outbox.Verdict) outbox.Verdict {
	u.m.Ended, u.m.Live = u.op.Attempts, v.State == outbox.Sent
	v.Memo, _ = json.Marshal(u.m) // plain fields marshal
	return v
}

func (u *undoing) end(state outbox.State, res UndoResult) outbox.Verdict {
	text, _ := json.Marshal(res) // plain fields marshal
	reason := res.Text
	if reason == "" {
		reason = string(res.State)
	}
	if reason == "" {
		reason = fmt.Sprintf("rejected (%d)", res.ResponseCode)
	}
	return outbox.Verdict{State: state, Result: text, Reason: reason, Reach: outbox.Reached}
}

// routeMissing says that an initialize found no idempotent route, at an address where there never was
// one (aapay.ErrNoRoute). On the plain route it met 404 or 405 without the service's own body.
func routeMissing(err error) bool {
	var e *wire.Error
	return errors.As(err, &e) && e.Code == wire.UnknownOutcome && (errors.Is(err, aapay.ErrNoRoute) || e.Msg == "reply 404" || e.Msg == "reply 405")
}
