package drive

import (
	"context"
	"errors"
	"strings"

	"posagent/agent/checkout/drive/journal"
	"posagent/agent/intent"
	"posagent/agent/outbox"
	"posagent/ecr"
	"posagent/schemes/wire"
	"posagent/store"
)

// known finds the sale a request repeats: by the register's own id. "" = none; reuse is then how
// often the id was rightly used again, this time included. asked is the request as it came: an older program
// knew its id so.
func (d *Drive) known(ctx context.Context, req, asked ecr.Request) (key wire.Key, reuse int64, err error) {
	if req.Sequence == "" {
		return "", 0, nil
	}
	err = d.db.Read(ctx, func(r store.Reader) error {
		key, reuse = "", 0
		row, err := d.j.BySequence(r, req.Line, req.Sequence)
		gone := errors.Is(err, journal.ErrUnknown)
		if errors.Is(err, journal.ErrQuarantined) { // whatever its row says now: told that it is held
			key = row.Key
			return nil
		}
		if err != nil && !gone {
			return err
		}
		u, err := d.j.UsedID(r, req.Line, req.Sequence)
		if err != nil {
			return err
		}
		if gone && !u.Known && asked.Sequence+asked.Line != req.Sequence+req.Line {
			if u, err = d.j.UsedID(r, asked.Line, asked.Sequence); err != nil {
				return err
			}
		}
		if gone && !u.Known {
			return d.alike(r, req)
		}
		old, err := tooOld(r, u)
		switch {
		case err != nil:
			return err
		case old:
			reuse = u.Number + 1
			return d.alike(r, req)
		case gone, !sameBody(row, req): // gone: removed from outside, for it is not purged before
			return refuse(ecr.Processing, "request id %s was used for another request", req.Sequence)
		}
		key = row.Key
		return nil
	})
	return key, reuse, d.stored(err)
}

// alike refuses a request with a new id that begins like a recent one of its line: the two are one request,
// and what it asks for is another content (MONEY F.2).
func (d *Drive) alike(r store.Reader, req ecr.Request) error {
	prefix, _, ok := strings.Cut(req.Sequence, "/")
	if !ok || req.Reuse == 0 {
		return nil
	}
	age, used, err := d.j.YoungestID(r, req.Line, prefix+"/")
	if err == nil && used && age <= req.Reuse.Milliseconds() {
		return refuse(ecr.Processing, "request id %s was used for another request", prefix)
	}
	return err
}

// kept is a request with the names that its register chose as the journal keeps them.
func (d *Drive) kept(req ecr.Request) ecr.Request {
	for _, name := range []*string{&req.Line, &req.Sequence, &req.Reference} {
		*name = intent.KeptName(d.db, *name)
	}
	return req
}

// keyOf is the key of a new sale: of the register's own id where it has one, as the register wrote it.
func (d *Drive) keyOf(req ecr.Request, reuse int64) wire.Key {
	if req.Sequence == "" {
		return wire.NewKey()
	}
	return journal.KeyOf(d.secret, req.Line, req.Sequence, reuse)
}

// forgotten says that a register's id is so old that it may be used anew. A jump of the wall clock
// forgets nothing, also between two boots.
func (d *Drive) forgotten(r store.Reader, row *journal.Row) (bool, error) {
	u, err := d.j.UsedID(r, row.Line, row.Sequence)
	if err != nil {
		return false, err
	}
	return tooOld(r, u)
}

func tooOld(r store.Reader, u journal.Used) (bool, error) {
	age, err := u.IDAge(r)
	return err == nil && age > outbox.IDAgeMax.Milliseconds(), err
}
