package aapay_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/aapay"
	wallets "posagent/schemes/backend/aapay"
	"posagent/schemes/backend/room"
	"posagent/schemes/wire"
)

// TestField5_TheOperatorsWordReachesAMerchantsReference: a payment that a box made with its own credentials was reversed with the
// operator's, by its terminalReference and its merchantId: REVERSED, and the money stayed with the merchant. A merchant's own references
// were not looked at. The kind: what the two kinds of credentials name for one merchant (a reference by a reversal before and after the
// payment, by another payment, and the same Key), each in both directions. Another merchant's equal reference is not touched. Payments,
// links and hosted orders are named by ids of one space, which the operator reaches already; their Keys name no merchant, and are found
// where no two are alike (room, TestField6_TheOperatorsRepeatIsTheMerchantsWrite).
func TestField5_TheOperatorsWordReachesAMerchantsReference(t *testing.T) {
	operator := context.Background()
	box := room.As(operator, room.Caller{Merchant: "M1"})
	delay := time.Duration(0)
	for name, way := range map[string][2]context.Context{"the operator after the box": {box, operator}, "the box after the operator": {operator, box}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "", &delay)
			w.opt.DB = room.Apart(w.DB)
			var err error
			w.Wallets, err = wallets.New(w.opt)
			require.NoError(t, err)
			first, second := way[0], way[1]
			begin := func(by context.Context, key wire.Key, typ aapay.Type, req aapay.Request) aapay.Reply {
				t.Helper()
				reply, err := w.InitializeWithIdempotency(by, key, typ, req)
				require.NoError(t, err)
				return reply
			}
			net := func(by context.Context, ref string) aapay.AccountState {
				t.Helper()
				st, err := w.Status(by, ref, "")
				require.NoError(t, err)
				return st.AccountState
			}
			paid, key := w.request("SWISH_E_COM", 1250), wire.NewKey()
			made := begin(first, key, aapay.Payment, paid)
			require.Equal(t, 202, made.HTTPStatus)
			require.Equal(t, aapay.Commit, net(first, paid.TerminalReference))
			other := w.request("SWISH_E_COM", 1250)
			other.MerchantID, other.TerminalReference = "M2", paid.TerminalReference
			m2 := room.As(operator, room.Caller{Merchant: "M2"})
			if first != operator { // which counts through all merchants' references
				require.Equal(t, 202, begin(m2, wire.NewKey(), aapay.Payment, other).HTTPStatus)
			}

			require.Equal(t, made, begin(second, key, aapay.Payment, paid), "the same Key and body: the same payment")
			require.Equal(t, 201, begin(second, wire.NewKey(), aapay.Payment, paid).HTTPStatus, "the reference is used")

			back := w.undo(paid.TerminalReference, "SWISH_E_COM", 1250)
			require.Equal(t, 202, begin(second, wire.NewKey(), aapay.Reversal, back).HTTPStatus)
			require.Equal(t, aapay.Commit, net(second, back.TerminalReference), "money has moved")
			st, err := w.Status(first, paid.TerminalReference, "")
			require.NoError(t, err)
			shown, err := w.Show(operator, st.NAA2ECR.PPRef)
			require.NoError(t, err)
			require.Equal(t, wallets.Undone, shown.Look, "the customer has the money back")

			early := w.request("SWISH_E_COM", 1250)
			undo := w.undo(early.TerminalReference, "SWISH_E_COM", 1250)
			require.Equal(t, 202, begin(second, wire.NewKey(), aapay.Reversal, undo).HTTPStatus)
			require.Equal(t, 201, begin(first, wire.NewKey(), aapay.Payment, early).HTTPStatus, "it was reversed before it arrived")
			if first != operator {
				require.Equal(t, aapay.Commit, net(m2, other.TerminalReference))
				st, err := w.Status(m2, other.TerminalReference, "")
				require.NoError(t, err)
				shown, err := w.Show(operator, st.NAA2ECR.PPRef)
				require.NoError(t, err)
				require.Equal(t, wallets.Paid, shown.Look, "another merchant's")
			}
			w.sound()
		})
	}
}
