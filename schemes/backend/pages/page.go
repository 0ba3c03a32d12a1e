package pages

import (
	"crypto/sha256"
	"encoding/base64"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const sheet style = `:root{color-scheme:light dark}` +
	`body{font:1.125rem/1.5 system-ui,sans-serif;max-width:26rem;margin:0 auto;padding:1.5rem}` +
	`.amount{font-size:2.5rem;font-weight:700;margin:.5rem 0}` +
	`.sandbox{border:2px dashed;padding:.25rem .75rem;font-weight:700;text-align:center}` +
	`button{font:inherit;font-weight:700;display:block;width:100%;min-height:3.25rem;margin:.75rem 0;border:2px solid;border-radius:.5rem;cursor:pointer}` +
	`button.go{background:#0a5c2b;color:#fff;border-color:#0a5c2b}` +
	`button:focus-visible,input:focus-visible,a:focus-visible,summary:focus-visible{outline:4px solid #1d6fe0;outline-offset:2px}` +
	`label{display:block;margin:.75rem 0}` +
	`input{font:inherit;display:block;width:100%;box-sizing:border-box;min-height:2.75rem;padding:.25rem .5rem}` +
	`input[type=checkbox]{display:inline-block;width:1.5rem;min-height:1.5rem;margin-right:.5rem;vertical-align:middle}` +
	`input[aria-invalid]{border:2px solid #d3304a}` +
	`[role=alert]{border-left:.5rem solid #d3304a;padding-left:.75rem}` +
	`fieldset{border:1px solid;border-radius:.5rem;margin:1rem 0}` +
	`legend{font-weight:700}` +
	`summary{padding:.5rem 0}` +
	`nav a{display:inline-block;padding:.5rem}` +
	`html{background:#fff;color:#111}a{color:#0b57d0}` +
	`@media(prefers-color-scheme:dark){html{background:#121212;color:#eee}a{color:#a8c7fa}}`

// policy is the Content-Security-Policy of a page: its own sheet and forms to itself, and no frame around it unless it has one.
func (p Page) policy() string {
	sum := sha256.Sum256([]byte(sheet))
	frame, script := "'none'", ""
	if p.Frame != "" {
		frame = p.Frame
	}
	if p.Script != "" {
		script = "script-src 'self'; connect-src 'self'; "
	}
	return "default-src 'none'; " + script + "style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; form-action 'self'; base-uri 'none'; frame-ancestors " + frame
}

// Page is a whole document.
type Page struct {
	Status  int // HTTP status, 0 = 200
	Lang    string
	Title   string
	Refresh int // seconds until the browser asks again, 0 = never
	// Next is where the browser goes by itself at once: an address that Origin lets through, "" = nowhere. Unlike a redirect
	// after a form, it may lead through any number of places.
	Next string
	// Frame is the one origin whose pages may show this one in a frame, as Origin gives it; "" = none may.
	Frame string
	// Script is the path of a script of ours that the page loads, "" = none.
	Script string
	Body   []Node
}

// Render writes the document.
func (p Page) Render() string {
	lang := p.Lang
	if lang == "" {
		lang = "en"
	}
	head := []Node{
		E("meta", []Attr{A("charset", "utf-8")}),
		E("meta", []Attr{A("name", "viewport"), A("content", "width=device-width, initial-scale=1")}),
	}
	if p.Refresh > 0 {
		head = append(head, E("meta", []Attr{A("http-equiv", "refresh"), A("content", strconv.Itoa(p.Refresh))}))
	}
	if p.Next != "" && Origin(p.Next) != "" {
		head = append(head, E("meta", []Attr{A("http-equiv", "refresh"), A("content", "0;url="+p.Next)}))
	}
	head = append(head, E("title", nil, T(p.Title)), sheet)
	if p.Script != "" {
		head = append(head, E("script", []Attr{A("src", p.Script), A("defer", "defer")}))
	}
	var b strings.Builder
	b.WriteString("<!doctype html>")
	E("html", []Attr{A("lang", lang)},
		E("head", nil, head...),
		E("body", nil, E("header", nil, E("p", []Attr{A("class", "sandbox"), A("lang", "en")}, T("SANDBOX - no real money"))), E("main", nil, p.Body...)),
	).write(&b)
	return b.String()
}

// Send answers with the document and its headers.
func (p Page) Send(w http.ResponseWriter) {
	text := p.Render()
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	h.Set("Content-Security-Policy", p.policy())
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	if p.Frame == "" {
		h.Set("X-Frame-Options", "DENY") // knows no origins
	}
	h.Set("Cache-Control", "no-store")
	status := p.Status
	if status == 0 {
		status = http.StatusOK
	}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // the reader may be gone; the error has no receiver
}

// Origin gives the scheme and host of an address a page may lead to; "" for one it may not: anything but https, or http
// to this machine, or with a user's name or password.
func Origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User != nil || u.Hostname() == "" || strings.ContainsAny(u.Host, " ;,'\"") {
		return ""
	}
	ip := net.ParseIP(u.Hostname())
	if u.Scheme != "https" && (u.Scheme != "http" || u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback())) {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// Heading is the page's one h1.
func Heading(s string) Node { return E("h1", nil, T(s)) }

// Para is a paragraph of a class; "" = none.
func Para(class, s string) Node {
	if class == "" {
		return E("p", nil, T(s))
	}
	return E("p", []Attr{A("class", class)}, T(s))
}

// Result is a paragraph that a screen reader announces.
func Result(s string) Node { return E("p", []Attr{A("role", "status")}, T(s)) }

// Form is one button that posts hidden fields to action.
func Form(action, label, class, fieldName, fieldValue string) Node {
	return E("form", []Attr{A("method", "post"), A("action", action)},
		Hidden(fieldName, fieldValue),
		E("button", []Attr{A("type", "submit"), A("class", class)}, T(label)),
	)
}

// Input is one labelled field of a form.
type Input struct {
	Name, Label, Value string
	Type               string // of the input; "" = text
	Auto               string // what a browser may fill in, "" = nothing
	Required           bool
	Bad                bool   // was refused; the page says why
	Fault              string // why it was refused, said beside the field; "" = it was not, or the page says it elsewhere
	Mode, Pattern      string // inputmode and pattern; "" = any
	Max                int    // characters; 0 = any number
	First              bool   // the cursor starts here
}

// Node makes the field. A checkbox stands before its label, everything else below it.
func (i Input) Node() Node {
	typ, auto := i.Type, i.Auto
	if typ == "" {
		typ = "text"
	}
	if auto == "" {
		auto = "off"
	}
	attrs := []Attr{A("type", typ), A("name", i.Name), A("autocomplete", auto), A("value", i.Value)}
	if i.Required {
		attrs = append(attrs, A("required", "required"))
	}
	if i.Bad || i.Fault != "" {
		attrs = append(attrs, A("aria-invalid", "true"))
	}
	for _, a := range []Attr{A("inputmode", i.Mode), A("pattern", i.Pattern)} {
		if a.value != "" {
			attrs = append(attrs, a)
		}
	}
	if i.Max > 0 {
		attrs = append(attrs, A("maxlength", strconv.Itoa(i.Max)))
	}
	if i.First {
		attrs = append(attrs, A("autofocus", "autofocus"))
	}
	why := i.Name + "-fault"
	if i.Fault != "" {
		attrs = append(attrs, A("aria-describedby", why))
	}
	field, text := E("input", attrs), T(i.Label)
	label := E("label", nil, text, field)
	if typ == "checkbox" {
		label = E("label", nil, field, text)
	}
	if i.Fault == "" {
		return label
	}
	return E("div", nil, label, E("p", []Attr{A("id", why), A("role", "alert")}, T(i.Fault)))
}

// Button sends the form it stands in; a name of "" sends nothing of its own.
func Button(label, class, fieldName, value string) Node {
	attrs := []Attr{A("type", "submit"), A("class", class)}
	if fieldName != "" {
		attrs = append(attrs, A("name", fieldName), A("value", value))
	}
	return E("button", attrs, T(label))
}

// Link leads to a page of ours.
func Link(address, label string) Node {
	return E("p", nil, E("a", []Attr{A("href", address)}, T(label)))
}

// Onward leads to a page of the shop, which does not learn where its customer comes from.
func Onward(address, label string) Node {
	return E("p", nil, E("a", []Attr{A("href", address), A("rel", "noreferrer")}, T(label)))
}

// Aside leads to a page that opens beside this one, so that a form is not lost.
func Aside(address, label string) Node {
	return E("p", nil, E("a", []Attr{A("href", address), A("target", "_blank"), A("rel", "noopener")}, T(label)))
}

// Choice is one language of a Languages.
type Choice struct{ Code, Name, Address string }

// Languages is the menu of a page's languages; now is the name of the one it speaks.
func Languages(now string, list []Choice) Node {
	kids := []Node{E("summary", nil, T(now+" / Language"))}
	for _, c := range list {
		kids = append(kids, E("a", []Attr{A("href", c.Address), A("lang", c.Code), A("hreflang", c.Code)}, T(c.Name)), T(" "))
	}
	return E("nav", []Attr{A("aria-label", "Language")}, E("details", nil, kids...))
}

// Group is a fieldset with its legend.
func Group(legend string, kids ...Node) Node {
	return E("fieldset", nil, append([]Node{E("legend", nil, T(legend))}, kids...)...)
}

// Hidden is a field that the page does not show.
func Hidden(fieldName, value string) Node {
	return E("input", []Attr{A("type", "hidden"), A("name", fieldName), A("value", value)})
}
