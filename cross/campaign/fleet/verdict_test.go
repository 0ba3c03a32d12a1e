package fleet

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/env"
	"posagent/store/postgres/pgtest"
)

// day is a small day on which all is well: a sale that was approved, one that was given back, a card that was authorised and captured,
// one that was declined, a token and a link.
func day() ([]record, books) {
	told := []record{
		{What: "sale", Ref: "s0", Amount: 1000, Said: begun}, {What: "sale", Ref: "s1", Amount: 2000, Said: begun},
		{What: "sale", Ref: "s0", Amount: 1000, Said: approved}, {What: "sale", Ref: "s1", Amount: 2000, Said: aborted},
		{What: "write", Ref: "w0", Kind: "payments.create", Amount: 300, Said: begun}, {What: "write", Ref: "w0", Kind: "payments.create", Amount: 300, Said: stored},
		{What: "write", Ref: "w1", Kind: "payments.capture", About: "w0", Amount: 300, Said: begun}, {What: "write", Ref: "w1", Kind: "payments.capture", About: "w0", Amount: 300, Said: done},
		{What: "write", Ref: "w2", Kind: "payments.create", Amount: 400, Said: begun}, {What: "write", Ref: "w2", Kind: "payments.create", Amount: 400, Said: refused},
		{What: "write", Ref: "w3", Kind: "tokens.recurring", Amount: 500, Said: begun}, {What: "write", Ref: "w3", Kind: "tokens.recurring", Amount: 500, Said: done},
		{What: "write", Ref: "w4", Kind: "paylinks.create", Amount: 600, Said: begun}, {What: "write", Ref: "w4", Kind: "paylinks.create", Amount: 600, Said: done},
		{What: "write", Ref: "w0", Kind: "payments.create", Amount: 300, Said: done},
	}
	return told, books{
		sales:  map[int64][]sold{1000: {{id: 1, amount: 1000, times: 1, net: 1000}}, 2000: {{id: 2, amount: 2000, times: 1}}},
		cards:  map[string][]paid{"w0": {{id: "p", amount: 300, reserved: []int64{300}, captured: []int64{300}, net: 300}}, "w2": {{id: "q", amount: 400}}},
		tokens: map[int64]int{500: 1}, links: map[string][]int64{"w4": {600}},
	}
}

// The judge finds each kind of fault, and only where there is one.
func TestJudge(t *testing.T) {
	told, b := day()
	v := judge(told, b)
	require.Empty(t, v.all())
	require.Equal(t, map[string]int{approved: 1, aborted: 1}, v.sales)
	require.Equal(t, map[string]int{done: 4, refused: 1}, v.writes)
	require.Equal(t, map[string]int{"sales not approved: paid, and given back": 1, "writes stored for later: done": 1}, v.uncertain)
	for _, c := range []struct {
		name                   string
		spoil                  func(told []record, b *books)
		lost, doubled, another int
	}{
		{"a sale is gone", func(_ []record, b *books) { delete(b.sales, 1000) }, 1, 0, 0},
		{"a sale was never paid", func(_ []record, b *books) { b.sales[1000][0].net, b.sales[1000][0].times = 0, 0 }, 1, 0, 0},
		{"a sale was paid twice", func(_ []record, b *books) { b.sales[1000] = append(b.sales[1000], b.sales[1000][0]) }, 0, 1, 0},
		{"a sale was credited twice, and once given back", func(_ []record, b *books) { b.sales[1000][0].times = 2 }, 0, 1, 0},
		{"a sale has another amount", func(_ []record, b *books) { b.sales[1000][0].net = 999 }, 0, 0, 1},
		{"a sale that was aborted took money", func(_ []record, b *books) { b.sales[2000][0].net = 2000 }, 0, 0, 1},
		{"a sale that nobody asked for", func(_ []record, b *books) { b.sales[7] = []sold{{id: 7, amount: 7}} }, 0, 0, 1},
		{"a sale without an answer", func(told []record, _ *books) { told[3].Said = begun }, 0, 0, 1},
		{"a customer who declined has paid", func(told []record, b *books) {
			told[0].Amount, told[2].Amount = customerNo, customerNo
			b.sales[customerNo] = b.sales[1000]
			delete(b.sales, 1000)
		}, 0, 0, 1},
		{"a payment is gone", func(_ []record, b *books) { delete(b.cards, "w0") }, 2, 0, 0},
		{"a payment was made twice", func(_ []record, b *books) {
			b.cards["w0"] = append(b.cards["w0"], paid{id: "r", amount: 300, net: 300})
		}, 0, 1, 0},
		{"a card was authorised twice", func(_ []record, b *books) { b.cards["w0"][0].reserved = []int64{300, 300} }, 0, 1, 0},
		{"a payment was captured twice", func(_ []record, b *books) { b.cards["w0"][0].captured = []int64{300, 300} }, 0, 1, 0},
		{"a capture is gone", func(_ []record, b *books) { b.cards["w0"][0].captured = nil }, 1, 0, 0},
		{"a capture moved no money", func(_ []record, b *books) { b.cards["w0"][0].net = 0 }, 0, 0, 1},
		{"a refused card was authorised", func(_ []record, b *books) { b.cards["w2"][0].reserved = []int64{400} }, 0, 0, 1},
		{"a token is gone", func(_ []record, b *books) { delete(b.tokens, 500) }, 1, 0, 0},
		{"a token was made twice", func(_ []record, b *books) { b.tokens[500] = 2 }, 0, 1, 0},
		{"a token that nobody wrote", func(_ []record, b *books) { b.tokens[7] = 1 }, 0, 0, 1},
		{"a link is gone", func(_ []record, b *books) { delete(b.links, "w4") }, 1, 0, 0},
		{"a link was made twice", func(_ []record, b *books) { b.links["w4"] = []int64{600, 600} }, 0, 1, 0},
		{"a link has another amount", func(_ []record, b *books) { b.links["w4"] = []int64{601} }, 0, 0, 1},
		{"a link that nobody wrote", func(_ []record, b *books) { b.links["w9"] = []int64{1} }, 0, 0, 1},
		{"a write that was stored has no end", func(told []record, _ *books) { told[14].Said = stored }, 0, 0, 1},
		{"the postings do not sum to zero", func(_ []record, b *books) { b.sum = 1 }, 0, 0, 1},
		{"those of a transaction do not", func(_ []record, b *books) { b.unbalanced = 1 }, 0, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			told, b := day()
			c.spoil(told, &b)
			v := judge(told, b)
			require.Len(t, v.lost, c.lost, "%q", v.all())
			require.Len(t, v.doubled, c.doubled, "%q", v.all())
			require.Len(t, v.wrong, c.another, "%q", v.all())
		})
	}
}

// Where no commit waits for a standby, and one is promoted that lacks the log, the judge finds what is lost.
func TestTeethNoQuorum(t *testing.T) {
	pgtest.Need(t)
	w := open(t, size{terminals: 6, servers: 2, processes: 1, seed: env.Seed(), think: 50 * time.Millisecond})
	standby := w.db.followers()[0]
	standby.kill()
	require.NoError(t, w.told.grows(t.Context(), 60))
	w.finish()
	v := w.verdict(t.Context())
	require.Empty(t, append(v.lost, w.wrong...), "it is all there")
	require.NotZero(t, v.sales[approved])
	w.db.leads().kill()
	require.NoError(t, standby.start(t.Context()))
	require.NoError(t, w.db.promote(t.Context(), standby, time.Now()))
	require.GreaterOrEqual(t, len(w.verdict(t.Context()).lost), v.sales[approved])
}
