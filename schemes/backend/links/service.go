package links

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
)

var _ paylinks.Links = (*Links)(nil)

const (
	opCreate = "paylinks.create"
	opRead   = "paylinks.read"
	opDelete = "paylinks.delete"
)

func noLink(id int64) error {
	return wire.Errorf(wire.NotFound, "", "No Invoice found with id %d", id)
}

// forbidden is a refusal for the state of a thing.
func forbidden(format string, args ...any) error {
	e := wire.Errorf(wire.Conflict, "", format, args...)
	e.Reason = paylinks.WrongStatus
	return e
}

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

// expiry is the moment a link made to be paid until a day can be paid no more: the next day's first, in UTC. 0 = never.
func expiry(date string) int64 {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return 0
	}
	return day.AddDate(0, 0, 1).UnixMilli()
}

// optionsOf takes over what is kept of a request.
func optionsOf(req paylinks.CreateRequest) *options {
	o := &options{
		Title: req.Title, Description: req.Description, Purpose: req.Purpose, VAT: req.VatRate.String(), PSPs: req.PSP, PM: req.PM,
		SKU: req.SKU, Name: req.Name, PreAuthorization: req.PreAuthorization, Reservation: req.Reservation, HideFields: req.HideFields,
		ButtonText: req.ButtonText, Success: req.SuccessRedirectURL, Failed: req.FailedRedirectURL, Subscription: req.SubscriptionState,
		Interval: req.SubscriptionInterval, Period: req.SubscriptionPeriod, Cancellation: req.SubscriptionCancellationInterval,
		MinAmount: req.SubscriptionPeriodMinAmount,
	}
	for name, c := range req.Fields {
		f := field{Name: name, Active: c.Active == nil || *c.Active, Mandatory: c.Mandatory, Value: c.DefaultValue}
		if c.Names != nil {
			f.Names = [len(languages)]string{c.Names.En, c.Names.De, c.Names.Fr, c.Names.It}
		}
		o.Fields = append(o.Fields, f)
	}
	return o
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

// record writes a link as S1 2.1 shows it.
func (s *Links) record(r store.Reader, l *link, o *options) (paylinks.Link, error) {
	page := s.Public + PagePrefix + l.Hash
	held := paylinks.Bit(o.Reservation)
	out := paylinks.Link{
		ID: l.ID, Status: paylinks.Waiting, Hash: &l.Hash, ReferenceID: l.Reference, Link: &page, PreAuthorization: paylinks.Bit(o.PreAuthorization),
		Reservation: &held, Name: o.Name, API: true, PSP: paylinks.Provider(o.psp()), PM: append([]string{}, o.PM...), Purpose: o.Purpose,
		Amount: l.Hundredths, VatRate: paylinks.Percent(o.VAT), Currency: l.Currency, SKU: o.SKU, SubscriptionState: o.Subscription,
		SubscriptionInterval: o.Interval, SubscriptionPeriod: o.Period, SubscriptionCancellationInterval: o.Cancellation,
		SubscriptionPeriodMinAmount: paylinks.Cents(o.MinAmount), CreatedAt: l.Created / 1000, Fields: paylinks.Fields{PrivacyPolicy: &paylinks.Field{}},
	}
	f := &out.Fields
	plain := map[string]*paylinks.Field{
		"title": &f.Title, "forename": &f.Forename, "surname": &f.Surname, "company": &f.Company, "street": &f.Street, "postcode": &f.Postcode,
		"place": &f.Place, "country": &f.Country, "phone": &f.Phone, "email": &f.Email, "date_of_birth": &f.DateOfBirth, "terms": &f.Terms,
		"privacy_policy": f.PrivacyPolicy,
	}
	custom := map[string]*paylinks.CustomField{"custom_field_1": &f.CustomField1, "custom_field_2": &f.CustomField2, "custom_field_3": &f.CustomField3}
	for _, c := range o.Fields {
		if p := plain[c.Name]; p != nil {
			*p = paylinks.Field{Active: c.Active, Mandatory: c.Mandatory}
		} else if p := custom[c.Name]; p != nil {
			*p = paylinks.CustomField{Active: c.Active, Mandatory: c.Mandatory, Names: paylinks.Names{En: c.Names[0], De: c.Names[1], Fr: c.Names[2], It: c.Names[3]}}
		}
	}
	list, err := txnsOf(r, `WHERE link = ? AND type != 'refund' ORDER BY id`, l.ID)
	if err != nil {
		return paylinks.Link{}, err
	}
	for _, t := range list {
		if t.ID == l.Txn {
			out.Status = paylinks.Status(t.Status.ofLink())
		}
		full, err := s.transaction(r, t, l, o)
		if err != nil {
			return paylinks.Link{}, err
		}
		out.Invoices = append(out.Invoices, paylinks.Invoice{
			Number: number(t.ID), ReferenceID: t.Reference, PaymentRequestID: l.ID, Amount: t.Hundredths, Currency: t.Currency,
			Transactions: []paylinks.Transaction{full},
		})
	}
	return out, nil
}
