package pages

import (
	"html"
	"strings"
)

// name is a tag or attribute name. Only constants written in Go become one outside this package.
type name string

// Attr is one attribute.
type Attr struct {
	name  name
	value string
}

// A makes an attribute; its value is escaped when written.
func A(attribute name, value string) Attr { return Attr{attribute, value} }

// Node is a piece of a page.
type Node interface{ write(*strings.Builder) }

type text string

func (t text) write(b *strings.Builder) { b.WriteString(html.EscapeString(string(t))) }

type element struct {
	tag   name
	attrs []Attr
	kids  []Node
}

func (e element) write(b *strings.Builder) {
	b.WriteString("<" + string(e.tag))
	for _, a := range e.attrs {
		b.WriteString(" " + string(a.name) + `="` + html.EscapeString(a.value) + `"`)
	}
	b.WriteByte('>')
	if void(e.tag) {
		return
	}
	for _, k := range e.kids {
		k.write(b)
	}
	b.WriteString("</" + string(e.tag) + ">")
}

func void(tag name) bool {
	switch tag {
	case "meta", "input", "link", "br":
		return true
	}
	return false
}

// T is a text, escaped when written.
func T(s string) Node { return text(s) }

// E is an element.
func E(tag name, attrs []Attr, kids ...Node) Node { return element{tag, attrs, kids} }

// style is the one sheet, sent inline and allowed by its hash.
type style string

func (s style) write(b *strings.Builder) { b.WriteString("<style>" + string(s) + "</style>") }
