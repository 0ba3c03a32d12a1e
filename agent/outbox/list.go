package outbox

import (
	"fmt"
	"slices"

	"posagent/store"
)

// Filter chooses operations; zero fields choose all.
type Filter struct {
	Kind, Aggregate string
	State           State
	Open            bool // only what is not final
	Owned           bool // only what belongs to Owner
	Owner           string
	After           int64 // only ids above
	Limit           int   // default 100
}

// fewAtMost is how many operations are found by their states and sorted; where more match, their ids are walked.
const fewAtMost = 5000

// List reads operations in the order they were accepted, without payload and memo. Whatever the filter, its cost does not grow
// with what the filter leaves out at the beginning of the queue.
func (o *Outbox) List(r store.Reader, f Filter) ([]Op, error) {
	if err := o.clock.load(r); err != nil {
		return nil, err
	}
	return listed(r, f, o.op)
}

// listed makes the list; see is a row as others see it.
func listed(r store.Reader, f Filter, see func(*row) Op) ([]Op, error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	list, err := find(r, f, see)
	if err != nil {
		return nil, fmt.Errorf("list operations: %w", err)
	}
	return list, nil
}

const matches = ` (? = '' OR kind = ?) AND (? = '' OR aggregate = ?) AND (? = '' OR state = ?) AND (? = 0 OR open = 1) AND (? = 0 OR owner = ?) ORDER BY id LIMIT ?`

func (f Filter) args(first ...any) []any {
	return append(first, f.Kind, f.Kind, f.Aggregate, f.Aggregate, string(f.State), string(f.State), f.Open, f.Owned, f.Owner, f.Limit)
}

func find(r store.Reader, f Filter, see func(*row) Op) ([]Op, error) {
	if f.Aggregate != "" {
		return read(r, see, inLine(`?1`, ` AND id > ?2`)+` AND`+matches, f.args(f.Aggregate, f.After)...)
	}
	if f.Owned && f.Owner != "" { // SQLite takes a partial index only where the query says what the index says
		return read(r, see, `owner = ? AND owner <> '' AND id > ? AND`+matches, f.args(f.Owner, f.After)...)
	}
	if f.Kind == "" && f.State == "" && !f.Open || f.Owned {
		return read(r, see, `id > ? AND`+matches, f.args(f.After)...)
	}
	lines, err := Report(r)
	if err != nil {
		return nil, err
	}
	total := int64(0)
	groups := map[group]bool{}
	for _, l := range lines {
		if (f.Kind == "" || f.Kind == l.Kind) && (f.State == "" || f.State == l.State) && !(f.Open && l.State.Final()) {
			groups[group{l.Kind, l.State}] = true
			total += l.Count
		}
	}
	if total > fewAtMost {
		least, err := oldest(r, groups)
		if err != nil {
			return nil, err
		}
		return read(r, see, `id > ? AND`+matches, f.args(max(f.After, least-1))...)
	}
	var ids []int64
	for g := range groups {
		if ids, err = g.ids(r, f.After, ids); err != nil {
			return nil, err
		}
	}
	slices.Sort(ids)
	var list []Op
	for _, id := range ids[:min(len(ids), f.Limit)] {
		rw, err := byID(r, id)
		if err != nil {
			return nil, err
		}
		list = append(list, see(&rw))
	}
	return list, nil
}

func read(r store.Reader, see func(*row) Op, where string, args ...any) (list []Op, err error) {
	err = each(r, func(rw row) { list = append(list, see(&rw)) }, where, args...)
	return list, err
}

// each reads the operations that a condition names.
func each(r store.Reader, see func(rw row), where string, args ...any) error {
	return store.Each(r, func(found store.Row) error {
		rw, err := scan(found)
		if err == nil {
			see(rw)
		}
		return err
	}, `SELECT `+columns+` FROM outbox_ops WHERE `+where, args...)
}

// group is the operations of a kind in a state.
type group struct {
	kind  string
	state State
}

// ids adds the ids of a group above one to a list.
func (g group) ids(r store.Reader, after int64, list []int64) ([]int64, error) {
	more, err := store.Column[int64](r, `SELECT id FROM outbox_ops WHERE state = ? AND kind = ? AND id > ?`, string(g.state), g.kind, after)
	return append(list, more...), err
}

// oldest is the least id in some groups. Running time never goes back, so that it is the first that was accepted.
func oldest(r store.Reader, groups map[group]bool) (least int64, err error) {
	for g := range groups {
		var id int64
		err := r.QueryRow(`SELECT id FROM outbox_ops WHERE state = ? AND kind = ? ORDER BY accepted_run, id LIMIT 1`, string(g.state), g.kind).Scan(&id)
		if err != nil {
			return 0, err
		}
		if least == 0 || id < least {
			least = id
		}
	}
	return least, nil
}
