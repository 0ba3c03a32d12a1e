package badinput

import (
	"fmt"
	"strings"
	"time"

	"posagent/cross/need"
)

// inboxSecret is what senders of webhooks show, bodyCanary what an event carries: neither may be read anywhere.
const (
	inboxSecret = "inbox-canary-90417"
	bodyCanary  = "body-canary-18235"
)

const event = `{"id":"e1","merchantId":1,"timestamp":"2026-11-21T08:00:00.0000+00:00","event":"payment.cancel.created","data":{"paymentId":"p1","cancelId":"` + bodyCanary +
	`","amount":{"amount":1250,"currency":"EUR"},"orderItems":[]}}`

// hook posts to the terminal's receiver and gives back the whole answer.
func (k *kit) hook(method, path, body string, headers ...string) string {
	h := append([]string{"Host: HOST", fmt.Sprintf("Content-Length: %d", len(body))}, headers...)
	all := strings.Join(headers, "\n")
	if !strings.Contains(all, "Authorization:") {
		h = append(h, "Authorization: "+inboxSecret)
	}
	if !strings.Contains(all, "Content-Type:") {
		h = append(h, "Content-Type: application/json")
	}
	began := time.Now()
	_, answer := k.ask(request(method+" "+path+" HTTP/1.1", h...)+body, answerIn())
	k.took.Store(int64(time.Since(began)))
	return answer
}

// refuse makes a row of a delivery that is not taken over.
func (k *kit) refuse(number, input, answer, want string, own bool) {
	k.row(number, "receiver: "+input, func() string {
		got, ok := status(answer), false
		for _, w := range strings.Fields(want) {
			ok = ok || strings.HasPrefix(got, w) || w == "closed" && got == ""
		}
		word, shaped := fault(answer)
		if !ok || own && !shaped || strings.Contains(answer, bodyCanary) || strings.Contains(answer, cardPAN) {
			k.bad("receiver, %s: %.300q", input, answer)
		}
		if got == "" {
			got = "closed"
		}
		return fmt.Sprintf("%s in %d ms", strings.TrimSpace(got+" "+word), time.Duration(k.took.Load()).Milliseconds())
	})
}

// inboxScene is the terminal's receiver of webhooks.
func inboxScene() scene {
	return scene{name: "A receiver of webhooks", make: func(*kit) options {
		return options{ecr: "[hooks]\nauthorization = \"" + inboxSecret + "\""}
	}, play: func(k *kit) {
		const at = "/hooks/webhooks"
		k.normal(k.rig.pay) // from here on only events move anything
		for _, v := range []string{"", " ", "Bearer " + inboxSecret, strings.ToUpper(inboxSecret), inboxSecret[:8], inboxSecret + "x", `"` + inboxSecret + `"`, strings.Repeat("t", 8<<10)} {
			k.refuse("C53", fmt.Sprintf("Authorization: %.30s", strings.ReplaceAll(v, inboxSecret, "(it)")), k.hook("POST", at, event, "Authorization: "+v), "401", true)
		}
		k.refuse("C53", "Authorization twice", k.hook("POST", at, event, "Authorization: "+inboxSecret, "Authorization: "+inboxSecret), "401", true)
		k.refuse("C53", "Authorization of 1 MB", k.hook("POST", at, event, "Authorization: "+strings.Repeat("t", 1<<20)), "431 closed", false)
		// The audit log keeps one line of these in a minute; nothing below adds another.
		if !until(answerIn(), func() bool {
			out, err := k.verb("audit", "--json").Output()
			return err == nil && strings.Contains(string(out), "login.refused")
		}) {
			k.bad("receiver: no refused login in the audit log")
		}
		k.quiet()
		before := k.prints()
		for _, h := range []string{"Origin: null", "Referer: http://evil.example/", "Sec-Fetch-Site: same-origin"} {
			k.refuse("A8", h, k.hook("POST", at, event, h), "403", false)
		}
		for _, m := range []string{"GET", "PUT", "DELETE", "OPTIONS"} {
			k.refuse("A17", m, k.hook(m, at, ""), "405", true)
		}
		for _, p := range []string{at + "/", at + "/x", "/hooks/", "/hooks/links", "/hooks//webhooks"} {
			k.refuse("A16", p, k.hook("POST", p, event), "404 30", false)
		}
		list := unreadable(event)
		add := func(more []bad) { list = append(list, more...) }
		add(variants("B31", event, `"e1"`, "?", "null", `""`, "1", "[]"))
		add(variants("B31", event, `"merchantId":1`, "?", `"merchantId":null`, `"x":1`, `"merchantId":"a"`, `"merchantId":1.5`, `"merchantId":1,"merchantNumber":2`))
		add(variants("B33", event, "1250", "?", "9223372036854775808", "1.5", "null", `"1250"`))
		add(variants("B44", event, `"e1"`, `"?"`, append([]string{strings.Repeat("1", 129)}, texts[:3]...)...))
		add(variants("B44", event, "payment.cancel.created", "?", append([]string{"", strings.Repeat("e", 129)}, texts[:3]...)...))
		add(variants("B49", event, "2026-11-21T08:00:00.0000+00:00", "?", "", "2026-02-30T00:00:00Z", "2026-11-21", "2026-11-21T24:00:00Z", "1", "2026-11-21T08:00:00+25:00"))
		add(variants("B31", event, `"paymentId":"p1",`, "?", "", `"paymentId":null,`))
		add([]bad{{"B31", "data null", event[:strings.Index(event, `"data"`)] + `"data":null}`}, {"B34", "data a list", event[:strings.Index(event, `"data"`)] + `"data":[]}`}})
		for _, c := range list {
			want := "400"
			if c.number == "B36" || c.number == "B38" {
				want = "413"
			}
			k.refuse(c.number, c.input, k.hook("POST", at, c.body), want, true)
		}
		for _, h := range []string{"Content-Type: text/plain", "Content-Type: application/json;charset=utf-16", "Content-Type:", "Content-Encoding: gzip"} {
			k.refuse("B40", h, k.hook("POST", at, event, h), "400", true)
		}
		k.refuse("B38", "8 MB", k.hook("POST", at, `{"x":"`+strings.Repeat("x", 8<<20)+`"}`), "413 closed", false)
		k.row("C59", "receiver: the journal's log after all of it", func() string {
			if k.prints() != before {
				k.bad("receiver: something was written")
				return "changed"
			}
			return "not a byte changed"
		})
		repeats := 1000
		if k.full {
			repeats = 10_000
		}
		k.row("C59", fmt.Sprintf("receiver: one event %d times from 50 senders, every other with another body", repeats), func() string {
			first := k.hook("POST", at, event)
			other := strings.Replace(event, "1250", "1", 1)
			changed := status(k.hook("POST", at, other)) // refused, and kept once as an event that people see
			k.quiet()
			once := k.prints()
			taken := crowd(50, repeats/100, func() bool {
				return strings.HasPrefix(status(k.hook("POST", at, event)), "200") && status(k.hook("POST", at, other)) == changed
			})
			if !strings.HasPrefix(changed, "409") {
				k.bad("receiver: another body under a known id: %.40q", changed)
			}
			if !strings.HasPrefix(status(first), "200") || once == before || k.prints() != once || taken != int64(repeats/2) {
				k.bad("receiver: first %.40q, stored %t, written again %t, %d pairs of repeats taken", first, once != before, k.prints() != once, taken)
			}
			return "200 each, another body 409, each stored once"
		})
	}}
}

// prints is like a backend's; quiet waits until no sale moves.
func (k *kit) prints() string { return prints(k.t, k.state()) }

func (k *kit) quiet() {
	until(need.Limit(), func() bool {
		list, err := k.journal()
		for _, e := range list {
			if !e.Settled {
				return false
			}
		}
		return err == nil
	})
}
