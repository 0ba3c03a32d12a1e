package cases

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/disputes"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// Purchase is a card payment of the books that can be disputed.
type Purchase struct {
	ID        string // the payment's
	Reference string // acquirer reference number
	Card      string // keyed name of the card
	Masked    string // its number
	Brand     string
	Amount    money.Minor
	Left      money.Minor // not given back yet
	Currency  string
	AtMS      int64
}

// Search is what a purchase is looked for by; zero values say nothing.
type Search struct {
	ID        string   // the payment's, or that of its collection
	Reference string   // acquirer's, the payment's id, or the merchant's own
	PAN       wire.PAN // the card
	Day       string   // UTC
	Amount    money.Minor
	Currency  string
}

// Options are what Cases needs; its own are required.
type Options struct {
	room.Options
	Find func(store.Reader, Search) ([]Purchase, error) // purchases, the oldest first
	Card func(wire.PAN) string                          // keyed name of a card
}

// Cases is the dispute desk.
type Cases struct {
	*room.Room
	opt Options

	mu      sync.Mutex
	private *rsa.PrivateKey
	public  disputes.PublicKey
}

var (
	_ disputes.Service = (*Cases)(nil)
	_ disputes.Keys    = (*Cases)(nil)
)

// New makes the desk; it starts nothing.
func New(opt Options) (*Cases, error) {
	if opt.DB == nil || opt.Find == nil || opt.Card == nil {
		return nil, errors.New("cases: want a store, purchases and names of cards")
	}
	r, err := room.New("cases", opt.Options)
	if err != nil {
		return nil, err
	}
	return &Cases{Room: r, opt: opt}, nil
}

const (
	firstCase  = 500001
	firstGroup = 700001
	answerTime = 2 * time.Second
	dueDays    = 45
	answerDays = 30
	issuer     = "issuer"
	operator   = "operator"

	opCreate   = "disputes.create"
	opList     = "disputes.list"
	opQueue    = "disputes.queue"
	opUpdate   = "disputes.update"
	opDocument = "disputes.document"
	opKey      = "disputes.key"
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
	if err := tx.QueryRow(`SELECT coalesce(max(number) + 1, ?) FROM cases_case`, firstCase).Scan(&r.number); err != nil {
		return out, fmt.Errorf("number case: %w", err)
	}
	err = tx.QueryRow(`SELECT coalesce((SELECT grp FROM cases_case WHERE card = ? AND created_day = ? LIMIT 1), (SELECT max(grp) + 1 FROM cases_case), ?)`,
		p.Card, day, firstGroup).Scan(&r.group)
	if err != nil {
		return out, fmt.Errorf("number group: %w", err)
	}
	r.secret = private{Holder: req.CardHolderName.Reveal(), Expiry: req.CardExpiryDate.Reveal(), Account: req.InterimAccount}
	if err := c.insert(tx, &r, now); err != nil {
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

// action names a move in a case's history.
func action(m disputes.Move) string {
	switch m {
	case disputes.Submit:
		return "submit"
	case disputes.Close:
		return "close"
	case disputes.Acknowledge:
		return "acknowledge closure"
	case disputes.Reject:
		return "reject closure"
	case disputes.Answer:
		return "answer"
	}
	return "update"
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

// advance lets everything happen that is due by now: the operator's answers.
func advance(tx store.Tx, now time.Time) error {
	at := now.UnixMilli()
	_, err := tx.Exec(`INSERT INTO cases_status (number, queue, user, notes, action, at_ms)
		SELECT number, ?, ?, '', ?, due_ms FROM cases_case WHERE due_ms <= ? ORDER BY due_ms, number`,
		int64(disputes.AwaitingFeedback), operator, action(disputes.Answer), at)
	if err == nil {
		_, err = tx.Exec(`UPDATE cases_case SET queue = ?, modified_day = ?, due_ms = NULL WHERE due_ms <= ?`,
			int64(disputes.AwaitingFeedback), now.UTC().Format(disputes.DateLayout), at)
	}
	if err != nil {
		return fmt.Errorf("advance cases: %w", err)
	}
	return nil
}

// look reads; what is due happens first.
func (c *Cases) look(ctx context.Context, op string, use func(store.Reader) error) error {
	now, due := c.Now(), int64(0)
	err := c.DB.Read(ctx, func(r store.Reader) error {
		return r.QueryRow(`SELECT COUNT(*) FROM cases_case WHERE due_ms <= ?`, now.UnixMilli()).Scan(&due)
	})
	if err == nil && due > 0 {
		err = c.DB.Write(ctx, func(tx store.Tx) error { return advance(tx, now) })
	}
	if err == nil {
		err = c.DB.Read(ctx, use)
	}
	if err != nil {
		return wire.AsError(op, err)
	}
	return nil
}

// number writes minor units.
func number(m money.Minor) json.Number { return json.Number(strconv.FormatInt(int64(m), 10)) }
