package ownership_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/inbox"
	"posagent/agent/ownership"
	"posagent/schemes/aapay"
	"posagent/schemes/hosted"
	"posagent/schemes/onboarding"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// payment is the start of a payment, in hundredths.
func payment(reference string, amount int64) aapay.Request {
	return aapay.Request{TerminalReference: reference, PurchaseAmount: &aapay.Amount{CurrencyCode: "EUR", NominalAmount: amount, TotalAmount: amount}}
}

// shown is what a backend shows of a transaction.
func shown(ppref string, amount int64, began time.Time) aapay.Status {
	return aapay.Status{Valid: true, TimeStamp: began.UTC().Format(time.RFC3339), NAA2ECR: &aapay.NAA2ECR{PPRef: ppref}, Receipt: &aapay.Receipt{Amount: amount, Currency: "EUR"}}
}

// shop is hosted build's backend: what its sessions made, and what its orders show.
type shop struct {
	hosted.Sessions
	err    error // of a build
	builds int
	made   map[string]*hosted.Operation // by session
	report hosted.Report
	asked  int
}

func (s *shop) Build(context.Context, wire.Key, hosted.BuildRequest) (hosted.Built, error) {
	s.builds++
	return hosted.Built{SessionID: fmt.Sprintf("S%d", s.builds), SecurityToken: "t"}, s.err
}

func (s *shop) State(_ context.Context, id string) (hosted.SessionState, error) {
	return hosted.SessionState{State: hosted.Complete, Operation: s.made[id]}, nil
}

// ledger is the half of it that orders are asked of.
type ledger struct {
	hosted.Orders
	s *shop
}

func (l ledger) Order(context.Context, string) (hosted.Report, error) {
	l.s.asked++
	return l.s.report, nil
}

func (ledger) Refund(context.Context, wire.Key, string, hosted.PostRequest) (hosted.Posted, error) {
	return hosted.Posted{OperationID: "R"}, nil
}

// desk is the terminal before a shop.
func desk(t *testing.T) (*shop, ownership.Claims, hosted.Sessions, hosted.Orders) {
	db := storetest.Open(t, append(inbox.BuildSchema(), ownership.Schema()...)...)
	s, c := &shop{made: map[string]*hosted.Operation{}}, ownership.New(db, []byte("caller secret"))
	return s, c, ownership.Sessions(c, inbox.Builds(db, s, time.Now)), ownership.Orders(c, s, ledger{s: s})
}

func buildOf(order, action, contract string) hosted.BuildRequest {
	req := hosted.BuildRequest{Order: hosted.Order{OrderID: order, Amount: "5000", Currency: "EUR"}}
	if action != "" {
		req.PaymentSession.Recurrence = &hosted.Recurrence{Action: action, ContractID: contract}
	}
	return req
}

func paidBy(id, endToEnd string) hosted.Operation {
	return hosted.Operation{OperationID: id, OperationType: hosted.Authorization, OperationResult: hosted.Executed, PaymentEndToEndID: endToEnd}
}

// Every kind of thing that is owned: a claim on one spelling is none on another. What an older program has kept in lower case counts for
// the ids that a service gives; of those that callers choose it says nothing.
func TestField2_M36AThingIsOwnedAsItIsSpelled(t *testing.T) {
	db := storetest.Open(t, append(inbox.BuildSchema(), ownership.Schema()...)...)
	c := ownership.New(db, nil)
	given := []string{"session", "operation", "application", "transaction of a scheme", "transaction", "token value"}
	chosen := []string{"order", "contract", "reference"}
	owner := func(about, id string) (owner string, found bool) {
		require.NoError(t, db.Read(t.Context(), func(r store.Reader) (err error) { owner, found, err = c.Owner(r, about, id); return err }))
		return owner, found
	}
	for _, about := range append(given, chosen...) {
		require.NoError(t, c.Claim(t.Context(), about, "web1003", "alpha"))
		whose, _ := owner(about, "web1003")
		require.Equal(t, "alpha", whose)
		_, found := owner(about, "WEB1003")
		require.False(t, found, about)
		require.NoError(t, c.Claim(t.Context(), about, "WEB1003", "beta"))
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec(`INSERT INTO owned_things (about, id, owner, mac) VALUES (?, 'old-7', 'alpha', ?)`, about, db.MAC("owned_things", about, "old-7", "alpha"))
			return err
		}))
		for _, id := range []string{"old-7", "OLD-7"} {
			_, found = owner(about, id)
			require.Equal(t, !strings.Contains(strings.Join(chosen, " "), about), found, about)
		}
	}
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec(`UPDATE owned_ids SET owner = 'gamma'`)
		return err
	}))
	whose, _ := owner("session", "web1003")
	require.Empty(t, whose, "altered")
}

// A build names an order and a contract. Whether it is not answered or accepted, they are the client's only once its own session has
// made them.
func TestField2_M40ABuildGivesWhatItsSessionMade(t *testing.T) {
	theirs, own := paidBy("OP-THEIRS", "e1"), paidBy("OP-OWN", "e2")
	declined := paidBy("OP-DECLINED", "e3")
	declined.OperationResult = hosted.Declined
	back := hosted.Operation{OperationID: "OP-BACK", OperationType: hosted.Refund, OperationResult: hosted.Executed, PaymentEndToEndID: "e2"}
	lost := wire.Errorf(wire.UnknownOutcome, "x", "no answer")
	for name, c := range map[string]struct {
		err    error             // of the build
		made   *hosted.Operation // by the session
		report []hosted.Operation
		order  wire.Code
		seen   []string  // operations
		paid   wire.Code // a payment by the contract
	}{
		"not answered, another has paid":           {lost, nil, []hosted.Operation{theirs}, wire.NotFound, nil, wire.NotFound},
		"accepted, another has paid":               {nil, nil, []hosted.Operation{theirs}, wire.NotFound, nil, wire.NotFound},
		"accepted, both have paid":                 {nil, &own, []hosted.Operation{theirs, own}, wire.NotFound, nil, ""},
		"accepted, nobody has paid":                {nil, nil, nil, "", nil, wire.NotFound},
		"accepted, declined":                       {nil, &declined, []hosted.Operation{declined}, "", []string{"OP-DECLINED"}, wire.NotFound},
		"accepted, paid":                           {nil, &own, []hosted.Operation{own}, "", []string{"OP-OWN"}, ""},
		"accepted, paid, another was declined":     {nil, &own, []hosted.Operation{declined, own}, "", []string{"OP-OWN"}, ""},
		"accepted, paid, given back by the office": {nil, &own, []hosted.Operation{own, back}, "", []string{"OP-OWN", "OP-BACK"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, sessions, orders := desk(t)
			alpha := as(t, "alpha")
			s.err = c.err
			_, err := sessions.Build(alpha, "k", buildOf("WEB1003", hosted.ContractCreation, "CUST-77"))
			require.Equal(t, wire.CodeOf(c.err), wire.CodeOf(err))
			s.err = nil
			s.made["S1"] = c.made
			s.report.OrderStatus.Order = hosted.Order{OrderID: "WEB1003", Amount: "5000", Currency: "EUR", CustomerID: "another's", CustomerInfo: []byte(`{"cardHolderName":"A B"}`)}
			s.report.Operations = c.report
			out, err := orders.Order(alpha, "WEB1003")
			require.Equal(t, c.order, wire.CodeOf(err), "%v", err)
			var seen []string
			for _, op := range out.Operations {
				seen = append(seen, op.OperationID)
			}
			require.Equal(t, c.seen, seen)
			if len(c.seen) == 0 {
				require.Empty(t, out.OrderStatus.Order.CustomerInfo)
				require.Empty(t, out.OrderStatus.Order.CustomerID)
			}
			for _, op := range []string{"OP-THEIRS", "OP-OWN", "OP-BACK", "OP-DECLINED"} {
				want := wire.NotFound
				if strings.Contains(strings.Join(c.seen, " "), op) {
					want = ""
				}
				if _, err := orders.Refund(alpha, "r", op, hosted.PostRequest{}); c.order == "" {
					require.Equal(t, want, wire.CodeOf(err), op)
				} else if op == "OP-THEIRS" {
					require.Equal(t, wire.NotFound, wire.CodeOf(err), op)
				}
			}
			_, err = sessions.Build(alpha, "k2", buildOf("K2", hosted.SubsequentPayment, "CUST-77"))
			require.Equal(t, c.paid, wire.CodeOf(err), "%v", err)
			_, err = sessions.Build(as(t, "beta"), "k3", buildOf("K3", hosted.SubsequentPayment, "CUST-77"))
			require.Equal(t, wire.NotFound, wire.CodeOf(err))
		})
	}
}

// A refused build, and a client that has named nothing: the backend is not even asked.
func TestField2_M40ARefusedBuildGivesNothing(t *testing.T) {
	s, _, sessions, orders := desk(t)
	alpha := as(t, "alpha")
	own := paidBy("OP-OWN", "e2")
	s.report.Operations, s.made["S1"] = []hosted.Operation{own}, &own
	for _, err := range []error{wire.Errorf(wire.UnknownOutcome, "x", "no answer"), wire.Errorf(wire.Conflict, "x", "it is paid")} {
		s.err = err
		_, _ = sessions.Build(alpha, "k", buildOf("WEB1003", hosted.ContractCreation, "CUST-77"))
	}
	s.err = nil
	_, err := orders.Order(alpha, "WEB1003")
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
	_, err = sessions.Build(alpha, "k2", buildOf("K2", hosted.SubsequentPayment, "CUST-77"))
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
	require.Zero(t, s.asked)
}

// A client holds the token that proves its session's notifications. One that it sends itself, with another operation of the same order
// in it, gives it what its session made, and nothing else.
func TestField_P1ANoticeGivesNoForeignOperation(t *testing.T) {
	s, c, sessions, orders := desk(t)
	alpha := as(t, "alpha")
	_, err := sessions.Build(alpha, "k", buildOf("WEB1003", "", ""))
	require.NoError(t, err)
	own := paidBy("own", "e2")
	told := c.Told(s)
	require.NoError(t, told(t.Context(), "theirs", "S1"))
	s.made["S1"] = &own
	for id, want := range map[string]wire.Code{"theirs": wire.NotFound, "own": ""} {
		require.NoError(t, told(t.Context(), id, "S1"))
		_, err := orders.Refund(alpha, "", id, hosted.PostRequest{})
		require.Equal(t, want, wire.CodeOf(err), id)
	}
}

// A payment names a reference. Not answered or accepted, what stands under the reference is the client's only where it shows that its
// call made it.
func TestField2_M40AReferenceGivesWhatTheCallMade(t *testing.T) {
	now, lost := time.Now(), wire.Errorf(wire.UnknownOutcome, "x", "no answer")
	for name, c := range map[string]struct {
		reply aapay.Reply
		err   error
		shown *aapay.Status
		read  wire.Code
		undo  wire.Code
	}{
		"accepted":                     {accepted("OURS"), nil, new(shown("OURS", 1250, now)), "", ""},
		"accepted, another stands":     {accepted("OURS"), nil, new(shown("THEIRS", 900, now)), wire.NotFound, wire.NotFound},
		"not answered":                 {aapay.Reply{}, lost, new(shown("OURS", 1250, now)), "", ""},
		"not answered, not there":      {aapay.Reply{}, lost, nil, wire.NotFound, ""},
		"not answered, another amount": {aapay.Reply{}, lost, new(shown("THEIRS", 900, now)), wire.NotFound, wire.NotFound},
		"not answered, from before":    {aapay.Reply{}, lost, new(shown("THEIRS", 1250, now.Add(-time.Hour))), wire.NotFound, wire.NotFound},
		"not answered, of no amount":   {aapay.Reply{}, lost, &aapay.Status{TransactionID: 7}, wire.NotFound, wire.NotFound},
		"another's number":             {aapay.Reply{}, lost, new(shown("SALE-7", 1250, now)), wire.NotFound, wire.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			next := &acquirer{reply: c.reply, err: c.err, shown: map[string]aapay.Status{}}
			svc, alpha := ownership.Schemes(claims(t), nil, next), as(t, "alpha")
			_, err := svc.InitializeWithIdempotency(alpha, "k", aapay.Payment, payment("SALE-7", 1250))
			require.Equal(t, c.err == nil, err == nil)
			if c.shown != nil {
				next.shown["SALE-7"] = *c.shown
			}
			undo := payment("UNDO-7", 1250)
			undo.OriginalReference = "SALE-7"
			next.reply, next.err = accepted("UNDO"), nil
			_, err = svc.InitializeWithIdempotency(alpha, "u", aapay.Reversal, undo)
			require.Equal(t, c.undo, wire.CodeOf(err), "%v", err)
			_, err = svc.Status(alpha, "SALE-7", "")
			require.Equal(t, c.read, wire.CodeOf(err), "%v", err)
			asked := len(next.asked)
			for _, who := range []context.Context{as(t, "beta"), alpha} {
				_, err = svc.Status(who, "sale-7", "")
				require.Equal(t, wire.NotFound, wire.CodeOf(err))
			}
			require.Len(t, next.asked, asked, "nobody has named it")
		})
	}
}

// full is a store that cannot store any more.
type full struct {
	store.DB
	yes *bool
}

func (f full) Write(ctx context.Context, fn func(store.Tx) error) error {
	if *f.yes {
		return errors.New("disk full")
	}
	return f.DB.Write(ctx, fn)
}

// What the backend has done is not told as "provably not sent" because whose it is cannot be stored: every call that makes something.
func TestField2_M43AfterAnEffectTheOutcomeIsUnknownAtWorst(t *testing.T) {
	yes := false
	db := full{storetest.Open(t, append(inbox.BuildSchema(), ownership.Schema()...)...), &yes}
	c, alpha := ownership.New(db, nil), as(t, "alpha")
	s := &shop{made: map[string]*hosted.Operation{}}
	build := &filling{shop: s, yes: &yes}
	sessions, orders := ownership.Sessions(c, build), ownership.Orders(c, s, spent{f: build})
	_, err := sessions.Build(alpha, "k", buildOf("WEB1003", "", ""))
	require.NoError(t, err)
	own := paidBy("OP", "e2")
	s.made["S1"] = &own
	_, err = sessions.State(alpha, "S1")
	require.NoError(t, err)
	for name, do := range map[string]func() error{
		"build":  func() error { _, err := sessions.Build(alpha, "k", buildOf("WEB1003", "", "")); return err },
		"refund": func() error { _, err := orders.Refund(alpha, "r", "OP", hosted.PostRequest{}); return err },
		"payment": func() error {
			_, err := ownership.Schemes(c, nil, build).InitializeWithIdempotency(alpha, "k", aapay.Payment, payment("SALE-7", 1250))
			return err
		},
		"application": func() error {
			_, err := ownership.Onboarding(c, build).Create(alpha, "k", onboarding.Application{})
			return err
		},
	} {
		build.fills = true
		require.Equal(t, wire.UnknownOutcome, wire.CodeOf(do()), name)
		build.fills, yes = false, false
		require.NoError(t, do(), name)
	}
}

// filling is a backend behind whose effects the disk fills up.
type filling struct {
	*shop
	aapay.Service
	office
	fills bool
	yes   *bool
}

func (f *filling) Build(ctx context.Context, key wire.Key, req hosted.BuildRequest) (hosted.Built, error) {
	*f.yes = f.fills
	return f.shop.Build(ctx, key, req)
}

// spent is the half of it that orders are asked of.
type spent struct {
	hosted.Orders
	f *filling
}

func (s spent) Refund(context.Context, wire.Key, string, hosted.PostRequest) (hosted.Posted, error) {
	*s.f.yes = s.f.fills
	return hosted.Posted{OperationID: fmt.Sprint("R", s.f.fills)}, nil
}

func (f *filling) InitializeWithIdempotency(context.Context, wire.Key, aapay.Type, aapay.Request) (aapay.Reply, error) {
	*f.yes = f.fills
	return accepted(fmt.Sprint("PP", f.fills)), nil
}

func (*filling) Status(_ context.Context, id, _ string) (aapay.Status, error) {
	if strings.HasPrefix(id, "PP") {
		return shown(id, 1250, time.Now()), nil
	}
	return aapay.Status{}, wire.Errorf(wire.NotFound, "x", "none")
}

func (f *filling) Create(ctx context.Context, key wire.Key, a onboarding.Application) (onboarding.State, error) {
	*f.yes = f.fills
	return f.office.Create(ctx, key, a)
}

// What one client of this box has named another does not name: an order, a contract, a reference. One that reaches everything does.
func TestField2_M40WhatOneClientNamesAnotherDoesNot(t *testing.T) {
	s, c, sessions, _ := desk(t)
	svc := ownership.Schemes(c, nil, &acquirer{reply: accepted("PP")})
	everything := wire.Caller{Name: "office", Words: []string{"pay", "hosted"}}
	for name, by := range map[string]func(ctx context.Context) error{
		"order": func(ctx context.Context) error { _, err := sessions.Build(ctx, "k", buildOf("O1", "", "")); return err },
		"contract": func(ctx context.Context) error {
			_, err := sessions.Build(ctx, "k", buildOf("", hosted.ContractCreation, "C1"))
			return err
		},
		"reference": func(ctx context.Context) error {
			_, err := svc.InitializeWithIdempotency(ctx, "k", aapay.Payment, payment("R1", 100))
			return err
		},
	} {
		require.NoError(t, by(as(t, "alpha")), name)
		before := s.builds
		require.Equal(t, wire.NotFound, wire.CodeOf(by(as(t, "beta"))), name)
		require.Equal(t, before, s.builds, "the backend is not asked")
		require.NoError(t, by(wire.WithCaller(t.Context(), everything)), name)
		require.NoError(t, by(as(t, "alpha")), name)
	}
}
