package customer

import (
	"bufio"
	"context"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// AmountLabel is what the English page asks for an amount with.
const AmountLabel = "Amount"

// Customer follows one terminal's page until Leave. Its methods are safe for concurrent use.
type Customer struct {
	base  string // http://HOST:PORT
	leave context.CancelFunc
	left  chan struct{}

	mu     sync.Mutex
	there  chan struct{}     // closed while the page is followed
	choice string            // what it picks, as the page calls it
	typed  map[string]string // what it types, by what the page asks for
	saw    []string          // labels, and what else a page said
	failed error
}

// The pieces of a scene of the stream.
var (
	formWord = regexp.MustCompile(`name="form" value="([^"]*)"`)
	labelled = regexp.MustCompile(`<p class="label">([^<]*)</p>`)
	valued   = regexp.MustCompile(`<p class="value">([^<]*)</p>`)
	spoken   = regexp.MustCompile(`data-say="([^"]*)"`)
	option   = regexp.MustCompile(`name="key" value="(\d)" id="k-\d"><b>\d</b> ([^<]*)</button>`)
)

// again is the pause before a page that is not there is looked for again.
const again = 20 * time.Millisecond

// Come follows the page at an address, HOST:PORT, and looks for it again when it is lost.
func Come(address string) *Customer {
	ctx, leave := context.WithCancel(context.Background())
	c := &Customer{base: "http://" + address, leave: leave, left: make(chan struct{}), there: make(chan struct{})}
	go func() {
		defer close(c.left)
		for ctx.Err() == nil {
			c.follow(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(again):
			}
		}
	}()
	return c
}

// Leave ends it, and returns what went wrong, if anything did.
func (c *Customer) Leave() error {
	c.leave()
	<-c.left
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// Wishes says what the customer picks and types from now on.
func (c *Customer) Wishes(choice string, typed map[string]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.choice, c.typed = choice, typed
}

// Saw is what the pages have said so far.
func (c *Customer) Saw() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.saw)
}

// Watches waits until the page is followed. It fails when ctx ends before.
func (c *Customer) Watches(ctx context.Context) error {
	c.mu.Lock()
	there := c.there
	c.mu.Unlock()
	select {
	case <-there:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the page %s/display: %w", c.base, ctx.Err())
	}
}

// follow follows the page until it is lost.
func (c *Customer) follow(ctx context.Context) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/display/events", http.NoBody)
	if err != nil {
		c.fail(err)
		return
	}
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return // the terminal is down
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return
	}
	defer func() {
		c.mu.Lock()
		c.there = make(chan struct{})
		c.mu.Unlock()
	}()
	first := true
	for in := bufio.NewScanner(res.Body); in.Scan(); {
		scene, ok := strings.CutPrefix(in.Text(), "data: ")
		if !ok {
			continue
		}
		if first {
			c.mu.Lock()
			close(c.there)
			c.mu.Unlock()
			first = false
		}
		c.look(ctx, scene)
	}
}

func (c *Customer) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed == nil {
		c.failed = err
	}
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
func (c *Customer) look(ctx context.Context, scene string) {
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
		key = next(c.typed[label], value, label == AmountLabel)
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

// next is the key after what stands in the page's field, "" where nothing is to be typed.
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

// press sends the page's form as a browser does. A form that is over by now does nothing, and neither does one to a terminal that has gone
// meanwhile.
func (c *Customer) press(ctx context.Context, word, key string) {
	body := url.Values{"form": {word}, "key": {key}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/display", strings.NewReader(body))
	if err != nil {
		c.fail(err)
		return
	}
	for name, value := range map[string]string{
		"Content-Type": "application/x-www-form-urlencoded", "Origin": c.base,
		"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document",
	} {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusSeeOther {
		c.fail(fmt.Errorf("key %s: %s", key, res.Status))
	}
}
