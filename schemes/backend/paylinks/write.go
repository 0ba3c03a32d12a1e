package paylinks

import (
	"context"
	"encoding/json"
	"fmt"

	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/wire"
	"posagent/store"
)

// write plays one write of the service in one commit: at most once per key. row says what the amount's row makes of the
// call; a refusal of the row has no effect and is kept under no key.
func write[T any](ctx context.Context, s *Links, op, about string, key wire.Key, body any, row func(store.Tx) (scenario.Do, error),
	act func(tx store.Tx, now int64) (T, error),
) (T, error) {
	var out, none T
	var do scenario.Do
	data, err := json.Marshal(body)
	if err != nil {
		return none, &wire.Error{Code: wire.Invalid, Op: op, Err: err}
	}
	first := func(tx store.Tx, _ int64) (*wire.Error, error) {
		if do, err = row(tx); err != nil {
			return nil, err
		}
		return refusal(op, do), nil
	}
	err = s.Once(ctx, room.Keyed{Op: op, About: about, Key: key, Body: data, First: first}, &out, func(tx store.Tx, now int64) (none scenario.Do, err error) {
		out, err = act(tx, now)
		return none, err
	})
	if err == nil {
		err = scenario.Spoilt(ctx, op, do, wire.UnknownOutcome)
	}
	if err != nil {
		return none, err
	}
	return out, nil
}

// refusal is what a row makes of a call before any effect; nil: the call goes on.
func refusal(op string, do scenario.Do) *wire.Error {
	if do == scenario.SayResend { // links have no such answer
		do = scenario.RefuseInternal
	}
	return scenario.Refused(op, do)
}

// spoil gives what a link's row makes of a reply, once per mark: a refusal before any effect, or what to do to the reply.
func (s *Links) spoil(tx store.Tx, hundredths int64, on scenario.On, mark string) (scenario.Do, error) {
	row := scenario.Pick(hundredths, "")
	if row.On != on || !row.Do.Spoils() && !row.Do.Refuses() {
		return "", nil
	}
	res, err := tx.Exec(`INSERT INTO links_once (mark) VALUES (?) ON CONFLICT (mark) DO NOTHING`, string(on)+" "+mark)
	if err != nil {
		return "", fmt.Errorf("set mark: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return "", err
	}
	return row.Do, nil
}

// lose spoils the reply of a read where the amount's row has it.
func (s *Links) lose(ctx context.Context, op string, hundredths int64, mark string) error {
	if scenario.Pick(hundredths, "").On != scenario.Status {
		return nil
	}
	var do scenario.Do
	err := s.DB.Write(ctx, func(tx store.Tx) (err error) {
		do, err = s.spoil(tx, hundredths, scenario.Status, mark)
		return err
	})
	if err != nil {
		return err
	}
	if no := refusal(op, do); no != nil {
		return no
	}
	return scenario.Spoilt(ctx, op, do, wire.Unavailable)
}
