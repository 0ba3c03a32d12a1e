package methods

import (
	"bufio"
	"context"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// amountLabel is what the page asks for an amount with.
const amountLabel = "Amount"

// customer stands at the terminal's page: it sees each scene of the stream, and presses the keys that the page has.
type customer struct {
	t    *testing.T
	base string

	mu     sync.Mutex
	choice string            // what it picks, as the page calls it
	typed  map[string]string // what it types, by what the page asks for
	saw    []string          // labels, and what else a page said
}

// The pieces of a scene of the stream.
var (
	formWord = regexp.MustCompile(`name="form" value="([^"]*)"`)
	labelled = regexp.MustCompile(`<p class="label">([^<]*)</p>`)
	valued   = regexp.MustCompile(`<p class="value">([^<]*)</p>`)
	spoken   = regexp.MustCompile(`data-say="([^"]*)"`)
	option   = regexp.MustCompile(`name="key" value="(\d)" id="k-\d"><b>\d</b> ([^<]*)</button>`)
)

// come opens the page at an address and follows it until the test ends.
func come(t *testing.T, address string) *customer {
	t.Helper()
	c := &customer{t: t, base: "http://" + address}
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/display/events", http.NoBody)
	require.NoError(t, err)
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.StatusCode)
	over := make(chan struct{})
	t.Cleanup(func() { cancel(); <-over; _ = res.Body.Close() })
	go func() {
		defer close(over)
		for in := bufio.NewScanner(res.Body); in.Scan(); {
			if scene, ok := strings.CutPrefix(in.Text(), "data: "); ok {
				c.look(ctx, scene)
			}
		}
	}()
	return c
}

// wishes says what the customer will pick and type from now on.
func (c *customer) wishes(choice string, typed map[string]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.choice, c.typed = choice, typed
}

// seen is what the pages have said so far.
func (c *customer) seen() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.saw)
}

// part is a piece of a scene as a person reads it; ok is false where the scene does not have it.
func part(of *regexp.Regexp, scene string) (text string, ok bool) {
	m := of.FindStringSubmatch(scene)
	if m == nil {
		return "", false
	}
	return html.UnescapeString(m[1]), true
}

// look presses the next key, where the scene asks for one.
func (c *customer) look(ctx context.Context, scene string) {
	word, keys := part(formWord, scene)
	label, prompt := part(labelled, scene)
	said, _ := part(spoken, scene)
	c.mu.Lock()
	c.saw = append(c.saw, said)
	if prompt {
		c.saw = append(c.saw, label)
	}
	key := ""
	switch value, _ := part(valued, scene); {
	case !keys:
	case prompt:
		key = next(c.typed[label], value, label == amountLabel)
	default:
		for _, o := range option.FindAllStringSubmatch(scene, -1) {
			if html.UnescapeString(o[2]) == c.choice {
				key = o[1]
			}
		}
	}
	c.mu.Unlock()
	if key != "" {
		c.press(ctx, word, key)
	}
}

// next is the key after what stands in the page's field.
func next(want, value string, amount bool) string {
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, value)
	if amount {
		digits = strings.TrimLeft(digits, "0")
	}
	switch rest, ok := strings.CutPrefix(want, digits); {
	case want == "":
		return ""
	case !ok:
		return "correct"
	case rest == "":
		return "confirm"
	default:
		return rest[:1]
	}
}

// press sends the page's form as a browser does. A form that is over by now does nothing.
func (c *customer) press(ctx context.Context, word, key string) {
	body := url.Values{"form": {word}, "key": {key}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/display", strings.NewReader(body))
	if err != nil {
		c.t.Error(err)
		return
	}
	for name, value := range map[string]string{
		"Content-Type": "application/x-www-form-urlencoded", "Origin": c.base,
		"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document",
	} {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		c.t.Errorf("key %s: %v", key, err)
		return
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusSeeOther {
		c.t.Errorf("key %s: %s", key, res.Status)
	}
}
