package gateway_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
	"posagent/store"
)

// claims are those of an older program, in memory.
type claims map[[2]string]string

func (c claims) Owner(_ store.Reader, about, id string) (string, bool, error) {
	owner, found := c[[2]string{about, id}]
	return owner, found, nil
}

func (c claims) Give(_ store.Tx, about, id, owner string) error {
	c[[2]string{about, id}] = owner
	return nil
}

func (c claims) Forget(_ store.Tx, owner string, about ...string) error {
	for k, o := range c {
		for _, kind := range about {
			if k[0] == kind && o == owner {
				delete(c, k)
			}
		}
	}
	return nil
}

// What the service made with a thing goes with it to another client: a link's transactions with the operations on them, and the tokens
// of a stored card and of a payment. So does what is given by an operation on it, and what nobody here made. Claims of an older program
// do not tell what they came with: they end, and the service is asked again.
func TestField2_M45WhoIsGivenAThingIsGivenItsDependants(t *testing.T) {
	old := claims{}
	inShop(t, gateway.Options{Claims: old}, func(t *testing.T, s *shop) {
		as := func(name string) context.Context {
			return wire.WithCaller(t.Context(), wire.Caller{Name: name, Own: true})
		}
		give := func(key wire.Key, owner string) (moved []wire.Key) {
			t.Helper()
			require.NoError(t, s.db.Write(t.Context(), func(tx store.Tx) error {
				given, err := s.front.Own(tx, key, owner)
				moved = nil
				for _, op := range given.Ops {
					moved = append(moved, op.Key)
				}
				return err
			}))
			return moved
		}
		maker := func(kind string) wire.Key {
			t.Helper()
			var key wire.Key
			for _, op := range s.ops() {
				if op.Kind == kind {
					key = op.Key
				}
			}
			require.NotEmpty(t, key)
			return key
		}
		is := func(want bool, err error) {
			t.Helper()
			if want {
				require.NoError(t, err)
				return
			}
			require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
		}

		// A link: its transaction, and what was done to it.
		links, txns := s.front.Links(), s.front.Transactions()
		made, err := links.Create(as("alpha"), "l1", order())
		require.NoError(t, err)
		s.customer(made.ID)
		txn := s.txn(made.ReferenceID).ID
		part := paylinks.RefundRequest{Amount: cents(100)}
		_, err = txns.Refund(as("alpha"), "r1", txn, part)
		require.NoError(t, err)
		belongs := func(owner, other string) {
			t.Helper()
			for name, want := range map[string]bool{owner: true, other: false} {
				_, err := links.Read(as(name), made.ID)
				is(want, err)
				_, err = txns.Read(as(name), txn)
				is(want, err)
				_, err = txns.Refund(as(name), "again", txn, part)
				is(want, err)
				for _, op := range s.ops() {
					require.Equal(t, owner, op.Owner, op.Kind)
				}
			}
		}
		belongs("alpha", "beta")
		require.Len(t, give(maker(gateway.KindLinkCreate), "beta"), 3, "the create and two refunds")
		belongs("beta", "alpha")
		require.Len(t, give(maker(gateway.KindTxnRefund), "alpha"), 4, "a transaction goes with its link")
		belongs("alpha", "beta")

		// An older program has claimed the transaction of a link.
		second, err := links.Create(as("alpha"), "l2", order())
		require.NoError(t, err)
		s.customer(second.ID)
		claimed := s.txn(second.ReferenceID).ID
		name := [2]string{"transaction", strconv.FormatInt(claimed, 10)}
		old[name] = "alpha"
		_, err = txns.Read(as("alpha"), claimed)
		require.NoError(t, err)
		give(maker(gateway.KindLinkCreate), "beta")
		require.NotContains(t, old, name)
		_, err = txns.Read(as("alpha"), claimed)
		is(false, err)
		_, err = txns.Read(as("beta"), claimed)
		is(true, err)

		// A stored card and a payment, each with its token.
		card := tokens.CardDetails{PAN: wire.NewPAN(visa), ExpiryYear: 2099, ExpiryMonth: 12}
		stored, err := s.tok.Create(as("alpha"), "t1", tokens.CreateRequest{CardDetails: &card})
		require.NoError(t, err)
		reply, err := s.tok.Token(as("alpha"), stored.TokenizationID)
		require.NoError(t, err)
		charge := func(name, key string) error {
			_, err := s.pay.Create(as(name), wire.Key(key), payments.CreateRequest{
				Type: payments.Moto, Amount: 5, CurrencyCode: "EUR", Processing: payments.ProcessSale,
				PaymentMethodDetails: &payments.PaymentMethodDetails{Type: payments.WithToken, Token: reply.Token},
			})
			return err
		}
		is(true, charge("alpha", "p1"))
		payment := maker(gateway.KindPaymentCreate)
		give(payment, "beta")
		is(false, charge("beta", "p2")) // the payment has only named the token
		is(true, charge("alpha", "p3"))
		give(maker(gateway.KindTokenCreate), "beta")
		is(true, charge("beta", "p4"))
		is(false, charge("alpha", "p5"))

		// What nobody here made: the operation on it gives it.
		foreign, err := s.backend.Links().Create(t.Context(), wire.NewKey(), order())
		require.NoError(t, err)
		s.customer(foreign.ID)
		theirs := s.txn(foreign.ReferenceID).ID
		_, err = txns.Refund(t.Context(), "f1", theirs, part)
		require.NoError(t, err)
		_, err = txns.Read(as("beta"), theirs)
		is(false, err)
		give(maker(gateway.KindTxnRefund), "beta")
		_, err = txns.Read(as("beta"), theirs)
		is(true, err)
		s.pass(time.Minute)
		for _, op := range s.ops() {
			require.Equal(t, outbox.Done, op.State, "%s: %s", op.Kind, op.Reason)
		}
	})
}
