package pages

import (
	"html"
	"strings"
)

// markup is a piece of a page. Only constants written in Go become one. Each {} in it stands for a
// text: between tags, or inside the quotes of an attribute.
type markup string

// writer writes a document.
type writer struct {
	b    strings.Builder
	lang string // of the page: de or en
}

// put writes markup with its texts, which are escaped.
func (w *writer) put(m markup, texts ...string) {
	rest := string(m)
	for _, s := range texts {
		before, after, _ := strings.Cut(rest, "{}")
		w.b.WriteString(before)
		w.b.WriteString(html.EscapeString(s))
		rest = after
	}
	w.b.WriteString(rest)
}

// in returns a text in the page's language.
func (w *writer) in(s word) string {
	if w.lang == german {
		return texts[s].de
	}
	return texts[s].en
}

// say writes markup with texts in the page's language.
func (w *writer) say(m markup, list ...word) {
	texts := make([]string, len(list))
	for i, s := range list {
		texts[i] = w.in(s)
	}
	w.put(m, texts...)
}

// begin writes everything before the contents of the header.
func (w *writer) begin(title string, sandbox bool) {
	w.put(`<!doctype html><html lang="{}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>{}</title><style>`, w.lang, title)
	w.put(sheet)
	w.put(`</style></head><body><header>`)
	if sandbox {
		w.say(`<p class="sandbox">{}</p>`, noRealMoney)
	}
	w.put(`<h1>{}</h1>`, title)
}

// end writes the end of the document, and returns all of it.
func (w *writer) end() []byte {
	w.put(`</body></html>`)
	return []byte(w.b.String())
}

// command writes what to type.
func (w *writer) command(s string) {
	w.put(`<p>{} <code lang="en">{}</code></p>`, w.in(typeThis), s)
}

// table begins a table that moves sideways by itself where it is wider than the screen.
func (w *writer) table(caption word, columns ...word) {
	w.say(`<div class="wide" role="group" tabindex="0" aria-label="{}"><table><thead><tr>`, caption)
	for _, c := range columns {
		if c >= firstNumber && c <= lastNumber {
			w.say(`<th scope="col" class="n">{}</th>`, c)
		} else {
			w.say(`<th scope="col">{}</th>`, c)
		}
	}
	w.put(`</tr></thead><tbody>`)
}

func (w *writer) endTable() { w.put(`</tbody></table></div>`) }
