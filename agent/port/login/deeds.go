package login

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"posagent/agent/outbox"
	"posagent/agent/port/pages"
	"posagent/agent/view"
	"posagent/schemes/wire"
)

const (
	maxForm   = 8 << 10 // bytes
	maxReason = 400     // characters
	within    = 30 * time.Second
)

// take takes a form of the page. It counts once, and only as a form of this page.
func (c *Console) take(w http.ResponseWriter, r *http.Request, s shown) {
	form, err := parse(r)
	site := r.Header["Sec-Fetch-Site"] // the guard has looked at it; a mistake in mounting must not open this
	kind := r.Header.Get("Content-Type")
	if err != nil || len(site) != 1 || site[0] != "same-origin" || !strings.HasPrefix(kind, "application/x-www-form-urlencoded") {
		http.Error(w, "want the form of the page", http.StatusBadRequest)
		return
	}
	if !c.sessions.spend(s.word, s.cookie, s.pin, form.Get(pages.FormField)) {
		c.say(w, r, s, pages.Said{Fault: pages.OldForm}, nil)
		return
	}
	if form.Has(pages.LeaveField) {
		c.sessions.leave(s.word)
		setCookie(w, s.at(), "", -1)
		leadTo(w, "/")
		return
	}
	c.act(w, r, s, form)
}

// say answers with the terminal and why nothing was done.
func (c *Console) say(w http.ResponseWriter, r *http.Request, s shown, said pages.Said, err error) {
	word, _, ok := c.sessions.look(s.word, s.cookie, s.pin)
	if !ok {
		c.over(w, r)
		return
	}
	c.terminal(w, r, statusOf(said, err), pages.Acts{Path: s.at(), Form: word, Said: said})
}

// act does what a form asks for, and leads the browser back to the page.
func (c *Console) act(w http.ResponseWriter, r *http.Request, s shown, form url.Values) {
	do, key := pages.Do(form.Get(pages.DoField)), wire.Key(form.Get(pages.KeyField))
	reason, state := plain(form.Get(pages.ReasonField)), outbox.State(form.Get(pages.StateField))
	ctx, cancel := context.WithTimeout(actor(r), within)
	defer cancel()
	said := pages.Said{Do: do}
	var err error
	switch do {
	case pages.DoAck:
		fault := pages.NotRefused
		if fault, err = c.alert(ctx, key, form); err != nil {
			break
		}
		if fault != pages.NotRefused {
			c.say(w, r, s, pages.Said{Do: do, Fault: fault}, nil)
			return
		}
		err = c.o.Ops.Acknowledge(ctx, key)
	case pages.DoSend:
		err = c.o.Ops.SendNow(ctx, key)
	case pages.DoSendAll:
		said.Count, err = c.o.Ops.SendAll(ctx)
	case pages.DoHold:
		if reason == "" {
			c.askAgain(w, r, s, do, key, form, pages.WantsReason)
			return
		}
		err = c.o.Ops.Hold(ctx, key, reason)
	case pages.DoRelease:
		fault := pages.NotRefused
		if fault, err = c.seen(ctx, key, form); err != nil {
			break
		}
		if fault != pages.NotRefused {
			c.askAgain(w, r, s, do, key, form, fault)
			return
		}
		err = c.o.Ops.Release(ctx, key)
	case pages.DoResolve:
		switch {
		case state != outbox.Done && state != outbox.Failed:
			c.askAgain(w, r, s, do, key, form, pages.WantsWord)
			return
		case reason == "":
			c.askAgain(w, r, s, do, key, form, pages.WantsProof)
			return
		}
		fault := pages.NotRefused
		if fault, err = c.seen(ctx, key, form); err != nil {
			break
		}
		if fault != pages.NotRefused || !form.Has(pages.SureField) {
			c.askAgain(w, r, s, do, key, form, fault)
			return
		}
		err = c.o.Ops.Resolve(ctx, key, state, reason)
	default:
		c.say(w, r, s, pages.Said{Fault: pages.UnknownDo}, nil)
		return
	}
	if errors.Is(err, outbox.ErrUnknown) { // in a journal that took a lost one's place that is not "no"
		err = c.o.Daemon.DB.Read(ctx, view.NoOperation)
	}
	if err != nil {
		if outbox.CodeOf(err) == wire.Internal {
			c.o.Log.Error("deed of the page failed", "do", string(do), "op", string(key), "err", err)
		}
		c.say(w, r, s, refusal(do, err), err)
		return
	}
	c.sessions.say(s.word, said)
	leadTo(w, s.at())
}

// seen is pages.Changed where an operation has gone on since the page of a decision about it, or of its release, was shown: what its person
// has looked up then need not be so any more.
func (c *Console) seen(ctx context.Context, key wire.Key, form url.Values) (pages.Refuse, error) {
	v, err := c.o.Daemon.Operation(ctx, string(key))
	if err == nil && form.Get(pages.SeenField) != pages.SeenAs(v.Operation) {
		return pages.Changed, nil
	}
	return pages.NotRefused, err
}

// alert is pages.Changed where a sale or an operation has another alert by now than its person has read. A finding of the daily comparison
// has another key where it says something else.
func (c *Console) alert(ctx context.Context, key wire.Key, form url.Values) (pages.Refuse, error) {
	a, err := c.o.Daemon.AlertOf(ctx, key)
	switch {
	case errors.Is(err, outbox.ErrNoAlert):
		return pages.NotRefused, nil
	case err == nil && form.Get(pages.SeenField) != pages.AlertAs(a.At, a.Reason):
		return pages.Changed, nil
	}
	return pages.NotRefused, err
}

// askAgain answers with the page of a deed once more: for what was missing in its form, or to have a
// decision confirmed.
func (c *Console) askAgain(w http.ResponseWriter, r *http.Request, s shown, do pages.Do, key wire.Key, form url.Values, fault pages.Refuse) {
	word, _, ok := c.sessions.look(s.word, s.cookie, s.pin)
	if !ok {
		c.over(w, r)
		return
	}
	a := pages.Ask{
		Do: do, Reason: plain(form.Get(pages.ReasonField)), State: form.Get(pages.StateField), Sure: fault == pages.NotRefused,
		Acts: pages.Acts{Path: s.at(), Form: word, Said: pages.Said{Fault: fault}},
	}
	status := http.StatusBadRequest
	switch {
	case a.Sure:
		status = http.StatusOK
	case fault == pages.Changed:
		status = http.StatusConflict
	}
	c.ask(w, r, status, a, key)
}

// plain is a reason as it is kept: on one line, without what a screen would obey, and bounded.
func plain(text string) string {
	text = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))), " ")
	if list := []rune(text); len(list) > maxReason {
		text = string(list[:maxReason])
	}
	return text
}
