package pages

import (
	"strconv"
	"time"

	"posagent/agent/view"
)

// paces are how often the page of events may be loaded again by itself, in seconds; 0 = never.
var paces = [...]int{0, 5, 15, 60}

// Pace is the pace that a text names, 0 where it names none.
func Pace(text string) int {
	for _, n := range paces {
		if text == strconv.Itoa(n) {
			return n
		}
	}
	return 0
}

// Events is the page of what happened.
type Events struct {
	Lang    string // as Language gives it
	Now     time.Time
	Sandbox bool
	Path    string // of the page that it belongs to
	Pace    int    // seconds until it is loaded again; 0 = never
	List    []view.Happening
	Fault   error // why there is none; nil = there is
}

// HTML writes the page.
func (e Events) HTML() []byte {
	w := &writer{lang: e.Lang}
	w.begin(w.in(eventsTitle), e.Sandbox)
	w.put(`<nav aria-label="{}"><a href="{}">{}</a></nav></header><main>`, w.in(contents), e.Path, w.in(backLink))
	w.say(`<section aria-labelledby="pace"><h2 id="pace">{}</h2>`, paceTitle)
	if e.Pace > 0 {
		w.put(`<p role="status">{} {} {}.</p>`, w.in(paceNow), strconv.Itoa(e.Pace), w.in(seconds))
	} else {
		w.say(`<p>{}</p>`, paceNone)
	}
	w.put(`<p class="deeds">`)
	for _, n := range paces {
		current, label := "false", w.in(paceStop)
		switch {
		case n == 0 && e.Pace == 0: // there is nothing to stop
			continue
		case n > 0:
			label = w.in(paceEach) + " " + strconv.Itoa(n) + " " + w.in(seconds)
		}
		if n == e.Pace {
			current = "true"
		}
		w.put(`<a class="go" href="{}?show={}&amp;every={}" aria-current="{}">{}</a>`, e.Path, ShowEvents, strconv.Itoa(n), current, label)
	}
	w.say(`</p></section><section aria-labelledby="events"><h2 id="events">{}</h2>`, newestEvents)
	switch {
	case e.Fault != nil && view.Denied(e.Fault):
		w.put(`<p>{} <code lang="en">may: read</code></p>`, w.in(mayNotSee))
	case e.Fault != nil:
		w.say(`<p class="alert">{}</p>`, unreadable)
	case len(e.List) == 0:
		w.say(`<p>{}</p>`, noEvents)
	default:
		w.table(newestEvents, colTime, colEvent, colAmount, colReason, colSubject)
		for i := range e.List {
			h := &e.List[i]
			w.put(`<tr><th scope="row">`)
			w.time(h.At, e.Now)
			w.put(`</th><td lang="en">{}</td><td class="n">{}</td><td lang="en">{}</td><td>{}</td></tr>`, h.Event, w.money(h.Amount, h.Currency), h.Reason, h.Ref)
		}
		w.endTable()
	}
	w.put(`</section></main><footer><p>{} <time datetime="{}">{}</time></p></footer>`,
		w.in(asOf), e.Now.UTC().Format(time.RFC3339), e.Now.Local().Format("2006-01-02 15:04:05"))
	return w.end()
}
