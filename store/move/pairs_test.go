package move_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/store"
	"posagent/store/move"
	"posagent/store/postgres/pgtest"
)

// place is one of those that books may be moved to. Whatever takes work gets some between two moves, as of processes that begin again.
type place struct {
	db    store.Store
	books move.Books
}

// living reports whether a place has the books and takes work: an empty one has none.
func (p place) living(t *testing.T) bool {
	t.Helper()
	if move.Check(t.Context(), p.db) != nil {
		return false
	}
	return p.has(t, 0)
}

// has reports whether a piece of work is there.
func (p place) has(t *testing.T, n int) (there bool) {
	t.Helper()
	require.NoError(t, p.db.Read(t.Context(), func(r store.Reader) error {
		return r.QueryRow("SELECT EXISTS (SELECT 1 FROM z_parent WHERE id = ?)", fmt.Sprint("work", n)).Scan(&there)
	}))
	return there
}

func (p place) work(t *testing.T, n int) {
	t.Helper()
	require.NoError(t, p.db.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec("INSERT INTO z_parent (id) VALUES (?)", fmt.Sprint("work", n))
		return err
	}))
}

// deed is what somebody types: a move from one place to another, or that a move is given up.
type deed struct{ from, to int }

const givenUp = -1

func (d deed) String() string {
	if d.to == givenUp {
		return fmt.Sprintf("give up %c", 'A'+d.from)
	}
	return fmt.Sprintf("%c to %c", 'A'+d.from, 'A'+d.to)
}

// do does it and is stopped behind a number of writes. It reports how many it had left.
func (d deed) do(ctx context.Context, all []place, writes int64) (left int64, err error) {
	var n atomic.Int64
	n.Store(writes)
	from := all[d.from].books
	from.DB = stopping{all[d.from].db, &n}
	if d.to == givenUp {
		return 0, move.GiveUp(ctx, from.DB)
	}
	to := all[d.to].books
	to.DB = stopping{all[d.to].db, &n}
	_, err = move.Copy(ctx, from, to, move.Options{})
	return n.Load(), err
}

// Each pair of moves among three places, each stopped at each of its writes, and then both typed again in either order: at no
// moment do two places take work, in the end one does, and it has everything that was ever acknowledged, by whatever place. A
// move whose place was meanwhile moved itself is refused, and given up the books take work where they were.
// The books are as small as they may be: a place is not recognised by having much.
func TestField2_G9_EveryPairOfMigrations(t *testing.T) {
	t.Run("three files", func(t *testing.T) {
		everyPair(t, "fff", file, nil, int64(need.Size(7, 1)), need.Size(1, 2))
	})
	for _, kinds := range []string{"fsf", "sfs"} {
		t.Run(kinds, func(t *testing.T) {
			s := pgtest.Start(t)
			everyPair(t, kinds, file, func(t *testing.T) (store.Store, move.Books) { return on(t, s.Place()) }, 6, 1)
		})
	}
}

// everyPair plays the pairs among places of these kinds, f a file and s a schema of a server, with so many writes between two stops.
func everyPair(t *testing.T, kinds string, file, server func(*testing.T) (store.Store, move.Books), stride int64, endings int) {
	first := deed{0, 1}
	var second []deed
	for from := range 3 {
		for to := range 3 {
			if to != from {
				second = append(second, deed{from, to})
			}
		}
		second = append(second, deed{from, givenUp})
	}
	runs, most := 0, int64(0)
	// run makes one story, and reports whether the first and the second deed were cut short.
	run := func(t *testing.T, two deed, at, then int64, ending int) (cut [2]bool) {
		runs++
		var all []place
		for _, kind := range kinds {
			open := file
			if kind == 's' {
				open = server
			}
			db, books := open(t)
			all = append(all, place{db, books})
		}
		all[0].work(t, 0)
		acknowledged := 1
		story := ""
		look := func() (living int) {
			t.Helper()
			for _, p := range all {
				if p.living(t) {
					living++
					p.work(t, acknowledged)
					acknowledged++
				}
			}
			require.LessOrEqual(t, living, 1, story)
			return living
		}
		for i, step := range []struct {
			deed
			writes int64
		}{{first, at}, {two, then}} {
			left, err := step.do(t.Context(), all, step.writes)
			story += fmt.Sprintf("%s, stopped behind %d: %v; ", step.deed, step.writes, err)
			cut[i] = errors.Is(err, errStopped)
			if i == 0 && !cut[0] {
				most = max(most, step.writes-left)
			}
			look()
		}
		again := []deed{first, two}
		if ending == 1 {
			slices.Reverse(again)
		}
		for _, d := range again {
			_, err := d.do(t.Context(), all, math.MaxInt64)
			story += fmt.Sprintf("%s: %v; ", d, err)
			look()
		}
		living := look()
		if living == 0 { // its place was moved itself while it was empty
			_, err := deed{0, givenUp}.do(t.Context(), all, math.MaxInt64)
			require.NoError(t, err, story)
			living = look()
		}
		require.Equal(t, 1, living, story)
		for _, p := range all {
			if p.living(t) {
				for n := range acknowledged {
					require.True(t, p.has(t, n), "%d was acknowledged: %s", n, story)
				}
			}
		}
		return cut
	}
	for _, two := range second {
		t.Run(two.String(), func(t *testing.T) {
			for ending := range endings {
				for at, more := int64(0), true; more; at += stride {
					for then, also := int64(0), true; also; then += stride {
						t.Run(fmt.Sprint(at, ",", then, ",", ending), func(t *testing.T) {
							cut := run(t, two, at, then, ending)
							more, also = cut[0], cut[1]
						})
						if t.Failed() {
							return
						}
					}
				}
			}
		})
	}
	t.Logf("%d stories of two moves, of %d writes each", runs, most)
}
