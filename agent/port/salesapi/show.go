package salesapi

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"posagent/agent/checkout/drive/journal"
	"posagent/ecr"
	"posagent/schemes/wire"
	"posagent/store"
)

// What a list has, and a picture.
const (
	maxList  = 200
	fewSales = 50
	dots     = 8 // of a picture, for each module of a code
)

// query reads a parameter that may stand once.
func query(q url.Values, name string) (string, error) {
	list := q[name]
	if len(list) > 1 {
		return "", invalid("%s: want it once", name)
	}
	return q.Get(name), nil
}

// number reads a number of the query; 0 = it is not there.
func number(q url.Values, name string, most int64) (int64, error) {
	text, err := query(q, name)
	if err != nil || len(q[name]) == 0 {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n > most {
		return 0, invalid("%s: want a number from 1 to %d", name, most)
	}
	return n, nil
}

// list serves a page of sales, or the one that was asked for under a key.
func (t *Till) list(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	language, err := languageOf(q)
	if err != nil {
		return err
	}
	if len(q["key"]) > 0 {
		return t.named(w, r, q, language)
	}
	var which journal.Which
	limit, err := number(q, "limit", maxList)
	if err != nil {
		return err
	}
	if which.Limit = int(limit); limit == 0 {
		which.Limit = fewSales
	}
	if which.Before, err = number(q, "cursor", 1<<62); err != nil {
		return err
	}
	state, err := query(q, "state")
	if which.Stage = journal.Stage(state); err != nil || !slices.Contains([]journal.Stage{"", journal.Running, journal.Ended, journal.Unheard}, which.Stage) {
		return invalid("state: want running, ended or unheard")
	}
	since, err := query(q, "since")
	if err == nil && since != "" {
		at, fault := time.Parse(time.RFC3339, since)
		which.SinceMS, err = at.UnixMilli(), fault
	}
	if err != nil {
		return invalid("since: want a time as 2026-11-24T08:00:00Z")
	}
	v, err := t.o.House.Sales(r.Context(), which)
	if err == nil {
		_ = wire.WriteJSON(w, http.StatusOK, wire.JSONType, v) // a lost connection has no reader
	}
	return err
}

// languageOf reads the language of receipts; "" = the terminal's.
func languageOf(q url.Values) (string, error) {
	text, err := query(q, "language")
	if err == nil && text != "" && !wire.PlainText(text, 16) {
		err = invalid("language: want a language as en or de")
	}
	return text, err
}

// named serves the caller's sale with a key. 404 says that nothing was and will be done under it.
func (t *Till) named(w http.ResponseWriter, r *http.Request, q url.Values, language string) error {
	ctx := r.Context()
	key, err := query(q, "key")
	if err == nil {
		_, err = wire.ParseKey(key)
	}
	if err != nil {
		return invalid("key: want one %s of 1 to 64 characters", wire.KeyHeader)
	}
	if err := t.allTaken(ctx, key); err != nil {
		return err
	}
	var row *journal.Row
	err = t.o.DB.Read(ctx, func(tx store.Reader) (err error) { row, err = t.bySequence(ctx, tx, key); return err })
	if errors.Is(err, journal.ErrUnknown) {
		sale, err := t.o.Desk.Find(written(ctx), line(ctx), key) // it may know more: a journal was lost
		var no *ecr.Refusal
		switch {
		case errors.Is(err, ecr.ErrNone):
			return wire.Errorf(wire.NotFound, "", "no sale under this key: nothing was done under it, and nothing will be done")
		case errors.As(err, &no):
			return wire.Errorf(wire.UnknownOutcome, "", "%s", no.Text)
		case err != nil:
			return err
		}
		defer t.follow(ctx, key, sale).leave(false) // who tells it listens for itself
		_, row, err = t.o.House.Sale(ctx, sale.ID)
		if err != nil {
			return err
		}
		return t.told(w, r, row, language)
	}
	if err != nil {
		return err
	}
	return t.told(w, r, row, language)
}

// show serves one sale by its id.
func (t *Till) show(w http.ResponseWriter, r *http.Request) error {
	language, err := languageOf(r.URL.Query())
	if err != nil {
		return err
	}
	_, row, err := t.o.House.Sale(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return t.told(w, r, row, language)
}

// told answers with a sale as it is now. Where it is the caller's own, its outcome is told by that.
func (t *Till) told(w http.ResponseWriter, r *http.Request, row *journal.Row, language string) error {
	ctx := r.Context()
	if row.Line != line(ctx) || row.Sequence == "" || row.Held() || row.Told == string(ecr.Told) {
		_, err := t.answer(w, r, nil, string(row.Key), language)
		return err
	}
	run, err := t.running(ctx, string(row.Key), row.Sequence)
	if err != nil {
		return err
	}
	heard := false
	defer func() { run.leave(heard) }()
	if row.State.Result != "" {
		t.await(w, r, run, atHand)
	}
	heard, err = t.answer(w, r, run, string(row.Key), language)
	return err
}

// picture serves the code of a sale while it is shown.
func (t *Till) picture(w http.ResponseWriter, r *http.Request, png bool) error {
	_, row, err := t.o.House.Sale(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	gone := wire.Errorf(wire.NotFound, "", "no code is shown now")
	if !row.State.Shown || row.State.Result != "" || row.Held() {
		return gone
	}
	code, err := t.o.Code(row)
	if err != nil {
		return gone
	}
	kind, data := "image/svg+xml", code.SVG()
	if png {
		kind = "image/png"
		if data, err = code.PNG(dots); err != nil {
			return err
		}
	}
	_ = wire.WriteBody(w, http.StatusOK, kind, data) // a lost connection has no reader
	return nil
}
