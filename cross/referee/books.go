package referee

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Entry is a line of the backend's books.
type Entry struct {
	Service, ID, Reference, Original, Type string
	Amount                                 int64 // minor units
	Moved                                  bool  // money; a payment that was declined stands in the books without
}

// The services that are compared with the books.
const (
	schemes = "aapay"
	cards   = "payments"
)

// create is the route that makes a payment.
const create = "/api/v1/payments"

// reached records a write that reached the backend, and what the backend answered.
func (r *Referee) reached(req *http.Request, body []byte, status int, answer []byte) {
	path := strings.TrimSuffix(strings.ToLower(req.URL.Path), "/")
	r.mu.Lock()
	defer r.mu.Unlock()
	if status != http.StatusOK && status != http.StatusCreated && status != http.StatusAccepted {
		if path == create && status < http.StatusInternalServerError {
			r.refusals[req.Header.Get(keyHeader)] = true
		}
		return
	}
	e, ok := r.effect(path, body, answer)
	if !ok {
		return
	}
	if key := req.Header.Get(keyHeader); key != "" {
		if was := r.answers[key]; was != "" && was != e.id {
			r.wrong("Key %s made %s and %s", key, was, e.id)
		}
		r.answers[key] = e.id
	}
	at := e.service + " " + e.id
	if was, known := r.effects[at]; known && was != e {
		r.wrong("%s was made twice: %+v, then %+v", at, was, e)
	}
	r.effects[at] = e
}

// lost records a write that reached the backend, and whose answer nobody has. Of a transaction of a scheme the request alone tells what
// it may have made; a card operation is sent again until it is answered.
func (r *Referee) lost(req *http.Request, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	path := strings.TrimSuffix(strings.ToLower(req.URL.Path), "/")
	e, ok := r.effect(path, body, nil)
	if !ok || e.service != schemes {
		return
	}
	at := e.service + " " + e.id
	for _, list := range []map[string]effect{r.effects, r.unheard} {
		if was, known := list[at]; known && was != e {
			r.wrong("%s was asked for twice: %+v, then %+v", at, was, e)
		}
	}
	r.unheard[at] = e
}

// effect is what an answered write made. The caller holds mu.
func (r *Referee) effect(path string, body, answer []byte) (e effect, ok bool) {
	var asked struct {
		TerminalReference string
		Processing        string
		Amount            *int64
		PurchaseAmount    *struct{ TotalAmount int64 }
	}
	var said struct{ PaymentID, TransactionRef string }
	_, _ = json.Unmarshal(body, &asked), json.Unmarshal(answer, &said) // an empty body asks for everything that is left
	e.amount = -1
	if at, is := scheme(path); is {
		e.service, e.id, e.kind = schemes, asked.TerminalReference, strings.Replace(at.name, "purchase", "payment", 1)
		if asked.PurchaseAmount != nil && e.kind == "payment" {
			e.amount = asked.PurchaseAmount.TotalAmount
		}
		return e, e.id != ""
	}
	rest, is := strings.CutPrefix(path, create)
	if asked.Amount != nil {
		e.amount = *asked.Amount
	}
	e.service = cards
	switch part := strings.Split(strings.Trim(rest, "/"), "/"); {
	case !is:
		return e, false
	case rest == "":
		e.id, e.kind = strings.ToLower(said.PaymentID), "payment"
		if p := strings.ToLower(asked.Processing); e.id != "" && (p == "sale" || p == "authorize") {
			r.made[e.id] = map[string]int{"authorize": 1, "sale": 2}[p]
		}
	case len(part) == 2:
		e.id, e.original, e.kind = strings.ToLower(said.TransactionRef), part[0], part[1]
	}
	return e, e.id != ""
}

// Verdict returns the violations: those of the wire, and what the books show otherwise than was answered.
func (r *Referee) Verdict(books []Entry) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := slices.AppendSeq(slices.Clone(r.violations), maps.Values(r.early))
	wrong := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	there, by, declined := map[string]bool{}, map[string]int{}, 0
	for _, b := range books {
		id, original := strings.ToLower(b.ID), strings.ToLower(b.Original)
		if b.Service == schemes {
			id, original = b.Reference, ""
		} else if b.Service != cards {
			continue
		}
		at := b.Service + " " + id
		e, asked := r.effects[at]
		if !asked {
			e, asked = r.unheard[at]
		}
		switch {
		case there[at]:
			wrong("%s stands twice in the books", at)
		case !asked && b.Service == cards && (b.Type == "authorize" || b.Type == "capture") && by[original] < r.made[original]:
			by[original]++ // by the create itself
		case !asked && b.Service == cards && b.Type == "payment" && !b.Moved && declined < len(r.refusals):
			declined++
		case !asked:
			wrong("%s (%s of %d) stands in the books, and no request made it", at, b.Type, b.Amount)
		case e.kind != strings.ToLower(b.Type) || e.original != original:
			wrong("%s is a %s of %q in the books, the wire asked for %s of %q", at, b.Type, original, e.kind, e.original)
		case e.amount >= 0 && e.amount != b.Amount:
			wrong("%s is %d in the books, the wire asked for %d", at, b.Amount, e.amount)
		}
		there[at] = true
	}
	for at, e := range r.effects {
		if !there[at] {
			wrong("%s (%s) was answered, and is not in the books", at, e.kind)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
