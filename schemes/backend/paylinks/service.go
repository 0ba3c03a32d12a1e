package paylinks

import (
	"context"
	"encoding/json"
	"fmt"

	"posagent/schemes/backend/scenario"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
)

var _ paylinks.Links = (*Links)(nil)

// Create implements paylinks.Links.
func (s *Links) Create(ctx context.Context, key wire.Key, req paylinks.CreateRequest) (paylinks.Created, error) {
	if err := req.Validate(); err != nil {
		return paylinks.Created{}, wire.AsError(opCreate, err)
	}
	o := optionsOf(req)
	var err error
	if o.Files, err = s.upload(ctx, req.Attachments); err != nil {
		return paylinks.Created{}, wire.AsError(opCreate, err)
	}
	request, err := json.Marshal(o)
	if err != nil {
		return paylinks.Created{}, &wire.Error{Code: wire.Invalid, Op: opCreate, Err: err}
	}
	row := func(tx store.Tx) (scenario.Do, error) {
		return s.spoil(tx, req.Amount, scenario.Initialize, req.ReferenceID)
	}
	return write(ctx, s, opCreate, "", key, req, row, func(tx store.Tx, now int64) (paylinks.Created, error) {
		l := &link{
			Reference: req.ReferenceID, Hundredths: req.Amount, Minor: minorOf(req.Amount, req.Currency), Currency: req.Currency,
			Created: now, Expires: expiry(req.ExpirationDate),
		}
		if l.expired(now) {
			return paylinks.Created{}, wire.Errorf(wire.Invalid, "", "expirationDate: want today or a later day, in UTC")
		}
		if s.delay >= 0 && o.counter(l) && scenario.Pick(l.Hundredths, "").Do != scenario.Never {
			l.Next = now + s.delay.Milliseconds()
		}
		if err := s.insertLink(tx, l, request); err != nil {
			return paylinks.Created{}, err
		}
		if err := claim(tx, l, o.Files); err != nil {
			return paylinks.Created{}, err
		}
		record, err := s.record(tx, l, o)
		return paylinks.Created{Link: record}, err
	})
}

// Read implements paylinks.Links.
func (s *Links) Read(ctx context.Context, id int64) (paylinks.Link, error) {
	var out paylinks.Link
	err := s.touch(ctx, s.Now().UnixMilli(), func(r store.Reader) (*link, error) {
		l, err := linkWhere(r, byID, id)
		if err == nil && (l == nil || l.Deleted != 0) {
			err = noLink(id)
		}
		return l, err
	}, func(r store.Reader, l *link) error {
		o, err := s.options(r, l)
		if err == nil {
			out, err = s.record(r, l, o)
		}
		return err
	})
	if err == nil {
		err = s.lose(ctx, opRead, out.Amount, "link "+number(id))
	}
	if err != nil {
		return paylinks.Link{}, wire.AsError(opRead, err)
	}
	return out, nil
}

// Delete implements paylinks.Links.
func (s *Links) Delete(ctx context.Context, key wire.Key, id int64) (paylinks.Deleted, error) {
	row := func(tx store.Tx) (scenario.Do, error) {
		l, err := linkWhere(tx, byID, id)
		if err != nil || l == nil {
			return "", err
		}
		return s.spoil(tx, l.Hundredths, scenario.Reversal, "link "+number(id))
	}
	return write(ctx, s, opDelete, number(id), key, id, row, func(tx store.Tx, now int64) (none paylinks.Deleted, err error) {
		l, err := linkWhere(tx, byID, id)
		if err == nil && (l == nil || l.Deleted != 0) {
			err = noLink(id)
		}
		if err == nil {
			err = s.advance(tx, l, now)
		}
		switch {
		case err != nil:
			return none, err
		case l.Txn != 0:
			return none, forbidden("No Invoice found with id %d and status: waiting", id)
		}
		l.Deleted, l.Next = now, 0
		if _, err := tx.Exec(`DELETE FROM links_file WHERE link = ?`, id); err != nil {
			return none, fmt.Errorf("forget attachments: %w", err)
		}
		return paylinks.Deleted{ID: id}, saveLink(tx, l)
	})
}
