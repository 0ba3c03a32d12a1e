package login

import (
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
	"posagent/agent/port/pages"
	"posagent/store"
)

var seenWord = regexp.MustCompile(`name="seen" value="([A-Z]+/[0-9]+[/0-9a-f]*)"`)

// TestField5_PortADecisionIsOfWhatWasSeen: a person opened the page of a decision while an operation was held, and looked into the
// backend's books: it was not there. Meanwhile it was released, by a trusted Date or by another person, and sent, and its answer was lost.
// The decision "declined" was then taken for the operation in doubt, whose money had moved, and its client asked for it anew. The kind:
// both steps of a decision, and a form that does not say what was seen. A release is TestField6_AReleaseIsOfWhatWasSeen, and the other
// deeds decide nothing but an acknowledgement (TestField5_PortAnAcknowledgementIsOfTheAlertThatWasRead).
func TestField5_PortADecisionIsOfWhatWasSeen(t *testing.T) {
	for _, step := range []string{"the decision", "its confirmation", "a form that says nothing"} {
		x := newDesk(t)
		b := x.enter()
		page := x.ask("GET", b, url.Values{"show": {"resolve"}, "key": {string(x.key)}}, nil).Body.String()
		form := func() url.Values {
			f := url.Values{"do": {"resolve"}, "key": {string(x.key)}, "state": {"FAILED"}, "reason": {"portal, M. Berg"}, "form": {formWord.FindStringSubmatch(page)[1]}}
			f.Set("seen", seenWord.FindStringSubmatch(page)[1])
			return f
		}
		if step == "its confirmation" {
			w := x.ask("POST", b, form(), nil)
			require.Equal(t, 200, w.Code)
			page = w.Body.String()
		}
		f := form()
		if step == "a form that says nothing" {
			f.Del("seen")
		} else {
			require.NoError(t, x.box.Hold(t.Context(), x.key, "it goes on"))
		}
		if step != "the decision" {
			f.Set("sure", "1")
		}
		w := x.ask("POST", b, f, nil)
		require.Equal(t, 409, w.Code, step)
		require.Contains(t, w.Body.String(), "has gone on since this page was opened", step)
		require.Empty(t, x.did.list, step)

		page = w.Body.String() // which shows it as it is now
		w = x.ask("POST", b, form(), nil)
		require.Equal(t, 200, w.Code, step)
		page = w.Body.String()
		f = form()
		f.Set("sure", "1")
		require.Equal(t, 303, x.ask("POST", b, f, nil).Code, step)
		require.Len(t, x.did.list, 1, step)
	}
}

// TestField5_PortAnAcknowledgementIsOfTheAlertThatWasRead: a person read on the page that nobody had fetched an approval. While the page
// stood open the same customer was asked to pay once more, and the alert became "possibly twice". The button took that alert away, which
// no person had read. The kind: an alert with another reason, one that was raised again, and a form that does not say what was read.
func TestField5_PortAnAcknowledgementIsOfTheAlertThatWasRead(t *testing.T) {
	for name, c := range map[string]struct {
		then, seen string // "-" = nothing
		code       int
	}{
		"the same":                 {"", "", 303},
		"another reason":           {"possibly twice", "", 409},
		"raised again":             {"nobody has fetched it", "", 409},
		"a form that says nothing": {"", "-", 409},
	} {
		x := newDesk(t)
		now := time.Now()
		box := outbox.NewOutbox(outbox.Options{DB: x.c.o.Daemon.DB, Now: func() time.Time { return now }})
		raise := func(reason string) {
			now = now.Add(time.Minute)
			require.NoError(t, x.c.o.Daemon.DB.Write(t.Context(), func(tx store.Tx) error {
				return box.Raise(tx, outbox.Alert{Key: "sale-1", Kind: outbox.AboutSale, Subject: "receipt 7", Reason: reason, AmountMin: 1250, Currency: "EUR"})
			}))
		}
		raise("nobody has fetched it")
		b := x.enter()
		page := x.ask("GET", b, nil, nil).Body.String()
		form := url.Values{"do": {"ack"}, "key": {"sale-1"}, "form": {formWord.FindStringSubmatch(page)[1]}, "seen": {pages.AlertAs(now, "nobody has fetched it")}}
		if c.seen == "-" {
			form.Del("seen")
		}
		if c.then != "" {
			raise(c.then)
		}
		w := x.ask("POST", b, form, nil)
		require.Equal(t, c.code, w.Code, name)
		require.Equal(t, c.code == 303, len(x.did.list) == 1, name)
		if c.code == 409 {
			require.Contains(t, w.Body.String(), "has gone on since this page was opened", name)
		}
	}
}
