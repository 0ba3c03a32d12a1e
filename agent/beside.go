package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"

	"posagent/agent/outbox"
	"posagent/store"
)

// besideSchema is what compares the journal with what is kept beside it.
func besideSchema() []store.Step {
	return []store.Step{{Name: "agent/5 beside", Open: true, SQL: `
CREATE TABLE agent_turn (
	id   INTEGER PRIMARY KEY CHECK (id = 1),
	turn INTEGER NOT NULL -- raised by each change of what is kept beside the journal
) STRICT;
CREATE TABLE agent_left (
	service TEXT NOT NULL,
	place   TEXT NOT NULL, -- where it stood before
	turn    INTEGER NOT NULL, -- when it left
	run_ms  INTEGER NOT NULL, -- the terminal's running time then
	unseen  INTEGER NOT NULL, -- 1 = this journal does not hold what was sent there
	PRIMARY KEY (service, place)
) STRICT;`}}
}

// kept is what must outlive the journal: what lines and clients are called in it, and where the services stood to which it has sent. It
// lies beside the journal, and in it, for its bundles. Of both the one with the higher turn is the newer.
type kept struct {
	Turn   int64             `json:"turn"`
	IDs    []keptID          `json:"ids"`
	Owner  string            `json:"owner"`
	Places map[string]string `json:"places"`
	Left   []left            `json:"left"`
}

func (k kept) empty() bool {
	return len(k.IDs) == 0 && k.Owner == "" && len(k.Places) == 0 && len(k.Left) == 0
}

// keptID is a row of agent_ids.
type keptID struct {
	Kind   string `json:"kind"`
	ID     string `json:"id"`
	Speaks string `json:"speaks,omitempty"`
	Name   string `json:"name"`
	Base   string `json:"base,omitempty"`
	Place  string `json:"place"`
	Here   bool   `json:"here"`
}

// left is a row of agent_left.
type left struct {
	Service string `json:"service"`
	Place   string `json:"place"`
	Turn    int64  `json:"turn"`
	RunMS   int64  `json:"run_ms"`
	Unseen  bool   `json:"unseen"`
}

// keptIn reads what the journal has of it.
func keptIn(r store.Reader) (k kept, err error) {
	if k.Owner, err = Bound(r); err != nil {
		return k, err
	}
	k.Places = map[string]string{}
	err = errors.Join(
		r.QueryRow(`SELECT COALESCE(MAX(turn), 0) FROM agent_turn`).Scan(&k.Turn),
		store.Each(r, func(row store.Row) error {
			var v keptID
			err := row.Scan(&v.Kind, &v.ID, &v.Speaks, &v.Name, &v.Base, &v.Place, &v.Here)
			k.IDs = append(k.IDs, v)
			return err
		}, `SELECT kind, id, speaks, name, base, place, here FROM agent_ids ORDER BY kind, id`),
		store.Each(r, func(row store.Row) error {
			var service, place string
			err := row.Scan(&service, &place)
			k.Places[service] = place
			return err
		}, `SELECT service, place FROM agent_places`),
		store.Each(r, func(row store.Row) error {
			var v left
			err := row.Scan(&v.Service, &v.Place, &v.Turn, &v.RunMS, &v.Unseen)
			k.Left = append(k.Left, v)
			return err
		}, `SELECT service, place, turn, run_ms, unseen FROM agent_left ORDER BY service, place`))
	if err != nil {
		return k, fmt.Errorf("what outlives the journal: %w", err)
	}
	return k, nil
}

func setTurn(tx store.Tx, turn int64) error {
	_, err := tx.Exec(`INSERT INTO agent_turn (id, turn) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET turn = excluded.turn`, turn)
	if err != nil {
		return fmt.Errorf("what outlives the journal: %w", err)
	}
	return nil
}

func keep(b store.Beside, k kept) error {
	text, err := json.Marshal(k)
	if err == nil {
		err = b.Keep(text)
	}
	if err != nil {
		return fmt.Errorf("what outlives the journal: %w", err)
	}
	return nil
}

// Remember gives the journal what is kept beside it and newer: a journal that took another's place lacks what that one learnt last. Call
// it before Bind and Identify. It brings the file up to date, or warns: nothing was changed yet that rests on it.
func Remember(ctx context.Context, db store.DB, beside store.Beside, log *slog.Logger) error {
	var was kept
	text, err := beside.Load()
	if err == nil && text != nil {
		err = json.Unmarshal(text, &was)
	}
	if err != nil {
		return fmt.Errorf("what outlives the journal: %w", err)
	}
	var now kept
	err = db.Write(ctx, func(tx store.Tx) error {
		mine, err := keptIn(tx)
		if err == nil {
			err = mine.learn(tx, was)
		}
		if err == nil {
			now, err = keptIn(tx)
		}
		if err == nil && now.Turn == 0 && !now.empty() { // an older program wrote it
			now.Turn = 1
			err = setTurn(tx, 1)
		}
		return err
	})
	if err != nil || now.empty() {
		return err
	}
	if again, err := json.Marshal(now); err == nil && string(again) == string(text) {
		return nil
	}
	if err := keep(beside, now); err != nil { // a full disk keeps no terminal from starting
		log.Warn("not kept beside the journal: one that is lost now would know no line, no client and no address", "err", err)
	}
	return nil
}

// learn adds to a journal that has mine what it lacks of was.
func (mine kept) learn(tx store.Tx, was kept) error {
	newer := was.Turn > mine.Turn
	if newer {
		if _, err := tx.Exec(`UPDATE agent_ids SET here = 0`); err != nil {
			return fmt.Errorf("what outlives the journal: %w", err)
		}
	}
	for _, v := range was.IDs { // an id is never given twice, whichever of both knows it
		then := `NOTHING`
		if newer {
			then = `UPDATE SET speaks = excluded.speaks, name = excluded.name, base = excluded.base, place = excluded.place, here = excluded.here`
		}
		_, err := tx.Exec(`INSERT INTO agent_ids (kind, id, speaks, name, base, place, here) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (kind, id) DO `+then,
			v.Kind, v.ID, v.Speaks, v.Name, v.Base, v.Place, v.Here && newer)
		if err != nil {
			return fmt.Errorf("what outlives the journal: %w", err)
		}
	}
	if !newer {
		return nil
	}
	if err := mine.learnPlaces(tx, was); err != nil {
		return err
	}
	return setTurn(tx, was.Turn)
}

// learnPlaces adds where the services stood in the time that a journal does not hold which took another's place.
func (mine kept) learnPlaces(tx store.Tx, was kept) error {
	why, err := outbox.Replaced(tx)
	if err != nil || why == "" { // else a start was broken off before it was bound: nothing was sent there
		return err
	}
	run, err := outbox.Running(tx)
	if err != nil {
		return err
	}
	places := map[string]string{}
	for service, place := range was.Places {
		places[service] = place
	}
	if mine.Owner != "" || mine.Turn == 0 { // else a person has freed it
		places[Schemes] = was.Owner
	}
	unseen := func(service, place string) error {
		return leftPlace(tx, left{Service: service, Place: place, Turn: was.Turn, RunMS: run, Unseen: true})
	}
	for service, place := range places {
		at := mine.Places[service]
		if service == Schemes {
			at = mine.Owner
		}
		switch {
		case place == "" || place == at:
			continue
		case at != "":
			err = unseen(service, place)
		case service == Schemes:
			err = named(tx, place)
		default:
			err = placed(tx, service, place)
		}
		if err != nil {
			return err
		}
	}
	for _, v := range was.Left {
		if v.Turn > mine.Turn {
			if err := unseen(v.Service, v.Place); err != nil {
				return err
			}
		}
	}
	return nil
}

// leftPlace notes where a service stood.
func leftPlace(tx store.Tx, v left) error {
	_, err := tx.Exec(`INSERT INTO agent_left (service, place, turn, run_ms, unseen) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (service, place) DO UPDATE SET turn = excluded.turn, run_ms = excluded.run_ms, unseen = excluded.unseen`, v.Service, v.Place, v.Turn, v.RunMS, v.Unseen)
	if err != nil {
		return fmt.Errorf("store where %s stood: %w", v.Service, err)
	}
	return nil
}

// forgetLeft forgets the places of which nobody asks any more.
func forgetLeft(tx store.Tx) error {
	run, err := outbox.Running(tx)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(`DELETE FROM agent_left WHERE run_ms <= ?`, run-outbox.IDAgeMax.Milliseconds()); err != nil {
		return fmt.Errorf("forget where services stood: %w", err)
	}
	return nil
}

// errChanged undoes what is not kept beside the journal yet.
var errChanged = errors.New("not kept beside the journal yet")

// outliving commits what fn changes. What of it outlives the journal is durable beside it before: a journal that was lost in between has
// given no id that is forgotten, and has sent nothing to a place that is.
func outliving(ctx context.Context, db store.DB, beside store.Beside, fn func(tx store.Tx) error) error {
	var next kept
	err := db.Write(ctx, func(tx store.Tx) error {
		before, err := keptIn(tx)
		if err == nil {
			err = fn(tx)
		}
		if err == nil {
			next, err = keptIn(tx)
		}
		if err != nil || reflect.DeepEqual(before, next) {
			return err
		}
		next.Turn++
		return errChanged
	})
	if !errors.Is(err, errChanged) {
		return err
	}
	if err := keep(beside, next); err != nil {
		return err
	}
	return db.Write(ctx, func(tx store.Tx) error { return errors.Join(fn(tx), setTurn(tx, next.Turn)) })
}
