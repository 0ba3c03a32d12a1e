package sim

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"posagent/schemes/aapay"
	"posagent/schemes/backend/books"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/methods"
	"posagent/schemes/money"
	"posagent/schemes/wire"
)

const reversedWord aapay.State = "REVERSED"

// txn is one transaction of the backend: its life is that of S1 3.2, its money that of the books.
type txn struct {
	id       int64
	sale     int64 // of the journal, for the trace
	typ      aapay.Type
	ref      string
	original string
	orig     *txn
	amount   money.Minor
	ledger   books.Ledger
	state    aapay.State
	account  aapay.AccountState
	since    time.Duration
	base     time.Duration
	script   []scenario.Step
	pos      int
	stale    time.Duration
	timeOut  time.Duration
	finalize time.Duration
	undoDo   scenario.Do // what the first undos of it do
	undoBad  int         // how many of them
}

// bank is the backend.
type bank struct {
	w     *world
	plain bool // it has no idempotent route
	txns  []*txn
	refs  map[string]*txn
	keys  map[wire.Key]kept
	tombs map[string]bool
	used  map[string]map[wire.Key]bool // Keys a payment was initialized under
	sum   money.Minor
}

type kept struct {
	typ   aapay.Type
	ref   string
	reply aapay.Reply
}

func newBank(w *world) *bank {
	return &bank{w: w, refs: map[string]*txn{}, keys: map[wire.Key]kept{}, tombs: map[string]bool{}, used: map[string]map[wire.Key]bool{}}
}

// initialize is S1 2.4; key is "" on the plain route.
func (b *bank) initialize(key wire.Key, typ aapay.Type, req aapay.Request, sale int64) (aapay.Reply, error) {
	if key != "" && b.plain {
		return aapay.Reply{}, wire.Errorf(wire.UnknownOutcome, "aapay.initialize", "reply 404")
	}
	if typ == aapay.Payment {
		keys := b.used[req.TerminalReference]
		if keys == nil {
			keys = map[wire.Key]bool{}
			b.used[req.TerminalReference] = keys
		}
		if keys[key] = true; len(keys) > 1 {
			b.w.fail("sale %d was initialized under different Keys", sale)
		}
	}
	if k, ok := b.keys[key]; ok && key != "" {
		if k.typ != typ || k.ref != req.TerminalReference {
			return aapay.Reply{}, wire.Errorf(wire.KeyReused, "aapay.initialize", "another body")
		}
		return k.reply, nil
	}
	reply := b.begin(typ, req, sale)
	if reply.Response != nil && reply.Response.ResponseCode == aapay.CodeResend {
		return reply, nil
	}
	if key != "" {
		b.keys[key] = kept{typ, req.TerminalReference, reply}
	}
	return reply, nil
}

func reject(t *txn) aapay.Reply {
	r := aapay.Reply{HTTPStatus: 201, Response: &aapay.Response{ResponseCode: aapay.CodeReject}}
	if t != nil {
		r.Response.NAA2ECR = &aapay.NAA2ECR{PPRef: t.ppref()}
	}
	return r
}

func (t *txn) ppref() string { return "P" + strconv.FormatInt(t.id, 10) }

func (b *bank) begin(typ aapay.Type, req aapay.Request, sale int64) aapay.Reply {
	w := b.w
	if b.refs[req.TerminalReference] != nil {
		return reject(nil)
	}
	if typ == aapay.Payment && w.hit(w.odds.bad/4) {
		return aapay.Reply{HTTPStatus: 202, Valid: true, Response: &aapay.Response{ResponseCode: aapay.CodeResend}}
	}
	d := methodNamed(req.Method)
	t := &txn{
		id: int64(7000 + len(b.txns)), sale: sale, typ: typ, ref: req.TerminalReference, original: req.OriginalReference,
		amount: money.Minor(req.PurchaseAmount.TotalAmount), state: aapay.Initialized, since: w.now, base: w.now, stale: methods.StaleAge(d),
	}
	t.timeOut, t.finalize = methods.TimeOuts(d, "m")
	code := aapay.CodeOK
	refused := false
	if typ == aapay.Payment {
		b.prompted(req, d, sale)
		refused, code = b.beginPayment(t, d)
	} else {
		refused = b.beginUndo(t)
	}
	b.txns = append(b.txns, t)
	b.refs[t.ref] = t
	if refused {
		t.state, t.script = aapay.Rejected, nil
		if typ == aapay.Payment {
			b.post(t, books.Event{Kind: books.Close})
		}
		w.note("bank", "rejects "+string(typ), sale)
		return reject(t)
	}
	w.note("bank", "begins "+string(typ), sale)
	b.advance(t)
	reply := aapay.Reply{HTTPStatus: 202, Valid: true, Response: &aapay.Response{ResponseCode: code, NAA2ECR: &aapay.NAA2ECR{PPRef: t.ppref()}}}
	if w.hit(w.odds.bad / 4) {
		reply.Response.NAA2ECR = nil
	}
	return reply
}

// wallets are what a customer and a provider may do, besides paying.
var wallets = []scenario.Do{
	scenario.Decline, scenario.Cancel, scenario.Fail, scenario.SlowCommit, scenario.StaleCommit, scenario.Never, scenario.ReserveFinalize,
	scenario.ReserveTimeout, scenario.ProviderWord, scenario.LateCommit, scenario.BadWordCommit, scenario.Rollback, scenario.UnknownWord,
}

func (b *bank) beginPayment(t *txn, d methods.Definition) (refused bool, code int) {
	w := b.w
	ledger, err := books.Open(t.amount, 0)
	if err != nil {
		w.fail("books: %v", err)
	}
	t.ledger = ledger
	if b.tombs[t.ref] || w.hit(w.odds.odd/20) {
		return true, 0
	}
	tm := scenario.Timing{
		Delay: w.exp(9*time.Second, 4*time.Minute), StaleAge: t.stale, TimeOut: t.timeOut, Finalize: t.finalize,
		Flow: []scenario.Flow{scenario.FlowCommit, scenario.FlowCommit, scenario.FlowReserve, scenario.FlowWord}[w.rng.IntN(4)], Word: "PAID",
	}
	do := scenario.Approve
	if w.hit(w.odds.odd) {
		do = wallets[w.rng.IntN(len(wallets))]
	}
	t.script = scenario.Script(do, tm)
	if w.hit(w.odds.odd / 3) { // the customer opens the page and thinks
		t.script = append([]scenario.Step{{At: w.exp(tm.Delay+time.Second, tm.Delay), State: string(aapay.Pending)}}, t.script...)
	}
	if w.hit(w.odds.odd / 2) {
		t.undoDo = []scenario.Do{scenario.FailOnce, scenario.TimeOutOnce, scenario.SlowUndo}[w.rng.IntN(3)]
		t.undoBad = 1 + w.rng.IntN(4)
	}
	code = aapay.CodeOK
	if w.hit(w.odds.odd / 8) {
		code = []int{aapay.CodePending, 42}[w.rng.IntN(2)]
	}
	w.note("bank", "wallet will "+string(do), t.sale)
	return false, code
}

func (b *bank) beginUndo(t *txn) (refused bool) {
	t.orig = b.find(t.original, t.typ == aapay.Reversal)
	if t.orig == nil {
		if t.typ == aapay.Refund {
			return true
		}
		t.script = scenario.UndoScript("", false, 0, t.timeOut)
		return false
	}
	b.advance(t.orig)
	ev := books.Event{Kind: books.Reverse}
	if t.typ == aapay.Refund {
		ev = books.Event{Kind: books.Refund, Amount: t.amount}
	}
	if _, _, err := books.Apply(t.orig.ledger, ev); err != nil && !errors.Is(err, books.ErrReversed) {
		return true
	}
	do := t.orig.undoDo
	again := t.orig.undoBad <= 0
	t.orig.undoBad--
	t.script = scenario.UndoScript(do, again, 10*time.Second, t.timeOut)
	if t.ref[0] == 'R' && b.w.hit(b.w.odds.odd) { // a register asked for it
		b.takeTime(t)
	}
	return false
}

// takeTime makes a refund or reversal last longer than its register waits; a refund may even commit after it has timed out.
func (b *bank) takeTime(t *txn) {
	w := b.w
	if t.typ == aapay.Refund && w.rng.IntN(3) == 0 {
		t.script = []scenario.Step{{State: string(aapay.Pending)},
			{At: t.timeOut + w.between(0, t.stale), State: string(aapay.Finalized), Account: string(aapay.Commit), Move: scenario.Undo, Late: true}}
		return
	}
	t.script = scenario.UndoScript(scenario.SlowUndo, false, w.exp(90*time.Second, 10*time.Minute), t.timeOut)
}

// find looks up as the contract says: ppref, number, reference.
func (b *bank) find(name string, payment bool) *txn {
	if t := b.refs[name]; t != nil && (!payment || t.typ == aapay.Payment) {
		return t
	}
	n, err := strconv.ParseInt(name, 10, 64)
	if len(name) > 1 && name[0] == 'P' {
		n, err = strconv.ParseInt(name[1:], 10, 64)
	}
	if err == nil && n >= 7000 && int(n-7000) < len(b.txns) {
		return b.txns[n-7000]
	}
	return nil
}

// status is S1 2.4.
func (b *bank) status(id string) (aapay.Status, error) {
	w := b.w
	t := b.find(id, false)
	if t == nil {
		return aapay.Status{}, wire.Errorf(wire.NotFound, "aapay.status", "transaction not found")
	}
	b.advance(t)
	st := aapay.Status{Valid: true, TransactionID: t.id, State: t.state, AccountState: t.account, NAA2ECR: &aapay.NAA2ECR{PPRef: t.ppref()}}
	if t.typ == aapay.Payment && alive(t.state) && t.account == "" {
		st.QRCodePayload = "code of " + t.ref
	}
	if t.typ == aapay.Payment && id != t.ref && w.hit(w.odds.bad/20) { // somebody else's
		st = aapay.Status{Valid: true, TransactionID: t.id + 500, State: aapay.Finalized, AccountState: aapay.Commit, NAA2ECR: &aapay.NAA2ECR{PPRef: "other"}}
	}
	return st, nil
}

func alive(s aapay.State) bool {
	switch s {
	case aapay.Finalized, aapay.Reported, aapay.Rejected, aapay.Cancelled, aapay.Failed, aapay.TimedOut, reversedWord:
		return false
	}
	return true
}

type change struct {
	at     time.Duration
	script bool
	step   scenario.Step
}

// due is the next thing that happens to t by itself.
func due(t *txn) (change, bool) {
	timer, timed := timerOf(t)
	if t.pos < len(t.script) {
		step := t.script[t.pos]
		at := t.base + step.At
		if step.Late == (t.state == aapay.TimedOut) && (step.Late || alive(t.state)) && (!timed || at <= timer.at) {
			return change{at, true, step}, true
		}
	}
	return timer, timed
}

func timerOf(t *txn) (change, bool) {
	if t.account == aapay.Commit {
		return change{}, false
	}
	switch t.state {
	case aapay.Initialized:
		return change{at: t.since + t.stale, step: scenario.Step{State: string(aapay.Stale)}}, true
	case aapay.Stale, aapay.Pending:
		return change{at: t.since + t.timeOut, step: scenario.Step{State: string(aapay.TimedOut)}}, true
	case aapay.Reserved:
		return change{at: t.since + t.finalize, step: scenario.Step{
			State: string(aapay.TimedOut), Account: string(aapay.Rollback), Move: scenario.Release,
		}}, true
	}
	return change{}, false
}

// advance lets everything happen that was due.
func (b *bank) advance(t *txn) {
	for {
		c, ok := due(t)
		if !ok || c.at > b.w.now {
			return
		}
		if c.script {
			t.pos++
		}
		if c.step.Move == scenario.Undo {
			b.undo(t, c)
			continue
		}
		kind := map[scenario.Move]books.Kind{scenario.Reserve: books.Reserve, scenario.Commit: books.Commit, scenario.Release: books.Release}[c.step.Move]
		if kind != "" && !b.post(t, books.Event{Kind: kind}) && c.script {
			continue // the books know better
		}
		t.say(c)
		if t.typ == aapay.Payment && bad(t.state) && t.account != aapay.Commit {
			b.post(t, books.Event{Kind: books.Close})
		}
		b.w.note("bank", fmt.Sprintf("%s is %s %s", t.typ, t.state, t.account), t.sale)
	}
}

func bad(s aapay.State) bool { return s == aapay.Rejected || s == aapay.Cancelled || s == aapay.Failed }

func (t *txn) say(c change) {
	if c.step.State != "" && aapay.State(c.step.State) != t.state {
		t.state, t.since = aapay.State(c.step.State), c.at
	}
	if c.step.Account != "" {
		t.account = aapay.AccountState(c.step.Account)
	}
}

// post moves money; false: the books refuse.
func (b *bank) post(t *txn, ev books.Event) bool {
	next, posts, err := books.Apply(t.ledger, ev)
	if err != nil {
		return false
	}
	t.ledger = next
	b.sum += books.Sum(posts)
	if len(posts) > 0 {
		b.w.note("books", fmt.Sprintf("%s, net %d", ev.Kind, t.ledger.Net()), t.sale)
	}
	return true
}

// undo is the moment a reversal or refund happens.
func (b *bank) undo(t *txn, c change) {
	end := func(s aapay.State, a aapay.AccountState) {
		t.state, t.account, t.since = s, a, c.at
		b.w.note("bank", fmt.Sprintf("%s ends %s %s", t.typ, s, a), t.sale)
	}
	if t.orig == nil {
		if t.orig = b.find(t.original, true); t.orig == nil {
			b.tombs[t.original] = true
			end(reversedWord, "")
			return
		}
	}
	o := t.orig
	b.advance(o)
	before := o.ledger
	ev := books.Event{Kind: books.Reverse}
	if t.typ == aapay.Refund {
		ev = books.Event{Kind: books.Refund, Amount: t.amount}
	}
	switch {
	case t.typ == aapay.Reversal && before.Reversed:
		end(reversedWord, "")
		return
	case !b.post(o, ev):
		end(aapay.Rejected, "")
		return
	}
	if t.typ == aapay.Reversal {
		if alive(o.state) && o.account != aapay.Commit {
			o.state, o.since = aapay.Cancelled, c.at
			if before.Reserved != 0 {
				o.account = aapay.Rollback
			}
		}
		o.pos = len(o.script)
		if before.Committed == 0 {
			end(reversedWord, "")
			return
		}
	}
	end(aapay.Finalized, aapay.Commit)
}

// net is what the merchant has by a reference, and by how many payments.
func (b *bank) net(ref string) (sum money.Minor, payments int) {
	for _, t := range b.txns {
		if t.typ == aapay.Payment && t.ref == ref {
			b.advance(t)
			if n := t.ledger.Net(); n != 0 {
				sum += n
				payments++
			}
		}
	}
	return sum, payments
}
