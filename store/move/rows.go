package move

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"posagent/store"
)

// What is in memory at once is some pages of one table.
const (
	pageRows  = 5000
	pageBytes = 8 << 20 // a row that is larger is a page of its own
	beside    = 128     // bytes of a row beside its texts and bytes, about
)

// pages reads a table in the order of its key.
type pages struct {
	table  store.Catalog
	most   int   // rows
	widest int64 // bytes of a row
	after  []any // the key of the last row that was read, nil = none
}

// next reads some rows; none = the end.
func (p *pages) next(r store.Reader) (rows [][]any, err error) {
	most := p.most
	if p.widest*int64(most) > pageBytes {
		if most, err = p.fit(r); err != nil {
			return nil, err
		}
	}
	if rows, err = page(r, p.table, p.after, most); len(rows) > 0 {
		p.after = keyOf(p.table, rows[len(rows)-1])
	}
	return rows, err
}

// fit returns how many of the next rows are a page by their size.
func (p *pages) fit(r store.Reader) (n int, err error) {
	by := order(p.table, "")
	err = r.QueryRow(fmt.Sprintf(`SELECT count(*) FROM (SELECT sum(size) OVER (ORDER BY %s) AS total FROM
		(SELECT %s, %s AS size FROM "%s"%s ORDER BY %s LIMIT %d) AS part) AS sums WHERE total <= %d`,
		by, quoted(p.table.Key), size(p.table), p.table.Table, behind(p.table, p.after), by, p.most, pageBytes), p.after...).Scan(&n)
	return max(n, 1), err
}

// size is what the texts and bytes of a row take.
func size(t store.Catalog) string {
	text := fmt.Sprint(beside)
	for _, c := range slices.Concat(t.Texts, t.Bytes) {
		text += ` + coalesce(octet_length("` + c + `"), 0)`
	}
	return text
}

// measure counts the rows of a table and finds the size of the widest.
func measure(ctx context.Context, in Books, t store.Catalog) (p progress, err error) {
	err = in.Read(ctx, func(r store.Reader) error {
		return r.QueryRow(`SELECT count(*), coalesce(max(`+size(t)+`), 0) FROM "`+t.Table+`"`+of(t)).Scan(&p.Of, &p.Widest)
	})
	return p, err
}

// behind are the rows of the books whose key is higher; nil = all of them.
func behind(t store.Catalog, after []any) string {
	if after == nil {
		return of(t)
	}
	return of(t) + ` AND (` + quoted(t.Key) + `) > (?` + strings.Repeat(", ?", len(after)-1) + `)`
}

// page reads some rows behind a key. The limit stands in the text: an engine plans for it.
func page(r store.Reader, t store.Catalog, after []any, most int) (rows [][]any, err error) {
	to := make([]any, len(t.Columns))
	err = store.Each(r, func(row store.Row) error {
		one := make([]any, len(to))
		for i := range to {
			to[i] = &one[i]
		}
		rows = append(rows, one)
		return row.Scan(to...)
	}, fmt.Sprintf(`SELECT %s FROM "%s"%s ORDER BY %s LIMIT %d`, quoted(t.Columns), t.Table, behind(t, after), order(t, ""), most), after...)
	return rows, err
}

// last is the highest key of a table.
func last(ctx context.Context, in Books, t store.Catalog) (key []any, err error) {
	err = in.Read(ctx, func(r store.Reader) error {
		key = make([]any, len(t.Key))
		to := make([]any, len(key))
		for i := range to {
			to[i] = &key[i]
		}
		return r.QueryRow(`SELECT ` + quoted(t.Key) + ` FROM "` + t.Table + `" ORDER BY ` + order(t, " DESC") + ` LIMIT 1`).Scan(to...)
	})
	return key, err
}

// ahead is a page, or why there is none.
type ahead struct {
	rows [][]any
	err  error
}

// reading reads pages while others are worked on, until the table's end or ctx's.
func reading(ctx context.Context, in Books, p *pages) <-chan ahead {
	to := make(chan ahead, 1)
	go func() {
		defer close(to)
		for {
			var a ahead
			was := p.after
			a.err = in.Read(ctx, func(r store.Reader) (err error) {
				p.after = was
				a.rows, err = p.next(r)
				return err
			})
			if a.err == nil && len(a.rows) == 0 {
				return
			}
			select {
			case to <- a:
			case <-ctx.Done():
				return
			}
			if a.err != nil {
				return
			}
		}
	}()
	return to
}

// copyTable copies what a table's copy does not have yet, in the order of the key. Each commit of rows counts them in the copy's mark.
func copyTable(ctx context.Context, from, to Books, t store.Catalog, copied *mark, opt Options) (err error) {
	at, begun := copied.Tables[t.Table]
	switch {
	case at.Whole:
		return nil
	case !begun:
		if at, err = measure(ctx, from, t); err != nil {
			return err
		}
	}
	p := &pages{table: t, most: opt.Batch, widest: at.Widest}
	if at.Done > 0 {
		if p.after, err = last(ctx, to, t); err != nil {
			return err
		}
	}
	if t.Table == meta { // one commit
		p.most, p.widest = pageRows, 0
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for a := range reading(ctx, from, p) {
		if a.err != nil {
			return a.err
		}
		at.Done += int64(len(a.rows))
		if err := to.Write(ctx, func(tx store.Tx) error {
			if t.Table == meta {
				if _, err := tx.Exec(`DELETE FROM "` + meta + `"` + of(t)); err != nil {
					return err
				}
			}
			if err := insert(tx, t, a.rows); err != nil {
				return err
			}
			return note(tx, copied, t, at)
		}); err != nil {
			return err
		}
		opt.Progress(Copying, t.Table, at.Done, at.Of)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	at.Whole = true
	return to.Write(ctx, func(tx store.Tx) error {
		if to.Copied != nil {
			if err := to.Copied(tx, t); err != nil {
				return err
			}
		}
		return note(tx, copied, t, at)
	})
}

// note says in the copy's mark how far a table is.
func note(tx store.Tx, copied *mark, t store.Catalog, at progress) error {
	if copied.Tables == nil {
		copied.Tables = map[string]progress{}
	}
	copied.Tables[t.Table] = at
	return put(tx, metaFrom, copied)
}

// most is how many values one statement takes on any engine.
const most = 900

// insert inserts rows in the fastest way that an engine has.
func insert(tx store.Tx, t store.Catalog, rows [][]any) error {
	if f, ok := tx.(store.Filler); ok {
		return f.Fill(t, rows)
	}
	one := "(?" + strings.Repeat(", ?", len(t.Columns)-1) + ")"
	for part := range slices.Chunk(rows, max(1, most/len(t.Columns))) {
		args := slices.Concat(part...)
		if _, err := tx.Exec(`INSERT INTO "`+t.Table+`" (`+quoted(t.Columns)+`) VALUES `+one+strings.Repeat(", "+one, len(part)-1), args...); err != nil {
			return err
		}
	}
	return nil
}
