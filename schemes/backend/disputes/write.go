package disputes

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/disputes"
	"posagent/schemes/wire"
	"posagent/store"
)

// Create implements disputes.Service.
func (c *Cases) Create(ctx context.Context, key wire.Key, req disputes.CreateRequest) (disputes.CreateReply, error) {
	if err := check(opCreate, key, disputes.Validate(req)); err != nil {
		return disputes.CreateReply{}, err
	}
	pan, _, body, err := c.read(ctx, opCreate, &req.CardNumber, func() any { return req })
	if err != nil {
		return disputes.CreateReply{}, err
	}
	var reply disputes.CreateReply
	err = c.write(ctx, opCreate, "", key, body, req.DocumentsList, &reply, func(tx store.Tx, files []file, now time.Time) (err error) {
		reply, err = c.create(tx, req, pan, files, now)
		return err
	})
	if err != nil {
		return disputes.CreateReply{}, err
	}
	return reply, nil
}

func check(op string, key wire.Key, err error) error {
	if err == nil {
		err = room.CheckKey(op, key)
	}
	return err
}

// read opens the card number of a request. It writes the request out for its key, with the keyed name of the card: the same
// number is encrypted to other bytes each time.
func (c *Cases) read(ctx context.Context, op string, number *wire.Secret, req func() any) (pan wire.PAN, card string, body []byte, err error) {
	sealed := *number
	if pan, card, err = c.card(ctx, op, sealed); err != nil {
		return pan, card, nil, err
	}
	*number = wire.Secret(card)
	body, err = wire.Encode(req())
	*number = sealed
	if err != nil {
		return pan, card, nil, wire.Errorf(wire.Invalid, op, "request cannot be stored")
	}
	return pan, card, body, nil
}

// write stores the documents, then plays a keyed write in one commit.
func (c *Cases) write(ctx context.Context, op, about string, key wire.Key, body []byte, documents []disputes.Document, reply any, act func(store.Tx, []file, time.Time) error) error {
	files, err := c.upload(ctx, documents)
	if err != nil {
		return wire.AsError(op, err)
	}
	acted := false
	first := func(tx store.Tx, now int64) (*wire.Error, error) {
		acted = false
		return nil, advance(tx, time.UnixMilli(now))
	}
	err = c.Once(ctx, room.Keyed{Op: op, About: about, Key: key, Body: body, First: first}, reply, func(tx store.Tx, now int64) (none scenario.Do, err error) {
		acted = true
		return none, act(tx, files, time.UnixMilli(now))
	})
	if err != nil || !acted { // refused, or an earlier answer: they belong to no case
		c.drop(ctx, files)
	}
	return err
}

// create is the commit of Create.
func (c *Cases) create(tx store.Tx, req disputes.CreateRequest, pan wire.PAN, files []file, now time.Time) (out disputes.CreateReply, err error) {
	p, many, err := c.purchase(tx, req, pan)
	if err != nil {
		return out, err
	}
	var n int64
	if err := tx.QueryRow(`SELECT COUNT(*) FROM cases_case WHERE purchase = ?`, p.ID).Scan(&n); err != nil {
		return out, fmt.Errorf("look for a case: %w", err)
	}
	if n > 0 {
		return out, disputes.Refused(opCreate, disputes.Exists, "")
	}
	r := fill(req, p)
	if req.DisputeCurrency != "" && req.DisputeCurrency != p.Currency {
		return out, disputes.Refused(opCreate, disputes.BadAmount, "the transaction's currency is "+p.Currency)
	}
	if r.Amount > p.Amount {
		return out, disputes.Refused(opCreate, disputes.BadAmount, "more than the transaction's")
	}
	if r.queue = disputes.Issuer; r.Straight {
		r.queue, _ = disputes.Next(r.queue, disputes.Submit, true, p.Left <= 0)
	}
	day := now.UTC().Format(disputes.DateLayout)
	r.card, r.purchase, r.created, r.modified = p.Card, p.ID, day, day
	if r.number, err = tx.Number("cases_case"); err != nil {
		return out, fmt.Errorf("number case: %w", err)
	}
	err = tx.QueryRow(`SELECT grp FROM cases_case WHERE card = ? AND created_day = ?
		AND coalesce((SELECT merchant FROM room_owner WHERE resource = ? AND id = CAST(number AS TEXT)), '') = ? LIMIT 1`, p.Card, day, resource, p.Owner).Scan(&r.group)
	if errors.Is(err, sql.ErrNoRows) {
		r.group, err = tx.Number("cases_group")
	}
	if err != nil {
		return out, fmt.Errorf("number group: %w", err)
	}
	r.secret = private{Holder: req.CardHolderName.Reveal(), Expiry: req.CardExpiryDate.Reveal(), Account: req.InterimAccount}
	if err := c.insert(tx, &r, p.Owner, now); err != nil {
		return out, err
	}
	if err := r.tell(tx, issuer, req.Notes, "create", now); err != nil {
		return out, err
	}
	out = disputes.CreateReply{
		CaseNumber: strconv.FormatInt(r.number, 10), GroupNumber: strconv.FormatInt(r.group, 10), ResponseCode: disputes.Done,
		IssuerSuperCaseID: req.IssuerSuperCaseID, IssuerTransactionID: req.IssuerTransactionID,
	}
	if many {
		out.ErrorCode, out.ErrorText = disputes.ManyMatches, disputes.Meaning(disputes.ManyMatches)
	}
	out.Documents, err = r.claim(tx, files, now)
	if len(out.Documents) > 0 {
		out.ResponseCode = disputes.Partial
	}
	return out, err
}

// purchase finds what is disputed: the latest that matches.
func (c *Cases) purchase(r store.Reader, req disputes.CreateRequest, pan wire.PAN) (p Purchase, many bool, err error) {
	amount, err := disputes.Amount(req.TransactionAmount)
	if err != nil {
		return p, false, wire.Errorf(wire.Invalid, opCreate, "transactionAmount: %v", err)
	}
	s := Search{ID: req.OperatorTransactionID, Reference: req.AcqReferenceData, PAN: pan, Day: req.TransactionDate, Amount: amount, Currency: req.TransactionCurrency}
	if s.ID == "" {
		s.ID = req.CardSchemeTransactionID
	}
	list, err := c.opt.Find(r, s)
	switch {
	case err != nil:
		return p, false, fmt.Errorf("find purchase: %w", err)
	case len(list) == 0:
		return p, false, disputes.Refused(opCreate, disputes.NoMatch, "")
	}
	return list[len(list)-1], len(list) > 1, nil
}

// Update implements disputes.Service.
func (c *Cases) Update(ctx context.Context, key wire.Key, caseNumber string, req disputes.UpdateRequest) (disputes.UpdateReply, error) {
	if err := check(opUpdate, key, disputes.ValidateUpdate(caseNumber, req)); err != nil {
		return disputes.UpdateReply{}, err
	}
	_, card, body, err := c.read(ctx, opUpdate, &req.CardNumber, func() any { return req })
	if err != nil {
		return disputes.UpdateReply{}, err
	}
	var reply disputes.UpdateReply
	err = c.write(ctx, opUpdate, caseNumber, key, body, req.DocumentsList, &reply, func(tx store.Tx, files []file, now time.Time) error {
		r, err := c.find(tx, opUpdate, caseNumber)
		if err != nil {
			return err
		}
		switch {
		case card != "" && card != r.card, req.CardID != "" && req.CardID != r.card:
			return wire.Errorf(wire.Invalid, opUpdate, "the case is about another card")
		case req.GroupNumber != "" && req.GroupNumber != strconv.FormatInt(r.group, 10):
			return wire.Errorf(wire.Invalid, opUpdate, "the case is in another group")
		}
		reply, err = c.move(tx, r, req, files, now)
		return err
	})
	if err != nil {
		return disputes.UpdateReply{}, err
	}
	return reply, nil
}

// move is the commit of Update.
func (c *Cases) move(tx store.Tx, r *row, req disputes.UpdateRequest, files []file, now time.Time) (out disputes.UpdateReply, err error) {
	m, moves := req.Move()
	lost := false
	if m == disputes.Submit {
		list, err := c.opt.Find(tx, Search{ID: r.purchase})
		if err != nil {
			return out, fmt.Errorf("find purchase: %w", err)
		}
		lost = len(list) == 0 || list[0].Left <= 0
	}
	from := r.queue
	var ok bool
	if r.queue, ok = disputes.Next(from, m, r.Straight, lost); !ok {
		return out, disputes.Refused(opUpdate, disputes.WrongStatus, "the case is in "+from.Name())
	}
	if r.secret, err = c.open(tx, r); err != nil {
		return out, err
	}
	if req.PrivateNotes != "" {
		r.secret.Notes = append(r.secret.Notes, req.PrivateNotes)
	}
	if req.InterimAccount != "" {
		r.secret.Account = req.InterimAccount
	}
	r.More = merge(r.More, req.AdditionalInformation)
	r.modified = now.UTC().Format(disputes.DateLayout)
	if err := c.save(tx, r, now); err != nil {
		return out, err
	}
	if moves || req.Notes != "" || from != r.queue {
		if err := r.tell(tx, issuer, req.Notes, action(m), now); err != nil {
			return out, err
		}
	}
	out.ResponseCode = disputes.Done
	out.Documents, err = r.claim(tx, files, now)
	if len(out.Documents) > 0 {
		out.ResponseCode = disputes.Partial
	}
	return out, err
}

// merge lets later values replace earlier ones of the same name.
func merge(have, more []disputes.Pair) []disputes.Pair {
next:
	for _, p := range more {
		for i := range have {
			if have[i].Name == p.Name {
				have[i].Value = p.Value
				continue next
			}
		}
		have = append(have, p)
	}
	return have
}
