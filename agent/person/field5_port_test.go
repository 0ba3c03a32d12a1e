package person

import (
	"net/url"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

var seenWord = regexp.MustCompile(`name="seen" value="([A-Z]+/[0-9]+)"`)

// TestField5_PortADecisionIsOfWhatWasSeen: a person opened the page of a decision while an operation was held, and looked into the
// backend's books: it was not there. Meanwhile it was released, by a trusted Date or by another person, and sent, and its answer was lost.
// The decision "declined" was then taken for the operation in doubt, whose money had moved, and its client asked for it anew. The kind:
// both steps of a decision, and a form that does not say what was seen. A release is of an operation that is held alone, and the other
// deeds decide nothing.
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
