package upstream

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"posagent/schemes/wire"
)

const (
	tokenLife = 5 * time.Minute // of a token that does not say
	tokenMost = 24 * time.Hour

	firstRest   = 5 * time.Second  // after a no of the token service; doubling
	longestRest = 15 * time.Minute // after a refusal: it counts them, and may lock the account
	brokenRest  = time.Minute      // after an answer of its that is no word about us
	wishRest    = time.Hour        // the most that its own wish to wait is worth

	dropsAtOnce = 3           // tokens that services refuse, before new ones are had
	dropsIn     = time.Minute // once in this time
)

// authorizer makes the Authorization header.
type authorizer struct {
	fixed    string
	id, key  wire.Secret
	tokenURL string
	client   *http.Client
	now      func() time.Time

	mu      sync.Mutex
	token   string
	expires time.Time
	flight  *flight
	noes    int       // in a row
	rests   time.Time // until then the token service is not asked
	last    error     // its no
	drops   int       // of tokens, since
	since   time.Time
}

// flight is one fetch that all callers share.
type flight struct {
	done chan struct{}
	err  error
}

func newAuthorizer(a Auth, base *url.URL, client *http.Client, now func() time.Time) (*authorizer, error) {
	z := &authorizer{client: client, now: now}
	switch {
	case a.Bearer != "":
		z.fixed = "Bearer " + a.Bearer.Reveal()
	case a.ConsumerKey != "" || a.ConsumerSecret != "":
		z.fixed = "Bearer " + base64.StdEncoding.EncodeToString([]byte(a.ConsumerKey.Reveal()+":"+a.ConsumerSecret.Reveal()))
	case a.ClientID != "":
		z.id, z.key, z.tokenURL = a.ClientID, a.ClientSecret, a.TokenURL
		if z.tokenURL == "" {
			z.tokenURL = strings.TrimRight(base.String(), "/") + "/token"
		}
		u, err := url.Parse(z.tokenURL)
		if err != nil || u.Scheme != base.Scheme || !strings.EqualFold(u.Host, base.Host) {
			return nil, errors.New("upstream: the token address is not on the backend's host")
		}
	}
	if strings.ContainsAny(z.fixed, "\r\n\x00") {
		return nil, errors.New("upstream: a credential contains a control character")
	}
	return z, nil
}

// header gives the header's value, fetching a token when there is none that is good.
func (z *authorizer) header(ctx context.Context) (string, error) {
	if z.fixed != "" || z.tokenURL == "" {
		return z.fixed, nil
	}
	for {
		z.mu.Lock()
		if left := z.expires.Sub(z.now()); z.token != "" && left > 0 && left <= tokenMost {
			defer z.mu.Unlock()
			return z.token, nil
		}
		f := z.flight
		if left := z.rests.Sub(z.now()); f == nil && z.last != nil && left > 0 && left <= wishRest {
			defer z.mu.Unlock()
			e := *wire.AsError("", z.last)
			e.RetryAfter, e.Err = left, errors.Join(errRests, e.Err)
			return "", &e
		}
		if f == nil {
			f = &flight{done: make(chan struct{})}
			z.flight = f
			go z.fetch(context.WithoutCancel(ctx), f)
		}
		z.mu.Unlock()
		select {
		case <-f.done:
			if f.err != nil {
				return "", f.err
			}
		case <-ctx.Done():
			return "", &wire.Error{Code: wire.Unavailable, Msg: "no token in time", Err: ctx.Err()}
		}
	}
}

// drop forgets a token the backend refused; it reports whether a new one can be had.
func (z *authorizer) drop(token string) bool {
	if z.tokenURL == "" || token == "" {
		return false
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.token != token {
		return true
	}
	if now := z.now(); now.Sub(z.since).Abs() >= dropsIn {
		z.since, z.drops = now, 0
	}
	if z.drops++; z.drops > dropsAtOnce { // a new one is refused as the one before: its service refuses the account
		return false
	}
	z.token = ""
	return true
}

// fetch gets a token for everybody who waits.
func (z *authorizer) fetch(ctx context.Context, f *flight) {
	ctx = detached{ctx} // the caller's trace must not take this exchange for its own
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	token, life, wish, err := z.ask(ctx)
	z.mu.Lock()
	defer z.mu.Unlock()
	if err == nil {
		z.token, z.expires = token, z.now().Add(life)
		z.noes, z.last = 0, nil
	} else {
		z.rest(err, wish)
	}
	f.err, z.flight = err, nil
	close(f.done)
}

// rest lets the token service be after a no: so long as it wishes, else ever longer. Where no answer came, the circuit decides.
func (z *authorizer) rest(err error, wish time.Duration) {
	kind, _ := FaultOf(err)
	most := brokenRest
	switch {
	case kind == Credentials, kind == TooMany:
		most = longestRest
	case wish < 0:
		z.last = nil
		return
	}
	pause := most
	if z.noes < 10 {
		pause = min(firstRest<<z.noes, most)
	}
	z.noes++
	z.last, z.rests = err, z.now().Add(max(pause, wish))
}

// detached is a context without its values.
type detached struct{ context.Context }

func (detached) Value(any) any { return nil }

// ask asks for a token. wish is how long the service wants to be left alone, below 0 = it has not answered.
func (z *authorizer) ask(ctx context.Context) (token string, life, wish time.Duration, err error) {
	form := strings.NewReader("grant_type=client_credentials")
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, z.tokenURL, form)
	if err != nil {
		return "", 0, -1, &wire.Error{Code: wire.Unavailable, Msg: "token address", Err: err}
	}
	req.SetBasicAuth(z.id.Reveal(), z.key.Reveal())
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	resp, err := z.client.Do(req)
	if err != nil {
		return "", 0, -1, &wire.Error{Code: wire.Unavailable, Msg: "no token", Err: err}
	}
	defer resp.Body.Close()
	wish = wire.RetryAfterWithin(resp.Header, wishRest)
	text, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return "", 0, -1, &wire.Error{Code: wire.Unavailable, Msg: "no token", Err: err}
	}
	switch resp.StatusCode {
	case http.StatusOK, http.StatusCreated:
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden:
		return "", 0, wish, wire.Errorf(wire.Unauthorized, "", "the token service refuses the client credentials (%d)", resp.StatusCode)
	default:
		return "", 0, wish, &wire.Error{Code: wire.Unavailable, Msg: "no token", Err: statusError(resp.StatusCode)}
	}
	if kind, _ := FaultOfReply(resp); kind == Portal {
		return "", 0, wish, &wire.Error{Code: wire.Unavailable, Msg: "no token", Err: errPage}
	}
	var reply struct {
		AccessToken string          `json:"access_token"`
		ExpiresIn   json.RawMessage `json:"expires_in"` // a number, or one in quotes
	}
	if err := json.Unmarshal(text, &reply); err != nil || reply.AccessToken == "" || len(reply.AccessToken) > 16<<10 ||
		strings.ContainsFunc(reply.AccessToken, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", 0, wish, wire.Errorf(wire.Unavailable, "", "no token: the reply is not one")
	}
	life = tokenLife
	if n, err := strconv.ParseFloat(strings.Trim(string(reply.ExpiresIn), `"`), 64); err == nil && n > 0 {
		life = time.Duration(min(n, tokenMost.Seconds())) * time.Second
		life -= min(life/10, 30*time.Second)
	}
	return "Bearer " + reply.AccessToken, max(life, 5*time.Second), 0, nil
}
