package printer

import (
	"slices"
	"strings"
	"unicode"
)

// row is one printed line; it fits the paper.
type row struct {
	cells        []cell
	bold, double bool
}

// layout breaks the texts of a document into rows.
type layout struct {
	speller
	columns int
}

// width is how many characters a row holds.
func (l layout) width(double bool) int {
	if double {
		return l.columns / 2
	}
	return l.columns
}

// text lays out a Text. It is of double size where each of its words and amounts fits.
func (l layout) text(line Line) (rows []row) {
	var texts [][]cell
	double := line.Double
	for t := range strings.SplitSeq(line.Text, "\n") {
		cells := l.spell(t)
		texts = append(texts, cells)
		double = double && fits(cells, l.width(true))
	}
	for _, cells := range texts {
		for _, one := range wrap(cells, l.width(double)) {
			rows = append(rows, row{aligned(one, line.Align, l.width(double)), line.Bold, double})
		}
	}
	return rows
}

// pair lays out a Pair: in one row where it fits, else the left part in its rows and the right part below. The right part is not
// broken unless it is wider than the paper.
func (l layout) pair(line Line) (rows []row) {
	var left [][]cell
	for t := range strings.SplitSeq(line.Text, "\n") {
		left = append(left, l.spell(t))
	}
	right := trim(l.spell(line.Right))
	for i := range right {
		right[i].hold = right[i].letter == ' ' && len(right) <= l.columns
	}
	half := l.width(true)
	double := line.Double && len(right) <= half && !slices.ContainsFunc(left, func(c []cell) bool { return !fits(c, half) })
	width := l.width(double)
	var out [][]cell
	for i, cells := range left {
		cells = trimRight(cells)
		if gap := width - len(cells) - len(right); i == len(left)-1 && (gap > 0 || gap == 0 && (len(cells) == 0 || len(right) == 0)) {
			out = append(out, slices.Concat(cells, blanks(gap), right))
			right = nil
			break
		}
		if len(cells) > 0 || i < len(left)-1 {
			out = append(out, wrap(cells, width)...)
		}
	}
	for _, cells := range wrap(right, width) {
		if len(cells) > 0 {
			out = append(out, aligned(cells, Right, width))
		}
	}
	for _, cells := range out {
		rows = append(rows, row{cells, line.Bold, double})
	}
	return rows
}

// fits says whether no unit of a text is wider than a row.
func fits(cells []cell, width int) bool {
	return !slices.ContainsFunc(units(words(cells)), func(u [][]cell) bool { return len(joined(u)) > width })
}

// wrap breaks a text into rows of at most width cells, at least one. A text that fits stays as it is.
func wrap(cells []cell, width int) [][]cell {
	cells = trimRight(cells)
	if len(cells) <= width {
		return [][]cell{cells}
	}
	var rows [][]cell
	line := blanks(min(len(cells)-len(trimLeft(cells)), width/2)) // it stays indented
	begun := false
	put := func(word []cell) {
		if begun && len(line)+1+len(word) > width {
			rows, line, begun = append(rows, line), nil, false
		}
		if begun {
			line = append(line, blanks(1)...)
		}
		for len(line)+len(word) > width { // an indent before a wide word, or a word wider than the paper
			if len(trimLeft(line)) == 0 {
				line = nil
			}
			n := width - len(line)
			if len(word) <= n {
				break
			}
			rows, line, word = append(rows, append(line, word[:n]...)), nil, word[n:]
		}
		line, begun = append(line, word...), true
	}
	for _, unit := range units(words(cells)) {
		if one := joined(unit); len(one) <= width {
			put(one)
			continue
		}
		for _, word := range unit {
			put(word)
		}
	}
	return append(rows, line)
}

// words are the parts of a text between blanks that may break a line.
func words(cells []cell) (list [][]cell) {
	from := 0
	for i, c := range cells {
		if c.letter == ' ' && !c.hold {
			if i > from {
				list = append(list, cells[from:i])
			}
			from = i + 1
		}
	}
	if from < len(cells) {
		list = append(list, cells[from:])
	}
	return list
}

// units are the words that stay together: an amount with its currency, on either side, and groups of three digits.
func units(words [][]cell) (list [][][]cell) {
	for i, w := range words {
		if i > 0 && together(letters(words[i-1]), letters(w)) {
			list[len(list)-1] = append(list[len(list)-1], w)
			continue
		}
		list = append(list, [][]cell{w})
	}
	return list
}

// together says whether a line does not break between two words: "12.50 EUR", "EUR 12.50", "1 250,00".
func together(a, b string) bool {
	number := func(s string) bool { return strings.IndexFunc(strings.TrimLeft(s, "+-(~"), unicode.IsDigit) == 0 }
	switch {
	case number(a) && currency(strings.TrimRight(b, ".,;:!?)")), currency(strings.TrimLeft(a, "(")) && number(b):
		return true
	case !number(a) || a[len(a)-1] < '0' || a[len(a)-1] > '9':
		return false
	}
	return len(b)-len(strings.TrimLeft(b, "0123456789")) == 3
}

// currencies are signs that are written as a word of their own.
var currencies = strings.Fields("€ $ £ ¥ ₽ ₺ ₴ zł Kč kr kr. Ft lei лв Kr")

func currency(s string) bool {
	code := len(s) == 3 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
	return code || slices.Contains(currencies, s)
}

func letters(cells []cell) string {
	var b strings.Builder
	for _, c := range cells {
		b.WriteRune(c.letter)
	}
	return b.String()
}

// joined is words with one blank between two.
func joined(words [][]cell) (out []cell) {
	for i, w := range words {
		if i > 0 {
			out = append(out, blanks(1)...)
		}
		out = append(out, w...)
	}
	return out
}

// aligned puts blanks before cells.
func aligned(cells []cell, to Align, width int) []cell {
	gap := 0
	switch cells = trimRight(cells); to {
	case Centre:
		cells = trimLeft(cells)
		gap = (width - len(cells)) / 2
	case Right:
		gap = width - len(cells)
	}
	return append(blanks(gap), cells...)
}

func blanks(n int) []cell {
	return slices.Repeat([]cell{{letter: ' ', byte: ' ', page: ascii}}, max(0, n))
}

func trimLeft(cells []cell) []cell {
	for len(cells) > 0 && cells[0].letter == ' ' {
		cells = cells[1:]
	}
	return cells
}

func trimRight(cells []cell) []cell {
	for len(cells) > 0 && cells[len(cells)-1].letter == ' ' {
		cells = cells[:len(cells)-1]
	}
	return cells
}

func trim(cells []cell) []cell { return trimLeft(trimRight(cells)) }
