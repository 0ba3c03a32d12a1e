package login

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestField6_AReleaseIsOfWhatWasSeen: a person opened the page on which an operation is released: it was held since the journal was
// restored. Meanwhile all was released, and before it was sent another person held it anew, "paid back in cash, do not send". The button
// of the page that stood open released that one, too, and the money went back twice. The kind: a release and a decision of an operation
// that is held again, for another reason and after as many attempts; and a release whose form does not say what was seen. Held and seen so,
// it is released and decided.
func TestField6_AReleaseIsOfWhatWasSeen(t *testing.T) {
	for name, c := range map[string]struct {
		do   url.Values
		then string // the reason of the other hold, "" = none
		say  bool
		code int
	}{
		"a release":                              {url.Values{"do": {"release"}}, "", true, 303},
		"a release of another hold":              {url.Values{"do": {"release"}}, "paid back in cash", true, 409},
		"a release that does not say":            {url.Values{"do": {"release"}}, "", false, 409},
		"a decision":                             {url.Values{"do": {"resolve"}, "state": {"FAILED"}, "reason": {"portal"}, "sure": {"1"}}, "", true, 303},
		"a decision that is of another hold now": {url.Values{"do": {"resolve"}, "state": {"FAILED"}, "reason": {"portal"}, "sure": {"1"}}, "sent by hand", true, 409},
	} {
		x := newDesk(t)
		require.NoError(t, x.box.Hold(t.Context(), x.key, "the journal was restored"), name)
		b := x.enter()
		page := x.ask("GET", b, url.Values{"show": c.do["do"], "key": {string(x.key)}}, nil).Body.String()
		form := with(c.do, formWord.FindStringSubmatch(page)[1])
		form.Set("key", string(x.key))
		if c.say {
			form.Set("seen", seenWord.FindStringSubmatch(page)[1])
		}
		if c.then != "" {
			require.NoError(t, x.box.Release(t.Context(), x.key), name)
			require.NoError(t, x.box.Hold(t.Context(), x.key, c.then), name)
		}
		w := x.ask("POST", b, form, nil)
		require.Equal(t, c.code, w.Code, name)
		require.Equal(t, c.code == 303, len(x.did.list) == 1, name)
		if c.code == 409 {
			require.Contains(t, w.Body.String(), "has gone on since this page was opened", name)
		}
		if c.then != "" {
			require.Contains(t, w.Body.String(), c.then, name)
		}
	}
}
