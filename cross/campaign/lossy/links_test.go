package lossy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/schemes/backend"
	"posagent/schemes/backend/books"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/sqlite"
)

// What becomes of a link when its customer has paid.
const (
	confirmed  = "confirmed"
	reserved   = "reserved"
	authorized = "authorized"
)

// bare is the title of links whose creation is sent without its Key, as to a service that knows none.
const bare = "Bare"

// bared takes away the Key where the service this contract is taken from honours none: always of what is done to a transaction or
// to a link, for half of the links that are made. single says that the request must not arrive twice: without a Key a network that
// doubles it doubles its effect, whoever has sent it.
func bared(r *http.Request, body []byte) (drop, single bool) {
	switch {
	case r.Method == http.MethodGet || !strings.HasPrefix(r.URL.Path, paylinks.Prefix) && !strings.HasPrefix(r.URL.Path, paylinks.ShortPrefix):
		return false, false
	case r.Method == http.MethodPost && strings.Contains(r.URL.Path, "/Invoice"):
		return bytes.Contains(body, []byte("title="+bare)), false
	}
	return true, true
}

// linkClient is the client of the payment-link service.
func linkClient(d wire.Doer) *paylinks.Client {
	who := backend.DemoCredentials()
	return &paylinks.Client{BaseURL: "http://backend.test", Instance: who.Instance, Secret: who.Secret, Doer: d}
}

// createLink makes a link; its reference is its caller's key.
func (c *campaign) createLink(ctx context.Context, rng *rand.Rand, x *call) {
	x.kind, x.amount = gateway.KindLinkCreate, 100+rng.Int32N(900)
	x.process = []string{confirmed, reserved, authorized}[rng.IntN(3)]
	req := paylinks.CreateRequest{
		Title: []string{bare, "Keyed"}[rng.IntN(2)], Description: "Thank you", ReferenceID: string(x.key), Purpose: "Order", Amount: int64(x.amount), Currency: "EUR",
		Reservation: x.process == reserved, PreAuthorization: x.process == authorized,
	}
	x.bare = req.Title == bare
	x.do = func() (string, *wire.Pending, error) {
		out, err := c.links.Create(ctx, x.key, req)
		return strconv.FormatInt(out.ID, 10), out.Operation, err
	}
}

// pays lets the customer of a link pay, once the backend knows the link; he has a network of his own.
func (c *campaign) pays(ctx context.Context, x *call) {
	id, pending, err := x.do()
	for range 30 { // the shop shows it when it has an address
		if err == nil && pending == nil {
			break
		}
		<-time.After(10 * time.Second)
		id, pending, err = x.do()
	}
	if err != nil || pending != nil {
		return
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://backend.test/pay/"+id+"/pay", http.NoBody)
	require.NoError(c.t, err)
	req.Header.Set("Authorization", "Bearer "+backend.DemoCredentials().Bearer.Reveal())
	resp, err := c.link.to.Do(req)
	require.NoError(c.t, err)
	_, _ = io.Copy(io.Discard, resp.Body)
	require.NoError(c.t, resp.Body.Close())
	if resp.StatusCode == http.StatusNotFound {
		return // taken back
	}
	require.Equal(c.t, http.StatusOK, resp.StatusCode)
	n, err := strconv.ParseInt(id, 10, 64)
	require.NoError(c.t, err)
	l, err := c.backend.Links().Read(ctx, n)
	require.NoError(c.t, err)
	x.txn = l.Invoices[0].Transactions[0].ID
}

// onLink takes a link back, or does something to its customer's transaction.
func (c *campaign) onLink(ctx context.Context, rng *rand.Rand, x, about *call) {
	const charge, capture, cancel, refund = gateway.KindTxnCharge, gateway.KindTxnCapture, gateway.KindTxnCancel, gateway.KindTxnRefund
	if about.txn == 0 && rng.IntN(4) > 0 {
		c.pays(ctx, about)
	}
	x.about = about
	if about.txn == 0 {
		x.kind = gateway.KindLinkDelete
		id, err := strconv.ParseInt(about.first, 10, 64)
		require.NoError(c.t, err)
		x.do = func() (string, *wire.Pending, error) {
			d, err := c.links.Delete(ctx, x.key, id)
			return strconv.FormatInt(d.ID, 10), d.Operation, err
		}
		return
	}
	likely := []string{charge, charge, charge, capture, cancel, refund, refund}
	if about.process == confirmed || about.touched {
		likely = []string{refund, refund, refund, refund, refund, refund, charge, cancel}
	}
	about.touched = true
	if x.kind = likely[rng.IntN(len(likely))]; x.kind == charge || x.kind == refund {
		x.amount = 1 + rng.Int32N(about.amount/2)
	}
	id, amount := about.txn, int64(x.amount)
	x.do = func() (string, *wire.Pending, error) {
		var d paylinks.Done
		var err error
		switch x.kind {
		case charge:
			// its own reference: the backend goes on to tell what was reserved, so that nothing else shows whose collection it was
			d, err = c.txns.Charge(ctx, x.key, id, paylinks.ChargeRequest{Amount: &amount, ReferenceID: "charge-" + string(x.key)})
		case capture:
			d, err = c.txns.Capture(ctx, x.key, id)
		case refund:
			d, err = c.txns.Refund(ctx, x.key, id, paylinks.RefundRequest{Amount: &amount})
		default:
			var gone paylinks.Deleted
			gone, err = c.txns.Delete(ctx, x.key, id)
			d.ID, d.Operation = gone.ID, gone.Operation
		}
		return strconv.FormatInt(d.ID, 10), d.Operation, err
	}
}

// fortune is what a transaction came to.
type fortune struct {
	taken int64
	back  []int64 // what went back, sorted
	given bool    // up, before anything was taken
}

// judgeLinks holds what clients were told of links and transactions against the backend's tables and books.
func (c *campaign) judgeLinks(entries []backend.Entry) {
	type row struct {
		id      string
		deleted bool
	}
	made := map[string][]row{} // by reference
	db, err := sqlite.OpenReader(c.t.Context(), c.dir+"/backend.db")
	require.NoError(c.t, err)
	require.NoError(c.t, db.Read(c.t.Context(), func(r store.Reader) error {
		return store.Each(r, func(found store.Row) error {
			var l row
			var reference string
			err := found.Scan(&l.id, &reference, &l.deleted)
			made[reference] = append(made[reference], l)
			return err
		}, `SELECT id, reference, deleted_ms IS NOT NULL FROM links_link ORDER BY id`)
	}))
	require.NoError(c.t, db.Close())
	is := map[int64]*fortune{}
	of := func(id string) *fortune {
		n, err := strconv.ParseInt(id, 10, 64)
		require.NoError(c.t, err)
		if is[n] == nil {
			is[n] = &fortune{}
		}
		return is[n]
	}
	for _, e := range entries {
		switch {
		case e.Service != "paylinks":
		case e.Original != "":
			f := of(e.Original)
			f.back = append(f.back, int64(e.Amount))
			if n := books.NetOf(e.Postings); n != -e.Amount {
				c.note("refund %s of %d moved %d", e.ID, e.Amount, n)
			}
		default:
			f := of(e.ID)
			f.taken, f.given = int64(books.NetOf(e.Postings)), e.State == string(paylinks.Cancelled)
		}
	}
	// What the clients were told.
	was := map[int64]*fortune{}
	gone := map[*call]bool{}
	for _, x := range c.calls {
		if x.kind != gateway.KindLinkCreate || x.refused != "" {
			continue
		}
		all := made[string(x.key)]
		if n := slices.IndexFunc(all, func(l row) bool { return l.id == x.id }); n < 0 || len(all) > 1 && !x.bare {
			c.note("told link %s, the backend has %v", x.id, all)
		}
		if c.twice += max(len(all)-1, 0); x.txn == 0 {
			continue
		}
		f := &fortune{}
		if x.process == confirmed {
			f.taken = int64(x.amount)
		}
		was[x.txn] = f
	}
	for _, x := range c.calls {
		if x.refused != "" || x.about == nil || x.about.kind != gateway.KindLinkCreate {
			continue
		}
		f := was[x.about.txn]
		if x.kind == gateway.KindLinkDelete {
			gone[x.about] = true
			continue
		}
		if x.id != fmt.Sprint(x.about.txn) {
			c.note("%s of %d is told as of %s", x.kind, x.about.txn, x.id)
		}
		switch x.kind {
		case gateway.KindTxnCharge:
			f.taken += int64(x.amount)
		case gateway.KindTxnCapture:
			f.taken += int64(x.about.amount)
		case gateway.KindTxnRefund:
			f.back = append(f.back, int64(x.amount))
		case gateway.KindTxnCancel:
			f.given = true
		}
	}
	for _, x := range c.calls {
		if x.kind != gateway.KindLinkCreate || x.refused != "" {
			continue
		}
		for _, l := range made[string(x.key)] {
			if l.id == x.id && l.deleted != gone[x] || l.id != x.id && l.deleted {
				c.note("link %s of %s: taken back %v, its client was told %v", l.id, x.key, l.deleted, gone[x])
			}
		}
		delete(made, string(x.key))
	}
	for reference, all := range made {
		c.note("nobody was told of the links %v of %s", all, reference)
	}
	for id, f := range is {
		slices.Sort(f.back)
		w := was[id]
		if w == nil {
			c.note("nobody was told of transaction %d: %+v", id, *f)
			continue
		}
		slices.Sort(w.back)
		if f.taken != w.taken || f.given != w.given || !slices.Equal(f.back, w.back) {
			c.note("transaction %d: clients were told %+v, the books have %+v", id, *w, *f)
		}
		delete(was, id)
	}
	for id := range was {
		c.note("the books have no transaction %d", id)
	}
}
