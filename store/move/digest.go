package move

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"

	"posagent/store"
)

// digests reads a table and its copy whole, both at once.
func digests(ctx context.Context, from, to Books, t store.Catalog, at progress, opt Options) (was, is Table, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() {
		var err error
		was, err = digest(ctx, from, t, at, func(int64) {})
		done <- err
	}()
	is, err = digest(ctx, to, t, at, func(n int64) { opt.Progress(Comparing, t.Table, n, at.Of) })
	if err != nil {
		stop()
		<-done
		return was, is, err
	}
	return was, is, <-done
}

// digest reads a whole table as it is at one moment, in the order of its key.
func digest(ctx context.Context, in Books, t store.Catalog, at progress, progress func(done int64)) (Table, error) {
	sum := Table{Name: t.Table}
	raw := make([]bool, len(t.Columns))
	for i, c := range t.Columns {
		raw[i] = slices.Contains(t.Bytes, c)
	}
	err := in.Read(ctx, func(r store.Reader) error {
		h := sha256.New()
		sum.Rows = 0
		var text []byte
		for p := (&pages{table: t, most: pageRows, widest: at.Widest}); ; {
			if err := ctx.Err(); err != nil {
				return err
			}
			rows, err := p.next(r)
			if err != nil {
				return err
			}
			if len(rows) == 0 {
				sum.SHA256 = hex.EncodeToString(h.Sum(nil))
				return nil
			}
			text = text[:0]
			for _, row := range rows {
				for i, v := range row {
					if text, err = appendValue(text, v, raw[i]); err != nil {
						return err
					}
				}
			}
			h.Write(text)
			sum.Rows += int64(len(rows))
			progress(sum.Rows)
		}
	})
	return sum, err
}

// appendValue adds a value with its kind and its length: no two rows read alike.
func appendValue(to []byte, v any, raw bool) ([]byte, error) {
	frame := func(kind byte, n int) { to = binary.BigEndian.AppendUint64(append(to, kind), uint64(n)) }
	switch x := v.(type) {
	case nil:
		frame('0', 0)
	case int64:
		frame('n', 8)
		to = binary.BigEndian.AppendUint64(to, uint64(x))
	case string:
		frame('t', len(x))
		to = append(to, x...)
	case []byte:
		kind := byte('t')
		if raw {
			kind = 'b'
		}
		frame(kind, len(x))
		to = append(to, x...)
	default:
		return nil, fmt.Errorf("move: a value is a %T", v)
	}
	return to, nil
}
