package pages

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
)

const sheet style = `:root{color-scheme:light dark}` +
	`body{font:1.125rem/1.5 system-ui,sans-serif;max-width:26rem;margin:0 auto;padding:1.5rem}` +
	`.amount{font-size:2.5rem;font-weight:700;margin:.5rem 0}` +
	`.sandbox{border:2px dashed;padding:.25rem .75rem;font-weight:700;text-align:center}` +
	`button{font:inherit;font-weight:700;display:block;width:100%;min-height:3.25rem;margin:.75rem 0;border:2px solid;border-radius:.5rem;cursor:pointer}` +
	`button.go{background:#0a5c2b;color:#fff;border-color:#0a5c2b}` +
	`button:focus-visible{outline:4px solid #1d6fe0;outline-offset:2px}`

// policy is the Content-Security-Policy of every page: its own sheet and forms to itself, nothing else.
func policy() string {
	sum := sha256.Sum256([]byte(sheet))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}

// Page is a whole document.
type Page struct {
	Status  int // HTTP status, 0 = 200
	Lang    string
	Title   string
	Refresh int // seconds until the browser asks again, 0 = never
	Body    []Node
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
	head = append(head, E("title", nil, T(p.Title)), sheet)
	var b strings.Builder
	b.WriteString("<!doctype html>")
	E("html", []Attr{A("lang", lang)},
		E("head", nil, head...),
		E("body", nil, E("p", []Attr{A("class", "sandbox")}, T("SANDBOX - no real money")), E("main", nil, p.Body...)),
	).write(&b)
	return b.String()
}

// Send answers with the document and its headers.
func (p Page) Send(w http.ResponseWriter) {
	text := p.Render()
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	h.Set("Content-Security-Policy", policy())
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cache-Control", "no-store")
	status := p.Status
	if status == 0 {
		status = http.StatusOK
	}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // the reader may be gone; there is nobody to tell
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
		E("input", []Attr{A("type", "hidden"), A("name", fieldName), A("value", fieldValue)}),
		E("button", []Attr{A("type", "submit"), A("class", class)}, T(label)),
	)
}
