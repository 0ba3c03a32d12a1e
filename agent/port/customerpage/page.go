package customerpage

import (
	"fmt"
	"html"
	"image/color"
	"strconv"
	"strings"
	"time"

	"posagent/device/display"
	"posagent/device/display/scene"
	"posagent/device/keypad/entry"
)

// The fields of the page's form.
const (
	formField = "form" // the word of the page
	keyField  = "key"  // as entry.Parse reads it
)

// page is a scene at a moment, with the keys that it shows.
type page struct {
	view display.View // as it stands at now
	now  time.Time
	form string
	keys []entry.Key // nil = none
}

// markup is a piece of a page. Only constants written in Go become one. Each {} in it stands for a
// text: between tags, or inside the quotes of an attribute.
type markup string

// writer writes a document.
type writer struct{ strings.Builder }

// put writes markup with its texts, which are escaped.
func (w *writer) put(m markup, texts ...string) {
	rest := string(m)
	for _, s := range texts {
		before, after, _ := strings.Cut(rest, "{}")
		w.WriteString(before)
		w.WriteString(html.EscapeString(s))
		rest = after
	}
	w.WriteString(rest)
}

// line writes markup with a text, or nothing where there is no text.
func (w *writer) line(m markup, text string) {
	if text != "" {
		w.put(m, text)
	}
}

// refresh is after how many seconds a browser without a script loads the page again. A person who
// taps has longer: loading takes the focus away. A code leaves in time.
func (p page) refresh() int {
	switch {
	case p.view.Code != nil && !p.view.Until.IsZero():
		return min(3, 1+int(p.view.Until.Sub(p.now)/time.Second))
	case p.view.Of.Turn > 0:
		return 6
	}
	return 3
}

// html is the whole document.
func (p page) html() []byte {
	var w writer
	w.put(`<!doctype html><html lang="{}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>{}</title><style>`,
		p.view.Spoken(), p.title(p.texts()))
	w.put(sheet)
	w.put(`</style><style>`)
	w.WriteString(p.colors())
	w.put(`</style><noscript><meta http-equiv="refresh" content="{}"></noscript></head><body><main><div id="stage">`, strconv.Itoa(p.refresh()))
	p.stage(&w)
	w.put(`</div><p id="say" class="unseen" role="status"></p></main><template id="away">`)
	page{view: away(p.view), now: p.now}.stage(&w)
	w.put(`</template><script>`)
	w.put(script)
	w.put(`</script></body></html>`)
	return []byte(w.String())
}

// colors is the sheet of a scene: its ground, and what is read on it.
func (p page) colors() string {
	ground := p.view.Ground()
	return "html{background:" + hex(ground) + ";color:" + hex(scene.Ink(ground)) + "}"
}

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

func (p page) texts() scene.Texts { return p.view.Texts(p.now, false) }

// title is the document's.
func (p page) title(t scene.Texts) string {
	for _, s := range []string{t.Headline, t.Label, t.Title, t.Banner} {
		if s != "" {
			return s
		}
	}
	return "posagent"
}

// stage writes what changes with the scene, as one line: scene.Clean leaves no text of several.
func (p page) stage(w *writer) {
	t, ground := p.texts(), p.view.Ground()
	class := "one"
	if p.view.Code != nil || p.view.Kind == scene.Prompt && p.keys != nil { // beside the texts, where there is room
		class = "two"
	}
	var say []string
	for _, s := range []string{t.Title, t.Amount, t.Note, t.Headline, t.Label, strings.TrimSuffix(t.Value, "_"), t.Detail} {
		if s != "" {
			say = append(say, s)
		}
	}
	w.put(`<div class="{}" lang="{}" data-ground="{}" data-ink="{}" data-title="{}" data-say="{}">`,
		class, p.view.Spoken(), hex(ground), hex(scene.Ink(ground)), p.title(t), strings.Join(say, ". "))
	w.line(`<p class="sandbox">{}</p>`, t.Banner)
	w.put(`<div class="text">`)
	head := markup(`<h1>{}</h1>`)
	if t.Title != "" {
		w.put(head, t.Title)
		head = `<p class="head">{}</p>`
	}
	w.line(`<p class="amount">{}</p>`, t.Amount)
	if p.view.Code == nil {
		w.line(head, t.Headline)
	}
	w.line(`<p class="note">{}</p>`, t.Note)
	w.line(`<p class="label">{}</p>`, t.Label)
	w.line(`<p class="value">{}</p>`, t.Value)
	w.line(`<p>{}</p>`, t.Hint)
	w.put(`</div>`)
	if c := p.view.Code; c != nil {
		w.put(`<div class="qr"><svg viewBox="0 0 {} {}" role="img" aria-label="QR" shape-rendering="crispEdges">`, strconv.Itoa(c.Size()), strconv.Itoa(c.Size()))
		w.put(`<rect width="100%" height="100%" fill="#fff"/><path fill="#000" d="{}"/></svg></div>`, c.Path())
	}
	w.put(`<div class="text">`)
	if p.view.Code != nil {
		w.line(head, t.Headline)
	}
	if t.Valid != "" { // the seconds are the script's
		w.put(`<p>{} <span id="left" data-ms="{}"></span></p>`, t.Valid, strconv.FormatInt(p.view.Until.Sub(p.now).Milliseconds(), 10))
	}
	w.line(`<p>{}</p>`, t.Detail)
	if len(t.Options) > 0 && p.keys == nil {
		p.list(w, t.Options)
	}
	if p.keys != nil {
		p.pad(w, t)
	}
	w.put(`</div></div>`)
}

// list writes a choice that is made at a keypad.
func (p page) list(w *writer, options []string) {
	w.put(`<ul>`)
	for i, o := range options {
		if o != "" {
			w.put(`<li><b>{}</b> {}</li>`, strconv.Itoa(i+1), o)
		}
	}
	w.put(`</ul>`)
}

// pad writes the keys, as a form that needs no script.
func (p page) pad(w *writer, t scene.Texts) {
	names := p.view.Keys()
	words := [...]string{entry.Cancel: names.Cancel, entry.Confirm: names.Confirm, entry.Correct: names.Correct, entry.Up: names.Up, entry.Down: names.Down}
	look := "keys"
	switch p.view.Kind {
	case scene.Choice:
		look = "choice"
	case scene.Prompt:
		look = "pad"
	}
	w.put(`<form method="post" action="`+Path+`" class="{}" aria-label="{}"><input type="hidden" name="`+formField+`" value="{}">`, look, p.title(t), p.form)
	for _, k := range p.keys {
		n, digit := k.Digit()
		name := k.String()
		if digit {
			name = strconv.Itoa(n)
		}
		w.put(`<button name="`+keyField+`" value="{}" id="k-{}"`, name, name)
		switch {
		case !digit:
			w.put(` class="word {}">{}</button>`, name, words[k])
		case p.view.Kind == scene.Choice:
			w.put(`><b>{}</b> {}</button>`, name, t.Options[n-1])
		default:
			w.put(`>{}</button>`, name)
		}
	}
	w.put(`</form>`)
}
