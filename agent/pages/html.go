package pages

import (
	"html"
	"strings"
)

// name is a tag or attribute name. Only constants written in Go become one.
type name string

// attr is one attribute; its value is escaped when written.
type attr struct {
	name  name
	value string
}

func class(s string) attr { return attr{"class", s} }

// english marks words that are the terminal's own, which are not translated.
func english() attr { return attr{"lang", "en"} }

// writer writes a document.
type writer struct {
	b    strings.Builder
	lang string // of the page: de or en
}

// open writes the beginning of an element.
func (w *writer) open(tag name, attrs ...attr) {
	w.b.WriteString("<" + string(tag))
	for _, a := range attrs {
		w.b.WriteString(" " + string(a.name) + `="` + html.EscapeString(a.value) + `"`)
	}
	w.b.WriteByte('>')
}

func (w *writer) close(tags ...name) {
	for _, tag := range tags {
		w.b.WriteString("</" + string(tag) + ">")
	}
}

func (w *writer) text(s string) { w.b.WriteString(html.EscapeString(s)) }

// element writes a whole element with a text inside.
func (w *writer) element(tag name, s string, attrs ...attr) {
	w.open(tag, attrs...)
	w.text(s)
	w.close(tag)
}

// say writes a text in the page's language.
func (w *writer) say(tag name, s word, attrs ...attr) { w.element(tag, w.in(s), attrs...) }

// in returns a text in the page's language.
func (w *writer) in(s word) string {
	if w.lang == german {
		return texts[s].de
	}
	return texts[s].en
}

// begin writes everything before the main part of a document, and end everything behind it.
func (w *writer) begin(title string, sandbox bool) {
	w.b.WriteString("<!doctype html>")
	w.open("html", attr{"lang", w.lang})
	w.open("head")
	w.open("meta", attr{"charset", "utf-8"})
	w.open("meta", attr{"name", "viewport"}, attr{"content", "width=device-width, initial-scale=1"})
	w.element("title", title)
	w.b.WriteString("<style>" + sheet + "</style>")
	w.close("head")
	w.open("body")
	w.open("header")
	if sandbox {
		w.say("p", noRealMoney, class("sandbox"))
	}
	w.element("h1", title)
}

func (w *writer) end() []byte {
	w.close("body", "html")
	return []byte(w.b.String())
}
