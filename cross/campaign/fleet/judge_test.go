package fleet

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// The judge knows the tills' own lines and the rows of the database, and nothing of the product's code: neither its keys nor its
// journals nor its verbs. It has its own words for the tables.

// sold is a payment of a customer as the database has it.
type sold struct {
	id, amount int64
	times      int64 // that it was credited to the merchant
	net        int64 // what the merchant has of it
}

// paid is a payment by card as the database has it.
type paid struct {
	id                 string
	amount             int64
	reserved, captured []int64 // the amounts of what was done
	net                int64
}

// books is what the database has.
type books struct {
	sales      map[int64][]sold   // by amount
	cards      map[string][]paid  // by the till's own name
	tokens     map[int64]int      // by amount, how many
	links      map[string][]int64 // by the till's own name, their amounts
	sum        int64              // of all postings
	unbalanced int64              // transactions whose postings do not sum to zero
}

// readBooks reads the database as it is at one moment.
func readBooks(ctx context.Context, conn *pgx.Conn) (b books, err error) {
	b = books{sales: map[int64][]sold{}, cards: map[string][]paid{}, tokens: map[int64]int{}, links: map[string][]int64{}}
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, tx.Rollback(ctx)) }()
	if err := tx.QueryRow(ctx, `SELECT COALESCE(SUM(amount), 0)::bigint FROM books_posting`).Scan(&b.sum); err != nil {
		return b, err
	}
	if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM (SELECT 1 FROM books_posting GROUP BY service, txn HAVING SUM(amount) <> 0) wrong`).Scan(&b.unbalanced); err != nil {
		return b, err
	}
	var s sold
	rows, err := tx.Query(ctx, `SELECT t.id, t.minor, COUNT(p.amount) FILTER (WHERE p.amount > 0), COALESCE(SUM(p.amount), 0)::bigint
		FROM wallets_txn t LEFT JOIN books_posting p ON p.service = 'aapay' AND p.payment = t.id::text AND p.account = 'merchant'
		WHERE t.type = 'payment' GROUP BY t.id, t.minor`)
	if err != nil {
		return b, err
	}
	if _, err := pgx.ForEachRow(rows, []any{&s.id, &s.amount, &s.times, &s.net}, func() error {
		b.sales[s.amount] = append(b.sales[s.amount], s)
		return nil
	}); err != nil {
		return b, err
	}
	var p paid
	var ref string
	rows, err = tx.Query(ctx, `SELECT c.id, c.data::jsonb ->> 'reference', (c.data::jsonb ->> 'amount')::bigint,
		COALESCE((SELECT array_agg(o.amount) FROM cards_op o WHERE o.payment = c.id AND o.kind = 'authorize' AND o.state = 'done'), '{}'),
		COALESCE((SELECT array_agg(o.amount) FROM cards_op o WHERE o.payment = c.id AND o.kind = 'capture' AND o.state = 'done'), '{}'),
		COALESCE((SELECT SUM(p.amount) FROM books_posting p WHERE p.service = 'payments' AND p.payment = c.id AND p.account = 'merchant'), 0)::bigint
		FROM cards_payment c`)
	if err != nil {
		return b, err
	}
	if _, err := pgx.ForEachRow(rows, []any{&p.id, &ref, &p.amount, &p.reserved, &p.captured, &p.net}, func() error {
		one := p
		one.reserved, one.captured = slices.Clone(p.reserved), slices.Clone(p.captured)
		b.cards[ref] = append(b.cards[ref], one)
		return nil
	}); err != nil {
		return b, err
	}
	var amount int64
	rows, err = tx.Query(ctx, `SELECT (data::jsonb ->> 'limit')::bigint FROM cards_token`)
	if err != nil {
		return b, err
	}
	if _, err := pgx.ForEachRow(rows, []any{&amount}, func() error { b.tokens[amount]++; return nil }); err != nil {
		return b, err
	}
	rows, err = tx.Query(ctx, `SELECT reference, hundredths FROM links_link WHERE deleted_ms IS NULL`)
	if err != nil {
		return b, err
	}
	_, err = pgx.ForEachRow(rows, []any{&ref, &amount}, func() error { b.links[ref] = append(b.links[ref], amount); return nil })
	return b, err
}

// readTold reads the tills' lines.
func readTold(path string) (list []record, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var r record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// fate is what became of one thing: its first line, and all that was said of it.
type fate struct {
	record
	said  []string
	first time.Time
	last  time.Time
}

// fates joins the lines of each thing, in the order in which they began.
func fates(told []record) (list []*fate) {
	by := map[string]*fate{}
	for _, r := range told {
		at := time.UnixMilli(r.AtMS)
		f := by[r.Ref]
		if f == nil {
			f = &fate{record: r, first: at}
			by[r.Ref] = f
			list = append(list, f)
		}
		f.said, f.last = append(f.said, r.Said), at
	}
	return list
}

// end is the last that was said.
func (f *fate) end() string { return f.said[len(f.said)-1] }

// verdict is what the judge counts.
type verdict struct {
	lost, doubled, wrong []string

	sales, writes map[string]int // by how they ended
	uncertain     map[string]int // what was not known for a while, by how it ended
}

func (v *verdict) all() []string { return slices.Concat(v.lost, v.doubled, v.wrong) }

func (v *verdict) isLost(format string, args ...any) {
	v.lost = append(v.lost, "lost: "+fmt.Sprintf(format, args...))
}

func (v *verdict) isDoubled(format string, args ...any) {
	v.doubled = append(v.doubled, "doubled: "+fmt.Sprintf(format, args...))
}

func (v *verdict) isWrong(format string, args ...any) {
	v.wrong = append(v.wrong, fmt.Sprintf(format, args...))
}

// judge holds what the tills were told against what the database has.
func judge(told []record, b books) *verdict {
	v := &verdict{sales: map[string]int{}, writes: map[string]int{}, uncertain: map[string]int{}}
	if b.sum != 0 || b.unbalanced != 0 {
		v.isWrong("the postings sum to %d, those of %d transactions do not sum to zero", b.sum, b.unbalanced)
	}
	list := fates(told)
	names, captured := map[string]bool{}, map[string][]*fate{}
	amounts, terms := map[int64]bool{}, map[int64]bool{}
	for _, f := range list {
		names[f.Ref] = true
		if f.What == "sale" {
			amounts[f.Amount] = true
		}
		if f.Kind == "tokens.recurring" {
			terms[f.Amount] = true
		}
		if f.About != "" {
			captured[f.About] = append(captured[f.About], f)
		}
	}
	for _, f := range list {
		if f.end() == begun {
			v.isWrong("%s of %d has no answer", f.Ref, f.Amount)
		}
		if f.What == "sale" {
			v.sale(f, b.sales[f.Amount])
		} else {
			v.wrote(f, b, captured[f.Ref])
		}
	}
	for amount, rows := range b.sales {
		if !amounts[amount] {
			v.isWrong("no till asked for the sale of %d: %v", amount, rows)
		}
	}
	for amount, n := range b.tokens {
		if !terms[amount] {
			v.isWrong("no till wrote the %d tokens over %d", n, amount)
		}
	}
	for _, made := range []map[string]bool{keys(b.cards), keys(b.links)} {
		for name := range made {
			if !names[name] {
				v.isWrong("no till wrote %s", name)
			}
		}
	}
	return v
}

func keys[T any](m map[string]T) map[string]bool {
	out := map[string]bool{}
	for name := range m {
		out[name] = true
	}
	return out
}

// sale judges one sale.
func (v *verdict) sale(f *fate, rows []sold) {
	v.sales[f.end()]++
	net, times := int64(0), int64(0)
	for _, r := range rows {
		net, times = net+r.net, times+r.times
	}
	switch {
	case f.end() == approved && f.Amount == customerNo:
		v.isWrong("%s is approved, though its customer declined", f.Ref)
	case f.end() == approved && (net == 0 || len(rows) == 0):
		v.isLost("%s was told as approved, the database has %d of %d: %+v", f.Ref, net, f.Amount, rows)
	case f.end() == approved && (net > f.Amount || times > 1 || len(rows) > 1):
		v.isDoubled("%s was told as approved, the database has %d of %d: %+v", f.Ref, net, f.Amount, rows)
	case f.end() == approved && net != f.Amount:
		v.isWrong("%s was told as approved, the database has %d of %d: %+v", f.Ref, net, f.Amount, rows)
	case f.end() != approved && net != 0:
		v.isWrong("%s was told as %s, the database has %d: %+v", f.Ref, f.end(), net, rows)
	}
	if f.end() != approved && f.Amount != customerNo {
		switch {
		case len(rows) == 0:
			v.uncertain["sales not approved: the backend never knew them"]++
		case times > 0:
			v.uncertain["sales not approved: paid, and given back"]++
		default:
			v.uncertain["sales not approved: not paid"]++
		}
	}
}

// wrote judges one write. captured are the captures of a payment.
func (v *verdict) wrote(f *fate, b books, captured []*fate) {
	v.writes[f.end()]++
	if slices.Contains(f.said, stored) {
		v.uncertain["writes stored for later: "+f.end()]++
	}
	n, amount := 0, int64(0)
	switch f.Kind {
	case "payments.create":
		for _, p := range b.cards[f.Ref] {
			n += len(p.reserved)
			amount = p.amount
			want := int64(0)
			for _, c := range captured {
				if c.end() == done {
					want += c.Amount
				}
			}
			if p.net != want {
				v.isWrong("%s: the merchant has %d, the captures that were told came to %d", f.Ref, p.net, want)
			}
		}
		if len(b.cards[f.Ref]) > 1 {
			v.isDoubled("%s made %d payments", f.Ref, len(b.cards[f.Ref]))
		}
	case "payments.capture":
		for _, p := range b.cards[f.About] {
			n += len(p.captured)
			for _, one := range p.captured {
				amount = one
			}
		}
	case "tokens.recurring":
		n, amount = b.tokens[f.Amount], f.Amount
	case "paylinks.create":
		n = len(b.links[f.Ref])
		for _, one := range b.links[f.Ref] {
			amount = one
		}
	default:
		v.isWrong("%s: the judge does not know %q", f.Ref, f.Kind)
	}
	switch {
	case f.end() == done && n == 0:
		v.isLost("%s (%s) was told as done, and had no effect", f.Ref, f.Kind)
	case n > 1:
		v.isDoubled("%s (%s) had %d effects", f.Ref, f.Kind, n)
	case f.end() == done && amount != f.Amount:
		v.isWrong("%s (%s) is of %d, the database has %d", f.Ref, f.Kind, f.Amount, amount)
	case f.end() == refused && n > 0:
		v.isWrong("%s (%s) was told as refused, and had an effect", f.Ref, f.Kind)
	case f.end() == stored:
		v.isWrong("%s (%s) was stored, and has no end", f.Ref, f.Kind)
	}
}
