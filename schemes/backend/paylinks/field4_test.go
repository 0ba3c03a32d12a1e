package paylinks_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	links "posagent/schemes/backend/paylinks"
	"posagent/schemes/paylinks"
)

// A subscription is charged again also after its first payment was given back, whole or in part: as long as that is so, its page says that
// it goes on and offers the customer to end it. Kind: the looks of a link that was paid.
func TestField4_AGivenBackSubscriptionCanBeEnded(t *testing.T) {
	for name, amount := range map[string]*int64{"whole": nil, "a part": new(int64(500))} {
		t.Run(name, func(t *testing.T) {
			b := newWeb(t)
			l, first := b.paid(1250, func(r *paylinks.CreateRequest) { r.SubscriptionState, r.SubscriptionInterval = true, "P1M" })
			_, err := b.Transactions().Refund(context.Background(), "", first.ID, paylinks.RefundRequest{Amount: amount})
			require.NoError(t, err)
			b.Pass(32 * 24 * time.Hour)
			require.Len(t, b.txns(l.ID), 2, "charged again")
			page := b.Browser.Page("/pay/" + *l.Hash)
			require.Contains(t, page, "/stop?", page)
			path, fields := b.form(*l.Hash, "stop")
			require.Equal(t, 303, b.Send("POST", path, fields).Code)
			b.Pass(100 * 24 * time.Hour)
			require.Len(t, b.txns(l.ID), 2, "ended")
			page = b.Browser.Page("/pay/" + *l.Hash)
			require.False(t, strings.Contains(page, "/stop?"))
			require.Contains(t, page, "The subscription has ended.")
			p, err := b.Show(context.Background(), *l.Hash)
			require.NoError(t, err)
			require.Equal(t, map[string]links.Look{"whole": links.Returned, "a part": links.Paid}[name], p.State)
		})
	}
}
