package meter

import (
	"strconv"
	"strings"
	"time"
)

// ContentType is that of a Page: the text format of Prometheus, version 0.0.4.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Page is figures in the text format of Prometheus. Each name begins with Prefix. The zero value is an empty page.
type Page struct{ b strings.Builder }

// Prefix begins the name of each figure.
const Prefix = "posagent_backend_"

// The types of figures.
const (
	Gauge   = "gauge"
	Counter = "counter"
)

// String returns the page.
func (p *Page) String() string { return p.b.String() }

// Head begins a figure. Its values follow, before the next Head.
func (p *Page) Head(name, kind, help string) {
	p.b.WriteString("# HELP " + Prefix + name + " " + strings.NewReplacer("\\", `\\`, "\n", `\n`).Replace(help) + "\n")
	p.b.WriteString("# TYPE " + Prefix + name + " " + kind + "\n")
}

// Value writes one value; labels are names and values in turn.
func (p *Page) Value(name string, value float64, labels ...string) {
	p.b.WriteString(Prefix + name)
	for i := 0; i+1 < len(labels); i += 2 {
		sep := ","
		if i == 0 {
			sep = "{"
		}
		p.b.WriteString(sep + labels[i] + `="` + escaped(labels[i+1]) + `"`)
	}
	if len(labels) > 0 {
		p.b.WriteByte('}')
	}
	p.b.WriteString(" " + number(value) + "\n")
}

// One writes a figure that has one value and no labels.
func (p *Page) One(name, kind, help string, value float64) {
	p.Head(name, kind, help)
	p.Value(name, value)
}

// escaped writes a label's value as it stands between quotes.
func escaped(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(s, "?"))
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Bit is 1 for true.
func Bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Seconds is a moment in seconds since 1970, 0 = never.
func Seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}
