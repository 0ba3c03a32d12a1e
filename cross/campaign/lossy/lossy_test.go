package lossy

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/cross/env"
	"posagent/cross/need"
	"posagent/cross/referee"
	"posagent/schemes/backend"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/sqlite"
)

// TestLossy writes OPS times (2000, 400 in make test), then judges.
func TestLossy(t *testing.T) {
	n, seed := env.Number("OPS", need.Size(400, 2000)), env.Seed()
	began := time.Now()
	c := play(t, n, seed, false)
	for _, w := range c.wrong[:min(10, len(c.wrong))] {
		t.Errorf("seed %d: %s", seed, w)
	}
	refused, kinds := 0, map[string]int{}
	for _, x := range c.calls {
		kinds[x.kind]++
		if x.refused != "" {
			refused++
		}
	}
	l := c.link
	t.Logf("seed %d: %d writes asked for %d times, %d stored before they were sent, %d refused; %d requests: %d met no link, %d answers lost, %d late, %d delivered twice; %d links made once too often; %v",
		seed, len(c.calls), c.asked, c.stored, refused, l.calls, l.refused, l.lost, l.late, l.doubled, c.twice, kinds)
	t.Logf("%d violations: at most %.1e a write at 95 %%; %v", len(c.wrong), 3/float64(len(c.calls)), time.Since(began).Round(time.Second))
	require.Len(t, c.calls, n)
	require.Greater(t, c.stored, n/10, "a link that is there proves nothing")
	require.Less(t, refused, n/2, "and neither do refusals")
	heldToPlayed(t, n, kinds)
}

// A backend that never sees a Key must be caught.
func TestTeethKeysDropped(t *testing.T) {
	need.Verify(t, "judges the judge: hides the Keys from the backend")
	require.NotEmpty(t, play(t, 300, 1, true).wrong)
}

// play runs one campaign in virtual time.
func play(t *testing.T, n int, seed uint64, keyless bool) (c *campaign) {
	synctest.Test(t, func(t *testing.T) {
		var end func()
		c, end = open(t, seed, keyless)
		var wg sync.WaitGroup
		for i := range clients {
			wg.Go(func() { c.client(t.Context(), i, n/clients+boolean(i < n%clients), seed) })
		}
		wg.Wait()
		// What is left drains over the same link.
		for waited := 0; c.open(outbox.Pending)+c.open(outbox.Sent) > 0; waited++ {
			if waited == 14*24 { // hours
				require.Fail(t, "the queue does not get empty", c.left())
			}
			<-time.After(time.Hour)
		}
		c.link.mend()
		<-time.After(10 * time.Minute) // what is late arrives
		for _, x := range c.calls {
			c.last(x)
		}
		c.judge()
		end()
	})
	return c
}

// left says what a few of the operations wait for that are not at their end.
func (c *campaign) left() string {
	text := ""
	require.NoError(c.t, c.db.Read(c.t.Context(), func(r store.Reader) error {
		for _, state := range []outbox.State{outbox.Doubt, outbox.Held, outbox.Sent, outbox.Pending} {
			list, err := c.box.List(r, outbox.Filter{State: state, Limit: 5})
			if err != nil {
				return err
			}
			for _, op := range list {
				text += fmt.Sprintf("%s %s of %s, %d attempts: %s\n", op.State, op.Kind, op.Aggregate, op.Attempts, op.Reason)
			}
		}
		return nil
	}))
	return text
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (c *campaign) report() (lines []outbox.Line) {
	require.NoError(c.t, c.db.Read(c.t.Context(), func(r store.Reader) (err error) { lines, err = outbox.Report(r); return err }))
	return lines
}

func (c *campaign) open(state outbox.State) (n int64) {
	for _, l := range c.report() {
		if l.State == state {
			n += l.Count
		}
	}
	return n
}

// last asks for the final answer of a call.
func (c *campaign) last(x *call) {
	id, pending, err := x.do()
	switch code := wire.CodeOf(err); {
	case pending != nil:
		c.note("%s %s: still pending", x.kind, x.key)
	case err == nil && x.refused != "":
		c.note("%s %s: refused, then answered %s", x.kind, x.key, id)
	case err == nil:
		x.id = id
		if !x.accepted && id != x.first {
			c.note("%s %s: answered %s, at the end %s", x.kind, x.key, x.first, id)
		}
	case code == wire.Conflict || code == wire.NotFound || code == wire.Invalid:
		if x.first != "" && !x.accepted {
			c.note("%s %s: answered %s, at the end %v", x.kind, x.key, x.first, err)
		}
		x.refused = code
	default:
		c.note("%s %s: at the end %v", x.kind, x.key, err)
	}
}

// total counts and sums one kind of effect.
type total struct{ n, sum int64 }

func (t *total) add(amount int64) { t.n++; t.sum += amount }

// verdict is the referee's.
func (c *campaign) verdict(entries []backend.Entry) []string {
	var list []referee.Entry
	for _, e := range entries {
		list = append(list, referee.Entry{Service: e.Service, ID: e.ID, Reference: e.Reference, Original: e.Original, Type: e.Type, Amount: int64(e.Amount), Moved: len(e.Postings) > 0})
	}
	return c.link.referee.Verdict(list)
}

// judge holds what the clients were told, the books and the terminal's report against each other.
func (c *campaign) judge() {
	entries, err := c.backend.Books(c.t.Context())
	require.NoError(c.t, err)
	type effect struct {
		payment, kind string
		amount        int64
	}
	books, paid := map[string]effect{}, map[string]int64{} // operations by their reference, payments by their id
	by := map[string]map[string]int{}                      // how many operations of a kind each payment has
	c.judgeLinks(entries)
	c.wrong = append(c.wrong, c.verdict(entries)...)
	for _, e := range entries {
		if e.Service != "payments" {
			continue
		}
		if e.Original == "" {
			paid[e.ID] = int64(e.Amount)
			continue
		}
		if _, twice := books[e.ID]; twice {
			c.note("%s stands in the books twice", e.ID)
		}
		books[e.ID] = effect{e.Original, e.Type, int64(e.Amount)}
		if by[e.Original] == nil {
			by[e.Original] = map[string]int{}
		}
		by[e.Original][e.Type]++
	}
	// What the clients were told.
	done, wanted, payment, token, verified := map[string]*total{}, map[string]map[string]int{}, map[string]*call{}, map[string]string{}, map[string]bool{}
	for _, x := range c.calls {
		if x.refused != "" || x.id == "" {
			continue
		}
		if done[x.kind] == nil {
			done[x.kind] = &total{}
		}
		done[x.kind].add(int64(x.amount))
		switch x.kind {
		case gateway.KindTokenCreate, gateway.KindTokenRecurring:
			if token[x.id] != "" {
				c.note("token %s was made for two", x.id)
			}
			token[x.id] = x.kind
			continue
		case gateway.KindTokenVerify:
			if x.id != x.about.id && x.id != x.about.first { // the id that was asked is the id of the answer
				c.note("%s (asked as %s) is verified as %s", x.about.id, x.about.first, x.id)
			}
			verified[x.about.id] = true
		case gateway.KindPaymentCreate:
			if payment[x.id] != nil {
				c.note("payment %s was made for two", x.id)
			}
			payment[x.id] = x
			if paid[x.id] != int64(x.amount) {
				c.note("%s: payment of %d, the books have %d", x.key, x.amount, paid[x.id])
			}
			wanted[x.id] = map[string]int{}
			switch x.process {
			case payments.ProcessAuthorize:
				wanted[x.id]["authorize"]++
			case payments.ProcessSale:
				wanted[x.id]["authorize"]++
				wanted[x.id]["capture"]++
			}
		}
	}
	for _, x := range c.calls {
		if x.refused != "" || x.id == "" || x.about == nil || x.about.kind != gateway.KindPaymentCreate {
			continue
		}
		kind := map[string]string{
			gateway.KindPaymentAuthorize: "authorize", gateway.KindPaymentCapture: "capture", gateway.KindPaymentCancel: "cancel", gateway.KindPaymentRefund: "refund",
		}[x.kind]
		e, ok := books[x.id]
		if !ok || e.kind != kind || e.payment != x.about.id || kind != "cancel" && e.amount != int64(x.amount) {
			c.note("told %s %d of %s as %s, the books have %+v", kind, x.amount, x.about.id, x.id, e)
			continue
		}
		wanted[e.payment][kind]++
	}
	for id, kinds := range by {
		for kind, n := range kinds {
			if wanted[id][kind] != n && kind != "verify" {
				c.note("payment %s has %d of %s, its clients were told of %d", id, n, kind, wanted[id][kind])
			}
		}
	}
	for id := range paid {
		if payment[id] == nil && len(by[id]) > 0 {
			c.note("nobody was told of payment %s", id)
		}
	}
	// What the terminal reports.
	told := map[string]total{}
	for _, l := range c.report() {
		switch {
		case l.State == outbox.Done:
			t := told[l.Kind]
			told[l.Kind] = total{t.n + l.Count, t.sum + l.Sum}
		case l.State == outbox.Doubt || l.State == outbox.Held:
			c.note("%d %s are %s", l.Count, l.Kind, l.State)
		}
	}
	for kind, d := range done {
		if told[kind] != *d && kind != gateway.KindPaymentCancel || told[kind].n != d.n {
			c.note("%s: the report has %+v, the books have %+v", kind, told[kind], *d)
		}
		delete(told, kind)
	}
	for kind, t := range told {
		c.note("the report has %+v of %s, the books none", t, kind)
	}
	c.judgeTokens(token, verified)
}

// judgeTokens holds what clients were told of tokens, by the kind of what made each, against the backend's.
func (c *campaign) judgeTokens(token map[string]string, verified map[string]bool) {
	db, err := sqlite.OpenReader(c.t.Context(), c.dir+"/backend.db")
	require.NoError(c.t, err)
	require.NoError(c.t, db.Read(c.t.Context(), func(r store.Reader) error {
		return store.Each(r, func(row store.Row) error {
			var id string
			var terms, good bool
			if err := row.Scan(&id, &terms, &good); err != nil {
				return err
			}
			if kind := token[id]; kind == "" || (kind == gateway.KindTokenRecurring) != terms || good != verified[id] {
				c.note("token %s with terms %v, verified %v: its client was told of %q, verified %v", id, terms, good, kind, verified[id])
			}
			delete(token, id)
			return nil
		}, `SELECT id, json_extract(data, '$.recurring') IS NOT NULL, COALESCE(json_extract(data, '$.verified'), 0) FROM cards_token`)
	}))
	require.NoError(c.t, db.Close())
	for id := range token {
		c.note("there is no token %s", id)
	}
}
