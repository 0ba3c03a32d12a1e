package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"posagent/store"
)

// idsSchema is what lines and clients are called in the journal, whatever the configuration calls them (MONEY, law III).
func idsSchema() []store.Step {
	return []store.Step{{Name: "agent/4 ids", Open: true, SQL: `
CREATE TABLE agent_ids (
	kind  TEXT NOT NULL, -- line, client
	id    TEXT NOT NULL, -- in the journal, for ever
	speaks TEXT NOT NULL, -- of a line: its protocol
	name  TEXT NOT NULL, -- as it was configured last
	base  TEXT NOT NULL, -- of a line: its name without serial or tcp
	place TEXT NOT NULL, -- as it was configured last: a line's address, a keyed digest of a client's token
	here  INTEGER NOT NULL, -- 1 = it was configured at the last start
	PRIMARY KEY (kind, id)
) STRICT;`}}
}

// The kinds of what Identify knows.
const (
	AsLine   = "line"
	AsClient = "client"
)

// Known is a line or a client: as the configuration has it, and as the journal knows it.
type Known struct {
	ID     string // in the journal; given to Identify where a person has set it
	Speaks string // of a line: its protocol; one of another protocol is another line
	Name   string // the id of one that is new
	Base   string // of a line: its name in the configuration, without serial or tcp
	Place  string // where a line is, or a digest of what a client shows
	Older  string // the digest that an older program has noted

	here bool // it was configured at the last start
}

// Identify sets the IDs of all lines or clients of the configuration, by what the journal knows of them: first where they are, then what
// they are called, then (a line that has gone from serial to TCP or back) the name without its kind. So an id outlives another name,
// order and transport. What was never here gets an id of its own, and never one that was another's: its requests would be answered as
// that one's.
func Identify(ctx context.Context, db store.DB, beside store.Beside, kind string, list []Known) error {
	if len(list) == 0 { // a box that is not enrolled yet: those of before are where they were
		return nil
	}
	given := slices.Clone(list)
	return outliving(ctx, db, beside, func(tx store.Tx) error {
		before, err := knownIDs(tx, kind)
		if err != nil {
			return err
		}
		now := identified(before, given)
		if _, err := tx.Exec(`UPDATE agent_ids SET here = 0 WHERE kind = ?`, kind); err != nil {
			return fmt.Errorf("ids of %ss: %w", kind, err)
		}
		for i, k := range now {
			list[i].ID = k.ID
			_, err := tx.Exec(`INSERT INTO agent_ids (kind, id, speaks, name, base, place, here) VALUES (?, ?, ?, ?, ?, ?, 1)
				ON CONFLICT (kind, id) DO UPDATE SET speaks = excluded.speaks, name = excluded.name, base = excluded.base, place = excluded.place, here = 1`,
				kind, k.ID, k.Speaks, k.Name, k.Base, k.Place)
			if err != nil {
				return fmt.Errorf("ids of %ss: %w", kind, err)
			}
		}
		return nil
	})
}

func knownIDs(r store.Reader, kind string) (list []Known, err error) {
	err = store.Each(r, func(row store.Row) error {
		var k Known
		err := row.Scan(&k.ID, &k.Speaks, &k.Name, &k.Base, &k.Place, &k.here)
		list = append(list, k)
		return err
	}, `SELECT id, speaks, name, base, place, here FROM agent_ids WHERE kind = ? ORDER BY id`, kind)
	if err != nil {
		return nil, fmt.Errorf("ids of %ss: %w", kind, err)
	}
	return list, nil
}

// identified returns what is configured with its ids, by what was known before.
func identified(before, list []Known) []Known {
	now, taken := slices.Clone(list), map[string]bool{}
	for _, k := range now {
		taken[k.ID] = k.ID != "" // a person has set it
	}
	for _, same := range []func(was, is Known) bool{
		func(was, is Known) bool { return was.here && (was.Place == is.Place || was.Place == is.Older) },
		func(was, is Known) bool { return was.here && was.Name == is.Name },
		func(was, is Known) bool { return was.here && was.Base == is.Base && is.Speaks != "" },
		func(was, is Known) bool { return was.Name == is.Name }, // it comes back
	} {
		fits := func(was, is Known) bool {
			return is.ID == "" && !taken[was.ID] && was.Speaks == is.Speaks && same(was, is)
		}
		for i := range now {
			var found []string
			for _, was := range before {
				if fits(was, now[i]) {
					found = append(found, was.ID)
				}
			}
			if len(found) == 1 { // of two it cannot be told which
				now[i].ID, taken[found[0]] = found[0], true
			}
		}
	}
	for _, was := range before {
		taken[was.ID] = true // another's
	}
	for i := range now {
		for n := 1; now[i].ID == ""; n++ {
			id := now[i].Name
			if n > 1 {
				id = fmt.Sprintf("%s-%d", id, n)
			}
			if !taken[id] {
				now[i].ID, taken[id] = id, true
			}
		}
	}
	return now
}

// label is what people call a line by.
func (l Line) label() string { return cmp.Or(l.Label, l.Name) }
