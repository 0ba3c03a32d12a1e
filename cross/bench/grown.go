package main

import (
	"errors"
	"fmt"

	"posagent/schemes/backend"
	"posagent/store/postgres/pgserver"
)

// filledAtOnce is how many payments one statement makes.
const filledAtOnce = 20_000

// grown measures payments where many are in the books, in turns with books of a hundredth of them.
func (p *pgPart) grown() (err error) {
	sizes := []int{max(1, p.many/100), max(1, p.many/10), p.many}
	var all []*backend.Backend
	defer func() {
		for _, one := range all {
			err = errors.Join(err, one.Close())
		}
	}()
	for i, size := range sizes {
		p.progress("postgres: books of %d payments", size)
		schema := fmt.Sprintf("grown%d", i)
		one, err := p.open(schema, 0, nil)
		if err != nil {
			return err
		}
		all = append(all, one)
		if err := pay(p.ctx, one); err != nil {
			return err
		}
		if err := p.fill(schema, size); err != nil {
			return err
		}
	}
	rates, ratios := make([][]float64, len(all)), make([][]float64, len(all))
	for turn := range p.turns + 1 {
		for i, one := range all {
			rate, err := p.commits(one, grownAt)
			if err != nil {
				return err
			}
			if turn == 0 { // the first one warms up
				continue
			}
			rates[i] = append(rates[i], rate)
			ratios[i] = append(ratios[i], rates[0][turn-1]/rate)
		}
	}
	for i, size := range sizes[1:] {
		p.table.add(row{what: fmt.Sprintf("payment commits, %d payments in the books", size), ours: perSecond(median(rates[i+1])), limit: perSecond(median(rates[0])),
			ratio: median(ratios[i+1]), atMost: 1.3, note: fmt.Sprintf("cost beside %d", sizes[0])})
	}
	bytes, err := pgserver.Column[int64](p.server.URL("grown2"), `SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace`)
	if err != nil {
		return err
	}
	p.table.add(row{what: "bytes of a captured payment in the books", ours: kib(float64(bytes[0]) / float64(p.many)), note: "tables and indexes"})
	return nil
}

// fill copies the one payment of a schema, so that its books have so many. Their ids rise with time, as those of payments do, and lie
// before it.
func (p *pgPart) fill(schema string, size int) error {
	url := p.server.URL(schema)
	for from := 1; from < size; from += filledAtOnce {
		to := min(size, from+filledAtOnce) - 1
		// An id of 32 digits is told by its place and the number of the copy.
		id := func(of string) string { return `lpad(to_hex(g), 12, '0') || substr(md5(` + of + ` || g), 1, 20)` }
		for _, text := range []string{
			`INSERT INTO cards_payment (id, created_ms, state, next_ms, data, private)
				SELECT ` + id("'p'") + `, created_ms - 1000000000 + g, state, next_ms, data, private FROM one, `,
			`INSERT INTO cards_op (ref, payment, kind, amount, state, description, terminal, at_ms, due_ms)
				SELECT ` + id("o.ref") + `, ` + id("'p'") + `, o.kind, o.amount, o.state, o.description, o.terminal, o.at_ms - 1000000000 + g, o.due_ms FROM one JOIN cards_op o ON o.payment = one.id, `,
			`INSERT INTO books_ledger (service, payment, currency, amount, reserved, committed, returned, reversed, closed, under_way, fee, charged)
				SELECT l.service, ` + id("'p'") + `, l.currency, l.amount, l.reserved, l.committed, l.returned, l.reversed, l.closed, l.under_way, l.fee, l.charged
				FROM one JOIN books_ledger l ON l.payment = one.id, `,
			`INSERT INTO books_posting (service, txn, seq, payment, account, amount, currency, at_ms)
				SELECT t.service, ` + id("t.txn") + `, t.seq, ` + id("'p'") + `, t.account, t.amount, t.currency, t.at_ms - 1000000000 + g FROM one JOIN books_posting t ON t.payment = one.id, `,
			`INSERT INTO once_answer (scope, key, body, reply)
				SELECT replace(a.scope, one.id, ` + id("'p'") + `), ` + id("a.scope") + ` || '0000', a.body, a.reply FROM one JOIN once_answer a ON a.scope LIKE 'payments.%' AND a.key LIKE '%-%'
					AND (a.scope LIKE '%' || one.id OR a.scope = 'payments.create '), `,
		} {
			with := `WITH one AS (SELECT * FROM cards_payment ORDER BY id DESC LIMIT 1) `
			if err := p.server.Exec(url, "SET synchronous_commit = off; "+with+text+fmt.Sprintf("generate_series(%d, %d) g", from, to)); err != nil {
				return err
			}
		}
	}
	for _, table := range []string{"cards_payment", "cards_op", "books_ledger", "books_posting", "once_answer"} {
		if err := p.server.Exec(url, "VACUUM ANALYZE "+table); err != nil {
			return err
		}
	}
	return p.server.Exec(url, "CHECKPOINT")
}
