package change

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"posagent/cross/need"
	"posagent/cross/program"
	"posagent/cross/tills"
	"posagent/ecr/till"
)

// calm ends what goes on, lets each till and client ask for its end that wants it, and waits until nothing happens by itself. It returns
// what the terminal says then.
func (w *world) calm(ctx context.Context) (rows []row, ops []operation, err error) {
	w.net.set()
	if !w.terminal.Alive() {
		w.violate("the terminal has died: %s: %s", w.terminal.Cmd.ProcessState, last(w.log.String(), 700))
		return nil, nil, errEnded
	}
	for _, s := range w.sales {
		// One that knows its end asks once more where the journal is another now.
		if s.protocol.IDs && !s.leaves && (s.word == till.Nothing || w.replaced != s.replaced) {
			w.again(ctx, s, true, 8)
		}
		w.confirm(ctx, s)
	}
	for _, x := range w.writes {
		if !x.refused {
			w.finish(ctx, x)
		}
	}
	// An approval that no till has heard is kept until the day ends, or undone when its grace is over.
	open := func(r row) bool {
		return !r.Settled && !(r.Result == "approved" && r.Phase != "unconfirmed") && r.Aside == "" && !r.Quarantined
	}
	began := time.Now()
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 800*time.Millisecond) {
		if rows, err = w.rows(); err != nil {
			return rows, ops, err
		}
		if !slices.ContainsFunc(rows, open) || time.Since(began) > min(need.Limit()/4, enough) || !pass(ctx, wait) {
			break
		}
	}
	ops, err = w.operations()
	return rows, ops, err
}

// account is what one root of the books came to: a payment with everything that was done to it.
type account struct {
	site  int
	entry program.Entry
	net   int64
}

// books reads the books of all backends.
func (w *world) books() (list []account, text string, err error) {
	for i, s := range w.sites {
		if s.Process == nil {
			continue
		}
		entries, err := program.Books(w.bin, w.path(fmt.Sprintf("backend%d", i)))
		if err != nil {
			return nil, "", err
		}
		of := map[string]int{}
		for _, e := range entries {
			text += fmt.Sprintf("  backend %d: %s %s %s of %s, reference %s, %s: %s, %d to the merchant\n", i, e.Service, e.Type, e.ID, e.Original, e.Reference, spelled(e.Amount), e.State, e.Net())
			if e.Original == "" {
				of[e.Service+e.ID] = len(list)
				list = append(list, account{i, e, e.Net()})
			}
		}
		for _, e := range entries {
			if at, ok := of[e.Service+e.Original]; ok && e.Original != "" {
				list[at].net += e.Net()
			}
		}
	}
	return list, text, nil
}

// claim is what the merchant must have of all requests over one amount.
type claim struct {
	least, most int64
	times       int // how often it may have been paid
	why         []string
	excused     string
	question    bool // its till heard that a person has to look
	named       bool // a person was told of it, by a journal that is gone
}

// alerted says of an amount whether the terminal names its sale to a person, or still works on it.
func alerted(rows []row, attention string) func(amount int64) bool {
	works := map[int64]bool{}
	for _, r := range rows {
		if !r.Settled || r.Aside != "" || r.Quarantined || strings.Contains(attention, r.ID) || r.Reference != "" && strings.Contains(attention, r.Reference) {
			works[r.Amount] = true
		}
	}
	return func(amount int64) bool { return works[amount] || whole(attention, spelled(amount)) }
}

// judge holds what was told against the books. It returns them as text.
func (w *world) judge(rows []row) (string, error) {
	list, text, err := w.books()
	if err != nil {
		return "", err
	}
	attention, err := w.attention()
	if err != nil {
		return text, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	claims := map[int64]*claim{}
	of := func(amount int64) *claim {
		if claims[amount] == nil {
			claims[amount] = &claim{}
		}
		return claims[amount]
	}
	for _, s := range w.sales {
		c := of(s.amount)
		c.times++
		c.why = append(c.why, s.String())
		least, most := int64(0), s.amount
		if s.sure {
			least = s.amount
		} else if tills.NotPaid(s.word) || s.word == till.NotFound {
			most = 0
		}
		c.least, c.most = c.least+least, c.most+most
		for _, b := range s.backs { // of which of several equal sales, a receipt number has said
			c.least, c.most = c.least-b.most, c.most-b.least
			c.why = append(c.why, fmt.Sprintf("given back at least %d, at most %d", b.least, b.most))
		}
		if s.excused != "" {
			c.excused = s.excused
		}
		c.question, c.named = c.question || s.question, c.named || s.named
	}
	for _, x := range w.writes {
		if x.about != nil {
			continue
		}
		c := of(x.amount)
		c.times++
		c.why = append(c.why, x.String())
		least, most := int64(0), x.amount
		switch {
		case x.kind == "link" && !x.paid, x.kind == "pay" && x.refused:
			most = 0
		case x.paid, x.kind == "pay" && x.done:
			least = x.amount
		}
		for _, y := range w.writes {
			if y.about != x {
				continue
			}
			if c.why = append(c.why, y.String()); !y.refused {
				least = max(0, least-y.amount)
			}
			if y.done {
				most = max(0, most-y.amount)
			}
		}
		c.least, c.most = c.least+least, c.most+most
	}
	net, paid := map[int64]int64{}, map[int64]int{}
	references := map[string]int64{}
	for _, a := range list {
		amount := a.entry.Amount
		if a.entry.Reference != "" {
			references[a.entry.Reference] += a.net
		}
		if amount >= strange && amount < strange+100_000 {
			if a.net == 0 && a.entry.Net() != 0 || a.net > 0 && a.net < amount {
				w.wrong = append(w.wrong, fmt.Sprintf("ANOTHER'S: %s of another terminal's payment %s (%s) were given back", spelled(amount-a.net), a.entry.ID, a.entry.Reference))
			}
			continue
		}
		if net[amount] += a.net; a.net > 0 {
			paid[amount]++
		}
		if claims[amount] == nil && a.net != 0 {
			w.wrong = append(w.wrong, fmt.Sprintf("nobody asked for %s %s of %s", a.entry.Service, a.entry.ID, spelled(amount)))
		}
	}
	now := alerted(rows, attention)
	var amounts []int64
	for amount := range claims {
		amounts = append(amounts, amount)
	}
	sort.Slice(amounts, func(i, j int) bool { return amounts[i] < amounts[j] })
	for _, amount := range amounts {
		c := claims[amount]
		named := c.named || now(amount) || whole(attention, fmt.Sprint(amount))
		switch {
		case paid[amount] > c.times:
			w.wrong = append(w.wrong, fmt.Sprintf("TWICE: %s was asked for %d times, and paid %d times: %s", spelled(amount), c.times, paid[amount], strings.Join(c.why, "\n    ")))
		case net[amount] < max(0, c.least):
			w.wrong = append(w.wrong, fmt.Sprintf("TOLD APPROVED: the merchant has %s of %s (at least %s): %s", spelled(net[amount]), spelled(amount), spelled(c.least), strings.Join(c.why, "\n    ")))
		case c.question && net[amount] > 0 && !named:
			w.wrong = append(w.wrong, fmt.Sprintf("NO ALERT: the merchant has %s of %s, and the till alone heard that the journal was replaced: %s", spelled(net[amount]), spelled(amount), strings.Join(c.why, "\n    ")))
		case net[amount] > max(0, c.most) && c.excused == "" && !named:
			w.wrong = append(w.wrong, fmt.Sprintf("TOLD NOT PAID: the merchant has %s of %s (at most %s), and the terminal names it to nobody: %s",
				spelled(net[amount]), spelled(amount), spelled(c.most), strings.Join(c.why, "\n    ")))
		}
	}
	found := strings.Join(w.wrong, "\n")
	for _, r := range rows {
		if moved := references[r.Reference]; r.Kind == "payment" && r.Reference != "" && r.Settled && r.Result != "approved" && moved != 0 && !now(r.Amount) && !strings.Contains(found, "of "+spelled(r.Amount)) {
			w.wrong = append(w.wrong, fmt.Sprintf("SETTLED: the journal has sale %s of %s %s (%s), at its end; the merchant has %s of it", r.ID, spelled(r.Amount), r.Result, r.Phase, spelled(moved)))
		}
	}
	return text + "attention: " + attention, nil
}

// report is a run as a person reads it who repeats it.
func (w *world) report(rows []row, ops []operation, books string) string {
	text := w.plan.String() + "\n"
	for _, r := range rows {
		text += fmt.Sprintf("  journal: %s\n", strings.TrimSpace(fmt.Sprintf("%+v", r)))
	}
	for _, o := range ops {
		text += fmt.Sprintf("  operation: %+v\n", o)
	}
	return text + "books:\n" + books + "\nwhat happened:\n  " + strings.Join(w.trail, "\n  ") + "\nwire:\n  " + strings.Join(w.net.log, "\n  ")
}

// left is a world whose terminal still works on a sale.
func left(rows []row) bool {
	return slices.ContainsFunc(rows, func(r row) bool { return !r.Settled && r.Result != "approved" })
}
