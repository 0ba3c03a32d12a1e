package paylink_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout/drive/drivetest"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/outbox"
	"posagent/agent/paylink"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/money"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
)

// schemes is a scheme service where each payment is paid at once. Like the sandbox it knows a transaction
// by its own method alone where one is named.
type schemes struct {
	mu   sync.Mutex
	made map[string]aapay.Request
	down bool
}

func (s *schemes) Initialize(ctx context.Context, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	return s.InitializeWithIdempotency(ctx, "", typ, req)
}

func (s *schemes) InitializeWithIdempotency(_ context.Context, _ wire.Key, _ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made[req.TerminalReference] = req
	return aapay.Reply{HTTPStatus: 202, Valid: true, Response: &aapay.Response{}}, nil
}

func (s *schemes) Status(_ context.Context, id, method string) (aapay.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	req, ok := s.made[id]
	switch {
	case s.down:
		return aapay.Status{}, errGone
	case !ok || method != "" && method != req.Method:
		return aapay.Status{}, no(wire.NotFound, "")
	}
	return aapay.Status{Valid: true, TransactionID: int64(len(s.made)), State: aapay.Finalized, AccountState: aapay.Commit, TimeStamp: "2000-01-01T00:00:00Z",
		Receipt: &aapay.Receipt{Reference: id, Amount: req.PurchaseAmount.TotalAmount, Currency: "EUR"}}, nil
}

func wallet(name string) methods.Definition {
	d := paylink.Definition(name, 1, 10*time.Second)
	d.Name, d.PaymentProviderID = name, 1
	return d
}

// ids are the requests whose Keys are made of what a register says of itself.
func ids() map[string]ecr.Request {
	return map[string]ecr.Request{
		"ZVT number":      {Amount: 500, Line: "tcp", Sequence: "zvt-SERIES-000001"},
		"JSON id":         {Amount: 500, Line: "jsonl", Sequence: "X1"},
		"Idempotency-Key": {Amount: 500, Line: "http/kiosk", Sequence: "order-1"},
		"nexo message":    {Amount: 500, Line: "nexo/pos", Sequence: "S1/1/T1"},
	}
}

// sells makes the only method a wallet of the backend, or the payment links.
func (r *rig) sells(method string) {
	r.Halt()
	if r.list, r.only = nil, false; method != "link" {
		r.list, r.only = []methods.Definition{wallet(method)}, true
	}
	r.Start()
}

// replaced puts another journal in the place of this one: none, or the one of a copy.
func (r *rig) replaced(kind store.Kind, from string) {
	r.t.Helper()
	r.Halt()
	path := filepath.Join(r.t.TempDir(), "agent.db")
	if from != "" {
		require.NoError(r.t, copied(from, path))
	}
	r.path = path
	r.Start()
	require.NoError(r.t, r.DB.Write(context.Background(), func(tx store.Tx) error {
		if err := journal.KeepLast(tx); err != nil {
			return err
		}
		return store.KeepLost(tx, store.Lost{Before: store.Before{Kind: kind, Why: "w"}, Generation: 2, AtMS: time.Now().UnixMilli(), RunMS: 1})
	}))
}

// copied copies the closed journal.
func (r *rig) copied() string {
	r.t.Helper()
	r.Halt()
	to := filepath.Join(r.t.TempDir(), "copy.db")
	require.NoError(r.t, copied(r.path, to))
	r.Start()
	return to
}

func copied(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}

// paysFor is a terminal whose journals share the callers' secret, beside schemes.
func paysFor(t *testing.T, test func(r *rig, s *schemes)) {
	t.Helper()
	terminal(t, func(r *rig) {
		r.Halt()
		s := &schemes{made: map[string]aapay.Request{}}
		r.rest, r.secret = s, []byte("of the callers, kept outside the journal")
		r.Start()
		test(r, s)
	})
}

// payments counts what was sold, wherever.
func (r *rig) payments(s *schemes) (n int) {
	s.mu.Lock()
	n = len(s.made)
	s.mu.Unlock()
	return n + r.bank.count("create")
}

// once lets a register ask, and pays what it is asked for.
func (r *rig) once(req ecr.Request, method string) ecr.Outcome {
	r.t.Helper()
	s := r.Accepted(req)
	if pass(5 * time.Second); method == "link" {
		r.pay()
	}
	return r.Approved(s, ecr.Told)
}

// TestField2_M14AnIdIsLookedForAtEachService: the journal was restored, cut or lost, and a till uses an id
// that the lost one had sold under, by whatever method there was then. It was looked for at the service of
// the method alone, under that method's name: told approved, paid twice. The members: from and to a
// payment link, from one wallet of the backend to another; each kind of id; the same amount and another.
func TestField2_M14AnIdIsLookedForAtEachService(t *testing.T) {
	amounts := map[store.Kind]money.Minor{store.WasRestored: 500, store.WasAccepted: 500, store.WasLost: 9900}
	for _, way := range [][2]string{{"link", "link"}, {"link", "SWISH"}, {"SWISH", "link"}, {"SWISH", "EASY"}} {
		for kind, amount := range amounts {
			for name, req := range ids() {
				t.Run(fmt.Sprintf("%s to %s/%s/%s", way[0], way[1], kind, name), func(t *testing.T) {
					t.Parallel()
					paysFor(t, func(r *rig, s *schemes) {
						r.sells(way[0])
						r.once(req, way[0])
						r.sells(way[1])
						r.replaced(kind, "")
						again := req
						again.Amount = amount
						for range 2 { // and asked once more
							sale := r.Accepted(again)
							o := <-sale.Outcome
							require.Equal(t, ecr.Aborted, o.Result)
							require.Equal(t, ecr.SystemError, o.Code, o.Text)
							require.Contains(t, o.Text, "the journal was replaced; this id was used at 2000-01-01")
							require.Contains(t, o.Text, "5.00")
							r.Told(sale, ecr.Told)
						}
						pass(time.Hour)
						require.Equal(t, 1, r.payments(s), "nothing is sent under an id that was used")
						require.Zero(t, r.bank.count("delete"), "nor undone")
						require.Zero(t, r.bank.count("refund"))

						req.Sequence += "2"
						r.once(req, way[1])
						require.Equal(t, 2, r.payments(s), "an id that nobody has used is sold under")
					})
				})
			}
		}
	}
}

// Nothing is sent before each service has said that it knows nothing. One that was never sold by needs no
// account; one that this journal has sold by does.
func TestField2_M14NothingIsSentBeforeTheLinksAreRead(t *testing.T) {
	req := ids()["JSON id"]
	paysFor(t, func(r *rig, s *schemes) {
		r.once(req, "link")
		r.sells("SWISH")
		r.replaced(store.WasLost, "")
		refuse := func(call string) error {
			if call == "list" {
				return errGone
			}
			return nil
		}
		r.bank.spoil(refuse, nil)
		o := <-r.Accepted(req).Outcome
		require.Equal(t, ecr.NoConnection, o.Code)
		r.bank.spoil(nil, nil)
		s.mu.Lock()
		s.down = true
		s.mu.Unlock()
		req.Sequence = "X2"
		o = <-r.Accepted(req).Outcome
		require.Equal(t, ecr.NoConnection, o.Code)
		require.Equal(t, 1, r.payments(s))
	})
	for _, sold := range []bool{false, true} {
		paysFor(t, func(r *rig, s *schemes) {
			if sold {
				r.once(ecr.Request{Amount: 300}, "link")
			}
			r.sells("SWISH")
			r.none = true
			r.replaced(store.WasRestored, r.copied())
			before := r.payments(s)
			sale := r.Accepted(req)
			pass(30 * time.Second)
			if sold {
				require.Equal(t, ecr.NoConnection, (<-sale.Outcome).Code, "what was sold by links cannot be read")
				require.Equal(t, before, r.payments(s))
				return
			}
			r.Approved(sale, ecr.Told)
		})
	}
}

// The list is read once, and then what is new on it; one that broke off goes on where it was. A time that
// a service has told bounds it, no clock of the box.
func TestField2_M14TheListIsReadOnce(t *testing.T) {
	paysFor(t, func(r *rig, _ *schemes) {
		for i := range 4 {
			r.once(ecr.Request{Amount: 300, Line: "jsonl", Sequence: fmt.Sprint("A", i)}, "link")
			pass(2 * time.Hour)
		}
		used := r.bank.links[1].ReferenceID
		r.bank.pageCap = 1
		lists := 0
		r.bank.spoil(func(call string) error {
			if lists++; call == "list" && lists == 3 {
				return errGone
			}
			return nil
		}, nil)
		svc := r.fresh(nil)
		_, err := svc.Used(t.Context(), "nobody")
		require.Equal(t, wire.Unavailable, wire.CodeOf(err))
		_, err = svc.Used(t.Context(), "nobody")
		require.Equal(t, wire.NotFound, wire.CodeOf(err))
		require.Equal(t, 8, lists, "two, one that failed, two and the end, and what has come meanwhile: the newest and the end")
		st, err := svc.Used(t.Context(), used)
		require.NoError(t, err)
		require.EqualValues(t, 300, st.Receipt.Amount)
		require.Equal(t, 10, lists)

		old := r.fresh(func() (time.Time, bool) { return time.Now().Add(91*24*time.Hour - 3*time.Hour), true })
		_, err = old.Used(t.Context(), r.bank.links[0].ReferenceID)
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "it is older than an id's life")
		_, err = old.Used(t.Context(), r.bank.links[3].ReferenceID)
		require.NoError(t, err)
	})
}

// fresh is another service at the same account.
func (r *rig) fresh(trusted func() (time.Time, bool)) *paylink.Service {
	return paylink.New(paylink.Options{DB: r.guard, Links: linkHalf{r.bank}, Transactions: txnHalf{r.bank}, Instance: "demo", Now: drivetest.Now, Trusted: trusted})
}

// A link of before that nobody had tried to pay is on no list. Where its customer pays it after all, the
// new sale is aborted, nothing is given back by machine, and its undo is in doubt until a person has looked.
func TestField2_M14AnOldLinkThatIsPaidLate(t *testing.T) {
	req := ids()["JSON id"]
	paysFor(t, func(r *rig, _ *schemes) {
		r.Accepted(req)
		pass(5 * time.Second)
		r.replaced(store.WasLost, "")
		s := r.Accepted(req)
		pass(5 * time.Second)
		require.Len(t, r.bank.links, 2)
		r.bank.lock(func() { require.True(t, r.bank.pay(r.bank.links[0])) })
		require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
		pass(10 * time.Minute)
		require.EqualValues(t, 500, r.bank.net(), "it is of before")
		require.Len(t, r.ops(), 1)
		require.Equal(t, outbox.Doubt, r.ops()[0].State)
		require.Contains(t, r.ops()[0].Reason, "before the journal was replaced")
	})
}

// A refund that a till repeats under its id in a restored journal is not sent where more was given back of
// the payment than the journal knows of: the service knows no Keys, and does not say under which. A
// reversal is made of what is left, and one that was made is done. A refund without an id is another one.
func TestField2_M14ARefundOfALinkInARestoredJournal(t *testing.T) {
	refund := ecr.Request{Kind: ecr.Refund, Amount: 200, Original: "R1", Line: "jsonl", Sequence: "B1"}
	reverse := ecr.Request{Kind: ecr.Reversal, Receipt: 1, Amount: 500, Line: "jsonl", Sequence: "B2"}
	for _, silent := range []bool{false, true} {
		for name, c := range map[string]struct {
			req   ecr.Request
			known money.Minor // was given back before the copy
			lost  bool        // given back after it
			net   int64
			doubt bool
		}{
			"repeated":               {refund, 0, true, 300, true},
			"repeated after another": {refund, 100, true, 200, true},
			"not made before":        {refund, 0, false, 300, false},
			"reversal repeated":      {reverse, 0, true, 0, false},
			"reversal not made":      {reverse, 0, false, 0, false},
		} {
			t.Run(fmt.Sprint(name, " silent ", silent), func(t *testing.T) {
				t.Parallel()
				paysFor(t, func(r *rig, _ *schemes) {
					r.bank.silent = silent
					r.once(ids()["JSON id"], "link")
					if c.known != 0 {
						r.Approved(r.Accepted(ecr.Request{Kind: ecr.Refund, Amount: c.known, Original: "R1", Line: "jsonl", Sequence: "B0"}), ecr.Told)
					}
					copy := r.copied()
					if c.lost {
						r.Approved(r.Accepted(c.req), ecr.Told)
					}
					r.replaced(store.WasRestored, copy)
					s := r.Accepted(c.req)
					pass(10 * time.Minute)
					require.Equal(t, c.net, r.bank.net())
					last := r.ops()[len(r.ops())-1]
					if !c.doubt {
						r.Approved(s, ecr.Told)
						return
					}
					require.Equal(t, outbox.Doubt, last.State)
					require.Contains(t, last.Reason, "the journal was replaced")
					require.NotEqual(t, ecr.Approved, (<-s.Outcome).Result)
				})
			})
		}
	}
	paysFor(t, func(r *rig, _ *schemes) {
		r.once(ids()["JSON id"], "link")
		copy := r.copied()
		r.Approved(r.Accepted(refund), ecr.Told)
		r.replaced(store.WasRestored, copy)
		plain := refund
		plain.Sequence = ""
		r.Approved(r.Accepted(plain), ecr.Told)
		require.EqualValues(t, 100, r.bank.net())
		require.Equal(t, paylinks.PartiallyRefunded, r.bank.txns[0].Status)
	})
}
