package disputes

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"posagent/schemes/backend/room"
	"posagent/schemes/disputes"
	"posagent/store"
)

// search is what rows are picked by.
type search struct {
	where string
	args  []any
	limit int
	keep  func(*row) bool // nil: every one
}

func (s *search) and(condition string, arg any) {
	s.where += " AND " + condition
	s.args = append(s.args, arg)
}

// after goes on behind a page; Validate has read the key.
func (s *search) after(key string) {
	if key != "" {
		n, _ := strconv.ParseInt(key, 10, 64)
		s.and("number > ?", n)
	}
}

// page reads at most limit cases, the oldest first; next is "" at the end.
func page(rd store.Reader, s search) (list []row, next string, err error) {
	if own, args := room.Own(rd, resource, "cases_case.number"); own != "" {
		s.where, s.args = s.where+" AND "+own, slices.Concat(s.args, args)
	}
	rows, err := rd.Query("SELECT "+caseTable.Columns()+" FROM cases_case WHERE number > 0"+s.where+" ORDER BY number", s.args...)
	if err != nil {
		return nil, "", fmt.Errorf("read cases: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var r row
		if err := caseTable.Scan(rows, &r); err != nil {
			return nil, "", fmt.Errorf("read cases: %w", err)
		}
		if s.keep != nil && !s.keep(&r) {
			continue
		}
		if len(list) == s.limit {
			return list, strconv.FormatInt(list[len(list)-1].number, 10), nil
		}
		list = append(list, r)
	}
	return list, "", rows.Err()
}

// List implements disputes.Service.
func (c *Cases) List(ctx context.Context, req disputes.ListRequest) (out disputes.ListReply, err error) {
	if err := disputes.ValidateList(req); err != nil {
		return out, err
	}
	_, card, err := c.card(ctx, opList, req.CardNumber)
	if err != nil {
		return out, err
	}
	s := search{limit: int(req.Limit)}
	if s.limit == 0 {
		s.limit = disputes.DefaultPage
	}
	s.after(req.NextPageKey)
	for _, f := range [...][2]string{{"card = ?", card}, {"card = ?", req.CardID}, {"created_day = ?", req.CreatedDate}, {"modified_day = ?", req.ModifiedDate}} {
		if f[1] != "" {
			s.and(f[0], f[1])
		}
	}
	for _, f := range [...][2]string{{"number = ?", req.CaseNumber}, {"grp = ?", req.GroupNumber}, {"queue = ?", req.CaseStatus}} {
		if f[1] == "" {
			continue
		}
		n, err := strconv.ParseInt(f[1], 10, 64)
		if err != nil {
			n = -1 // no number of ours
		}
		s.and(f[0], n)
	}
	if len(req.AdditionalSearchIndex) > 0 {
		s.keep = func(r *row) bool { return r.matches(req.AdditionalSearchIndex) }
	}
	err = c.look(ctx, opList, func(rd store.Reader) error {
		list, next, err := page(rd, s)
		if err != nil {
			return err
		}
		out = disputes.ListReply{ResponseCode: disputes.Done, NextPageKey: next, More: flag(next != ""), Count: int32(len(list)), Cases: []disputes.Case{}}
		for i := range list {
			one, err := c.show(rd, &list[i], req.History == disputes.Yes)
			if err != nil {
				return err
			}
			out.Cases = append(out.Cases, one)
			if req.GroupNumber != "" {
				out.GroupQueue = list[i].queue.String()
			}
		}
		return nil
	})
	return out, err
}

func flag(b bool) string {
	if b {
		return disputes.Yes
	}
	return disputes.No
}

// matches compares a case with every index.
func (r *row) matches(list []disputes.Index) bool {
	for _, i := range list {
		have := ""
		switch i.Name {
		case "issuerSuperCaseID":
			have = r.Super
		case "issuerTransactionID":
			have = r.Issuers
		case "acqReferenceData":
			have = r.Reference
		case "providerTransactionID":
			have = r.purchase
		case "caseHandlerID":
			have = r.Handler
		default:
			for _, p := range r.More {
				if p.Name == i.Name {
					have = p.Value
				}
			}
		}
		if have != i.Value {
			return false
		}
	}
	return true
}

// Queue implements disputes.Service.
func (c *Cases) Queue(ctx context.Context, req disputes.QueueRequest) (out disputes.QueueReply, err error) {
	if err := disputes.ValidateQueue(req); err != nil {
		return out, err
	}
	s := search{limit: disputes.DefaultPage}
	s.after(req.NextPageKey)
	s.and("queue = ?", int64(req.QueueID))
	switch req.IsOpen {
	case disputes.Yes:
		s.and("queue <> ?", int64(disputes.Closed))
	case disputes.No:
		s.and("queue = ?", int64(disputes.Closed))
	}
	err = c.look(ctx, opQueue, func(rd store.Reader) error {
		list, next, err := page(rd, s)
		if err != nil {
			return err
		}
		out = disputes.QueueReply{
			ResponseCode: disputes.Done, NextPageKey: next, More: flag(next != ""), Count: int32(len(list)),
			QueueName: disputes.Queue(req.QueueID).Name(), Cases: []disputes.QueueCase{},
		}
		for _, r := range list {
			out.Cases = append(out.Cases, disputes.QueueCase{
				AcquiringReferenceNumber: r.Reference, CaseNumber: strconv.FormatInt(r.number, 10), MaskedCardNumber: r.Masked,
			})
		}
		return nil
	})
	return out, err
}

// show writes a case out.
func (c *Cases) show(rd store.Reader, r *row, history bool) (out disputes.Case, err error) {
	bought := time.UnixMilli(r.AtMS).UTC()
	created, err := time.Parse(disputes.DateLayout, r.created)
	if err != nil {
		return out, fmt.Errorf("read case %d: %w", r.number, err)
	}
	out = disputes.Case{
		AuthorisationSituation: "APPROVED", CardScheme: r.Scheme, ClearingSituation: "CLEARED",
		TransactionAmount: number(r.Total), TransactionCurrency: r.Currency, TransactionDate: bought.Format(disputes.DateLayout),
		SettlementAmount: number(r.Total), SettlementCurrency: r.Currency, SettlementDate: bought.Format(disputes.DateLayout),
		AdditionalData: r.More, CaseNumber: strconv.FormatInt(r.number, 10), Reasons: r.Reasons, CreatedDate: r.created,
		DueDate: created.AddDate(0, 0, dueDays).Format(disputes.DateLayout), GroupNumber: strconv.FormatInt(r.group, 10),
		MaskedCardNumber: r.Masked, MerchantName: c.Merchant, PanID: r.card, QueueName: r.queue.Name(),
	}
	if r.Amount > 0 {
		out.DisputeAmount, out.DisputeCurrency = number(r.Amount), r.Currency
	}
	if r.queue == disputes.AwaitingFeedback {
		out.ResponseDueDate = created.AddDate(0, 0, answerDays).Format(disputes.DateLayout)
	}
	if out.AdditionalData == nil {
		out.AdditionalData = []disputes.Pair{}
	}
	var open int64 // the index tells, however large the group is
	if err := rd.QueryRow(`SELECT EXISTS (SELECT 1 FROM cases_case WHERE grp = ? AND queue > ?) OR EXISTS (SELECT 1 FROM cases_case WHERE grp = ? AND queue < ?)`,
		r.group, int64(disputes.Closed), r.group, int64(disputes.Closed)).Scan(&open); err != nil {
		return out, fmt.Errorf("read group of %d: %w", r.number, err)
	}
	if out.GroupStatus = "CLOSED"; open > 0 {
		out.GroupStatus = "OPEN"
	}
	if out.Documents, err = documents(rd, r.number); err != nil {
		return out, err
	}
	out.Statuses, err = statuses(rd, r.number, history)
	return out, err
}

// statuses reads a case's history, the newest first; the newest alone unless all are wanted.
func statuses(rd store.Reader, number int64, all bool) ([]disputes.Status, error) {
	limit := int64(1)
	if all {
		limit = 1000
	}
	list := []disputes.Status{}
	err := store.Each(rd, func(row store.Row) error {
		var s disputes.Status
		var queue, at int64
		err := row.Scan(&queue, &s.UserID, &s.FreeText, &s.OtherActions, &at)
		s.Status, s.Text, s.Timestamp = disputes.Queue(queue).String(), disputes.Queue(queue).Name(), stamp(at)
		list = append(list, s)
		return err
	}, `SELECT queue, user, notes, action, at_ms FROM cases_status WHERE number = ? ORDER BY id DESC LIMIT ?`, number, limit)
	if err != nil {
		return nil, fmt.Errorf("read statuses of %d: %w", number, err)
	}
	return list, nil
}
