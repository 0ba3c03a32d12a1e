package change

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"posagent/cross/need"
	"posagent/cross/tills"
	"posagent/ecr/till"
	"posagent/ecr/till/zvt"
	"posagent/schemes/money"
)

// acts are what tills, local clients and customers do.
func acts() []weighed {
	return []weighed{{"sale", 50}, {"equal", 9}, {"again", 10}, {"back", 14}, {"close", 4}, {"write", 12}, {"rewrite", 4}}
}

// do does one act. What it hears goes to the sales and writes.
func (w *world) do(step int, e event) {
	ctx, cancel := context.WithTimeout(w.ctx, min(need.Limit(), 2*enough))
	defer cancel()
	switch e.name {
	case "sale":
		w.sell(ctx, w.newSale(step, e), e)
	case "equal":
		if of := w.pick(e.a, func(s *sale) bool { return s.protocol.Name != "caisse-ap" && s.protocol.Name != "ecr17" }); of != nil {
			other := &sale{step: step, protocol: of.protocol, which: 1 - of.which, id: of.id, amount: of.amount, counts: of.counts, leaves: e.b%3 == 0}
			same := func(s *sale) bool {
				return s.protocol.IDs && s.protocol.Name == other.protocol.Name && s.which == other.which && s.id == other.id
			}
			if own := w.pick(0, same); own != nil { // the other till has asked for it before: it is the same sale
				w.again(ctx, own, true, 4)
				return
			}
			w.sell(ctx, w.add(other), e)
			return
		}
		w.sell(ctx, w.newSale(step, e), e)
	case "again":
		if s := w.pick(e.a, func(s *sale) bool { return s.protocol.IDs && !s.busy && !s.retired }); s != nil {
			w.again(ctx, s, e.b%2 == 0, 4)
		}
	case "back":
		if s := w.pick(e.a, func(s *sale) bool { return s.sure && !s.busy }); s != nil {
			w.giveBack(ctx, step, s, e)
		}
	case "close":
		w.closeDay(ctx, step, e)
	case "write":
		w.write(ctx, step, e)
	case "rewrite":
		w.rewrite(ctx, e)
	}
}

// sale is one purchase at a till, and what the till was told of it.
type sale struct {
	step     int
	protocol tills.Protocol
	which    int // of the tills of the protocol
	id       string
	amount   int64
	counts   bool // the till numbers its messages
	leaves   bool // the till never asks what became of it

	busy     bool // its till is at it
	approved bool
	sure     bool // and the terminal knows that the till was told so
	word     till.Said
	text     string // the last answer
	replaced int    // how often the journal had been replaced when it was heard
	question bool   // it heard that the journal was replaced, and that the id had been used: a person has to look
	retired  bool   // its till does not ask for it any more
	excused  string // why the terminal cannot know of it
	named    bool   // it was named to a person, before that went with its journal
	backs    []*back
}

// back is what a till asked to be given back, and what of it was at least and at most.
type back struct{ least, most int64 }

func (s *sale) String() string {
	return fmt.Sprintf("step %d, %s till %d, id %s, %s: last told %q (approved %v, surely %v), %.200s", s.step, s.protocol.Name, s.which, s.id, spelled(s.amount), s.word, s.approved, s.sure, s.text)
}

// add notes a sale before its till asks for it.
func (w *world) add(s *sale) *sale {
	w.mu.Lock()
	defer w.mu.Unlock()
	s.busy = true
	w.sales = append(w.sales, s)
	return s
}

// pick picks one of the sales that fit, nil where there is none. Newer ones are as likely as all older ones together.
func (w *world) pick(n int, fits func(s *sale) bool) *sale {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []*sale
	for _, s := range w.sales {
		if fits(s) {
			list = append(list, s)
		}
	}
	switch {
	case len(list) == 0:
		return nil
	case n%2 == 0:
		return list[len(list)-1]
	}
	return list[n/2%len(list)]
}

// scenarios are amounts of the backend's table: the customer says no, never scans, is late, the money moves after a no, an undo fails
// at first.
func scenarios() []int64 { return []int64{900_10, 900_12, 900_13, 900_16} }

// newSale is a purchase with an amount of its own, or one that nobody pays.
func (w *world) newSale(step int, e event) *sale {
	table := tills.Table()
	s := &sale{step: step, protocol: table[e.a%len(table)], which: 0, amount: int64(1000 + 100*step + e.b%90), leaves: e.b%5 == 0}
	switch n := e.c % 7; {
	case w.link: // a link's provider thinks for minutes
	case n < 2: // nobody pays, so that an answer that is another's shows
		s.amount = []int64{900_03, 900_08}[n]
	case n == 2:
		s.amount = scenarios()[step%len(scenarios())]
		if w.pick(0, func(other *sale) bool { return other.amount == s.amount }) != nil {
			s.amount = int64(1000 + 100*step + e.b%90)
		}
	}
	s.counts = s.protocol.Name == "zvt" && e.c%3 == 0
	s.id = fmt.Sprint(2 * (1000*(w.run%1000) + step)) // even: ecr17 tells the amounts of these
	return w.add(s)
}

// sell lets a till ask for its sale, and ask again in its protocol's way until it knows.
func (w *world) sell(ctx context.Context, s *sale, e event) {
	defer func() {
		w.mu.Lock()
		s.busy = false
		w.mu.Unlock()
	}()
	cut := -1
	if e.a/8%4 == 0 {
		cut = e.b % (16 << (e.c % 9))
	}
	if e.a/32%4 == 0 {
		go func() {
			if pass(ctx, time.Duration(e.c%600)*time.Millisecond) {
				w.abort(ctx, s)
			}
		}()
	}
	a, err := w.tillOf(s, cut).Pay(ctx, money.Minor(s.amount), s.id)
	w.hear(s, a, err, true)
	if s.protocol.Asks && !s.leaves && !tills.Definite(a) {
		w.again(ctx, s, e.b%2 == 0, 8)
	}
	w.confirm(ctx, s)
}

// tillOf is the till of a sale.
func (w *world) tillOf(s *sale, cut int) *tills.Till {
	return w.till(s.protocol, s.which, cut, s.counts)
}

// again asks until the till knows, so many times at most.
func (w *world) again(ctx context.Context, s *sale, resend bool, times int) {
	ctx, cancel := context.WithTimeout(ctx, min(need.Limit(), 2*enough))
	defer cancel()
	for i := range times {
		w.mu.Lock()
		retired := s.retired
		w.mu.Unlock()
		if retired {
			return
		}
		ask := w.tillOf(s, -1).Again // what became of it, or of another
		if resend && s.protocol.IDs {
			ask = w.tillOf(s, -1).Pay
		}
		a, err := ask(ctx, money.Minor(s.amount), s.id)
		w.hear(s, a, err, resend && s.protocol.IDs)
		if err == nil && tills.Definite(a) || !pass(ctx, time.Duration(100+100*i)*time.Millisecond) {
			return
		}
	}
}

// hear records what a till was told. asks says that the till had asked for the sale, not only for what became of it.
func (w *world) hear(s *sale, a till.Answer, err error, asks bool) {
	w.note("%s till %d, %s %s: %s firm %v, error %v, %.300s", s.protocol.Name, s.which, s.id, spelled(s.amount), a.Said, a.Firm, err, a.Raw)
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.text = a.Raw; err != nil {
		s.text = err.Error()
		return
	}
	word := a.Said
	if word == till.Refused && asks && s.protocol.Name == "zvt" {
		word = till.NotFound // nothing was begun, and no id may say otherwise
	}
	before := s.protocol.IDs && s.approved && w.replaced != s.replaced
	if tills.NotPaid(word) && (before || strings.Contains(strings.ReplaceAll(a.Raw, "%20", " "), "journal was replaced")) {
		s.question = true // an id of the journal before is never approved again: a person has to look (MONEY, law V)
		return
	}
	wrong := func(format string, args ...any) { w.wrong = append(w.wrong, fmt.Sprintf(format, args...)) }
	switch {
	case word == till.Busy || word == till.Refused || word == till.Nothing:
		return
	case word == till.Approved && int64(a.Amount) != s.amount && (asks || s.protocol.IDs):
		wrong("asked for %s, told approved %s: %v", spelled(s.amount), spelled(int64(a.Amount)), s)
		return
	case word == till.Approved && int64(a.Amount) != s.amount, !asks && !s.protocol.IDs && w.replaced != s.replaced && s.word != till.Nothing:
		return // it hears of another sale
	case s.protocol.IDs && word == till.Approved && tills.NotPaid(s.word) && w.replaced == s.replaced:
		wrong("told not paid, then approved: %v", s)
	case s.protocol.IDs && word != till.Approved && s.sure:
		wrong("told approved, then %s: %v", word, s)
	}
	s.word, s.replaced = word, w.replaced
	if word == till.Approved {
		s.approved = true
		s.sure = s.sure || a.Firm || s.protocol.Keeps
	}
}

// confirm waits a little until the terminal knows that the till has the approval, where the protocol does not say so.
func (w *world) confirm(ctx context.Context, s *sale) {
	for range 5 {
		w.mu.Lock()
		open := s.approved && !s.sure
		w.mu.Unlock()
		if !open {
			return
		}
		rows, err := w.rows()
		for _, r := range rows {
			if err == nil && r.Amount == s.amount && r.Result == "approved" && r.Told == "told" {
				w.mu.Lock()
				s.sure = true
				w.mu.Unlock()
			}
		}
		if !pass(ctx, 50*time.Millisecond) {
			return
		}
	}
}

// dial connects to a line of the terminal.
func (w *world) dial(ctx context.Context, port int) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "tcp", w.at(port))
}

// at is the address of a line.
func (w *world) at(port int) string { return net.JoinHostPort(w.host, fmt.Sprint(port)) }

// roots are the certificates of the terminal's nexo lines.
func (w *world) roots() (*x509.CertPool, error) {
	list, err := filepath.Glob(w.path("a", "nexo-*.pem"))
	pool := x509.NewCertPool()
	for _, name := range list {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		pool.AppendCertsFromPEM(data)
	}
	return pool, err
}

// abort stops a sale in its protocol's way, over a connection of its own. Whether it comes too late is told by the sale.
func (w *world) abort(ctx context.Context, s *sale) {
	err := w.tillOf(s, -1).Abort(ctx, s.id)
	w.note("abort of %s by %s till %d: %v", s.id, s.protocol.Name, s.which, err)
}

// giveBack lets a till give back a part of an approved sale, or reverse it, until it knows what became of that.
func (w *world) giveBack(ctx context.Context, step int, s *sale, e event) {
	rows, err := w.rows()
	if err != nil {
		return
	}
	receipt := 0
	for _, r := range rows {
		if r.Amount == s.amount && r.Result == "approved" && r.Kind == "payment" {
			receipt = r.Receipt
		}
	}
	if receipt == 0 {
		return
	}
	b, id := &back{}, fmt.Sprint("b", w.run%1000, "-", step)
	part := int64(1 + e.b%100)
	if e.a/4%3 == 0 {
		part = 0 // all of it
	}
	w.mu.Lock()
	s.backs = append(s.backs, b)
	replaced := w.replaced
	b.most = part
	if part == 0 {
		b.most = s.amount
	}
	w.mu.Unlock()
	ways := []string{"jsonl", "zvt", "http", "jsonl"}
	way := ways[e.c%len(ways)]
	for i := range 5 {
		word, text := w.asksBack(ctx, way, id, receipt, part)
		w.note("%s gives back %d of %s (receipt %d): %s %.200s", way, part, spelled(s.amount), receipt, word, text)
		w.mu.Lock()
		switch word {
		case till.Approved:
			b.least = b.most
			if way == "zvt" && w.replaced != replaced { // it has no id: two requests
				b.most *= 2
			}
		case till.Declined:
			if way != "zvt" || w.replaced == replaced {
				b.most = 0
			}
		}
		w.mu.Unlock()
		if word == till.Approved || word == till.Declined || !pass(ctx, time.Duration(100+100*i)*time.Millisecond) {
			return
		}
	}
}

// asksBack asks once. part 0 = a reversal.
func (w *world) asksBack(ctx context.Context, way, id string, receipt int, part int64) (till.Said, string) {
	port := w.portOf(way, 0)
	switch way {
	case "zvt":
		r, err := zvt.Dial(ctx, "tcp:"+w.at(port), zvt.Options{T4: need.Limit()})
		if err != nil {
			return till.Nothing, err.Error()
		}
		defer r.Close()
		var res zvt.Result
		if part == 0 {
			res, err = r.Reverse(ctx, receipt, 0)
		} else {
			res, err = r.Refund(ctx, money.Minor(part), "EUR", fmt.Sprint("R", receipt))
		}
		text := fmt.Sprintf("%+v %v", res, err)
		switch {
		case err != nil || res.Code == zvt.CodeWait || res.Refused:
			return till.Nothing, text
		case res.Approved:
			return till.Approved, text
		}
		return till.Declined, text
	case "http":
		conn, err := w.dial(ctx, port)
		if err != nil {
			return till.Nothing, err.Error()
		}
		defer conn.Close()
		body := map[string]any{"type": "refund", "amount": part, "currency": "EUR", "original": fmt.Sprint("R", receipt)}
		if part == 0 {
			body = map[string]any{"type": "reversal", "receipt": receipt}
		}
		data, err := json.Marshal(body)
		if err != nil {
			return till.Nothing, err.Error()
		}
		got, err := till.NewHTTP(conn, w.at(port), tills.Token).Ask(ctx, http.MethodPost, till.SalesPath+"?wait=5s", id, data)
		one, wrong := got.Sale()
		switch {
		case err != nil || wrong != nil || got.Status >= 300 || one.State != "ended":
			return till.Nothing, fmt.Sprint(got, err)
		case one.Outcome == "approved":
			return till.Approved, got.String()
		}
		return till.Declined, got.String()
	}
	conn, err := w.dial(ctx, port)
	if err != nil {
		return till.Nothing, err.Error()
	}
	t := till.NewJSONL(conn, till.JSONLOptions{Wait: need.Limit()})
	defer t.Close()
	message := map[string]any{"op": "refund", "id": id, "amount": part, "currency": "EUR", "original": fmt.Sprint("R", receipt)}
	if part == 0 {
		message = map[string]any{"op": "reverse", "id": id, "receipt": receipt}
	}
	l, _, err := t.Ask(ctx, message)
	text := fmt.Sprintf("%+v %v", l, err)
	switch l.Outcome {
	case "approved":
		return till.Approved, text
	case "declined", "aborted":
		return till.Declined, text
	case "refused": // nothing was begun, unless it runs under this id or another, or a journal before this one did it
		if !slices.Contains([]string{"processing_error", "in_progress", "busy", "resuming"}, l.Code) && !strings.Contains(text, "journal was replaced") {
			return till.Declined, text
		}
	}
	return till.Nothing, text
}

// closeDay asks for the end of day. It is no sale: what must be told of it is the business of other tests.
func (w *world) closeDay(ctx context.Context, step int, e event) {
	if e.a%2 == 0 {
		r, err := zvt.Dial(ctx, "tcp:"+w.at(w.portOf("zvt", 0)), zvt.Options{T4: need.Limit()})
		if err != nil {
			return
		}
		defer r.Close()
		res, err := r.EndOfDay(ctx)
		w.note("end of day: %+v %v", res, err)
		return
	}
	conn, err := w.dial(ctx, w.portOf("jsonl", 0))
	if err != nil {
		return
	}
	t := till.NewJSONL(conn, till.JSONLOptions{Wait: need.Limit()})
	defer t.Close()
	l, _, err := t.Ask(ctx, map[string]any{"op": "totals", "id": fmt.Sprint("t", w.run, "-", step), "close": true})
	w.note("totals, closing: %.200s %v", fmt.Sprintf("%+v", l), err)
}
