package paylinks_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/paylinks"
)

// TestField3_D1AFormIsAboutTheLinkThatItShows: the forms of a link's page (pay by wallet, pay by card, answer the bank, decline, stop) act
// on that link, though another one has its hash as a reference. A program that says only the name is refused: it names neither (S11).
func TestField3_D1AFormIsAboutTheLinkThatItShows(t *testing.T) {
	yearly := func(r *paylinks.CreateRequest) {
		r.SubscriptionState, r.SubscriptionInterval, r.SubscriptionPeriod, r.SubscriptionCancellationInterval = true, "P1M", "P1Y", "P3M"
	}
	for name, act := range map[string]func(b web, hash string) (txn paylinks.Status){
		"wallet": func(b web, hash string) paylinks.Status {
			path, f := b.Form("/pay/"+hash, "pay", "by", "wallet")
			require.Equal(b.t, http.StatusSeeOther, b.Send(http.MethodPost, path, f).Code)
			path, f = b.form(hash, "stop")
			require.Equal(b.t, http.StatusSeeOther, b.Send(http.MethodPost, path, f).Code)
			require.Contains(b.t, b.Page("/pay/"+hash), "The subscription has ended")
			return paylinks.Confirmed
		},
		"card, asked by its bank": func(b web, hash string) paylinks.Status {
			path, f := b.byCard(hash, "4000002760003184")
			require.Equal(b.t, http.StatusSeeOther, b.Send(http.MethodPost, path, f).Code)
			path, f = b.form(hash, "answer")
			f.Set("pass", "yes")
			require.Equal(b.t, http.StatusSeeOther, b.Send(http.MethodPost, path, f).Code)
			return paylinks.Confirmed
		},
		"decline": func(b web, hash string) paylinks.Status {
			path, f := b.form(hash, "decline")
			require.Equal(b.t, http.StatusSeeOther, b.Send(http.MethodPost, path, f).Code)
			return paylinks.Declined
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newWeb(t)
			mine := b.link(1250, func(r *paylinks.CreateRequest) {
				if name == "wallet" {
					yearly(r)
				}
			})
			another := b.link(90_000, func(r *paylinks.CreateRequest) { r.ReferenceID = *mine.Hash })
			before := b.net()
			want := act(b, *mine.Hash)
			list := b.txns(mine.ID)
			require.Len(t, list, 1)
			require.Equal(t, want, list[0].Status)
			require.EqualValues(t, map[bool]int64{true: 1250}[want == paylinks.Confirmed], int64(b.net()-before), "what is shown is what is taken")
			b.is(another.ID, paylinks.Waiting, "", "the other link")
			require.Equal(b.t, http.StatusConflict, b.Send(http.MethodPost, "/pay/"+*mine.Hash+"/pay", nil, "Authorization", auth).Code, "a program says which one it means")
		})
	}
}
