package webhooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"posagent/store"
)

// acknowledged is the only status that ends a delivery well (S0 6.1).
const acknowledged = http.StatusOK

const (
	maxReply  = 4 << 10 // bytes of a reply that are looked at
	maxNote   = 200     // characters of it that are kept
	userAgent = "posagent-webhooks/1"
)

// Attempt is one try of a delivery.
type Attempt struct {
	N      int    `json:"n"`
	At     int64  `json:"atMs"`     // unix milliseconds
	Took   int64  `json:"tookMs"`   // milliseconds
	Status int    `json:"status"`   // 0 = there was no reply
	Note   string `json:"response"` // how the reply begins, or why there was none; cleaned
}

func (a Attempt) outcome() string {
	if a.Status == 0 {
		return a.Note
	}
	return "status " + strconv.Itoa(a.Status)
}

// parcel is what one attempt needs.
type parcel struct {
	hook     int64
	url      string
	origin   string
	subject  string
	sealed   []byte
	message  Message
	headers  string
	schedule string
	tries    int
	step     int
}

func (p *parcel) fields() store.Fields {
	return store.Fields{"h.id", &p.hook, "h.url", &p.url, "h.origin", &p.origin, "h.subject", &p.subject, "h.secret", &p.sealed, "m.id", &p.message.ID,
		"m.event", &p.message.Event, "m.body", &p.message.Body, "m.content_type", &p.message.ContentType, "m.headers", &p.headers,
		"m.schedule", &p.schedule, "v.tries", &p.tries, "v.step", &p.step}
}

var parcels = store.NewTable("deliver_delivery v JOIN deliver_message m ON m.id = v.message JOIN deliver_hook h ON h.id = v.hook", (*parcel).fields)

// send makes one attempt, within the schedule's limit.
func (d *Deliver) send(ctx context.Context, p parcel, s secret, at time.Time) Attempt {
	ctx, cancel := context.WithTimeout(ctx, p.message.Schedule.Limit())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(s.fill(p.message.Body)))
	if err != nil {
		return Attempt{Note: "the URL cannot be used"}
	}
	var fixed [][2]string
	if err := json.Unmarshal([]byte(p.headers), &fixed); err != nil {
		return Attempt{Note: "the headers cannot be read"}
	}
	for _, list := range [][][2]string{fixed, s.Headers} {
		for _, kv := range list {
			req.Header.Add(kv[0], kv[1])
		}
	}
	if s.Authorization != "" {
		req.Header.Set("Authorization", s.Authorization)
	}
	req.Header.Set("Content-Type", p.message.ContentType)
	req.Header.Set("User-Agent", userAgent)
	if len(d.keys) > 0 {
		stamp := strconv.FormatInt(at.Unix(), 10)
		req.Header.Set("Webhook-Id", p.message.ID)
		req.Header.Set("Webhook-Timestamp", stamp)
		req.Header.Set("Webhook-Signature", signature(d.keys, p.message.ID, stamp, s.fill(p.message.Body)))
	}
	resp, err := d.client.Do(req)
	if err != nil {
		return Attempt{Note: why(err)}
	}
	defer resp.Body.Close()
	head, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if err != nil && resp.StatusCode == acknowledged && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return Attempt{Note: "no complete reply in time"}
	}
	return Attempt{Status: resp.StatusCode, Note: cleaned(s.hide(string(head)))}
}

// fill writes a body as it is sent.
func (s secret) fill(body []byte) []byte {
	at := bytes.LastIndex(body, []byte(Mark))
	if s.Fill == "" || at < 0 {
		return body
	}
	return slices.Concat(body[:at], []byte(s.Fill), body[at+len(Mark):])
}

// hide masks what a reply repeats of the hook's secrets.
func (s secret) hide(text string) string {
	values := []string{s.Authorization, s.Fill}
	if _, token, ok := strings.Cut(s.Authorization, " "); ok {
		values = append(values, token)
	}
	for _, kv := range s.Headers {
		values = append(values, kv[1])
	}
	for _, v := range values {
		if len(v) > 3 {
			text = strings.ReplaceAll(text, v, "[secret]")
		}
	}
	return text
}

// why says what kept a reply away, in words of ours: the error's own may carry the URL.
func why(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.Is(err, errPrivate):
		return "refused: " + errPrivate.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "no reply in time"
	case errors.As(err, &dns):
		return "the name cannot be resolved"
	case errors.As(err, &op) && op.Op == "dial":
		return "no connection"
	case strings.Contains(err.Error(), "tls:") || strings.Contains(err.Error(), "x509:"):
		return "no trusted connection"
	}
	return "the connection broke"
}

// cleaned keeps what can be shown.
func cleaned(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > maxNote {
			break
		}
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			r = ' '
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}
