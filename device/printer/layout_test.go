package printer_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"posagent/device/printer"
	"posagent/device/printer/printertest"
)

// narrow is a printer of 24 columns, so that expectations can be read.
func narrow() printer.Profile {
	return printer.Profile{Columns: 24, Dots: 288, Pages: []printer.Page{{Name: "PC858", Number: 19}, {Name: "PC852", Number: 18}}}
}

func listing(t testing.TB, p printer.Profile, lines ...printer.Line) []string {
	t.Helper()
	out := printed(t, p, printer.Document{Lines: lines}).Listing()
	return strings.Split(strings.TrimSuffix(out, "\n"), "\n")
}

func TestLayout(t *testing.T) {
	big := func(l printer.Line) printer.Line { l.Double = true; return l }
	for name, tc := range map[string]struct {
		line printer.Line
		want []string
	}{
		"a short text":                    {text("Swish"), []string{"  |Swish"}},
		"an empty line":                   {text(""), []string{"  |"}},
		"only blanks":                     {text("   \t "), []string{"  |"}},
		"as wide as the paper":            {text("123456789 123456789 1234"), []string{"  |123456789 123456789 1234"}},
		"one wider":                       {text("123456789 12345678 123456"), []string{"  |123456789 12345678", "  |123456"}},
		"between words":                   {text("Please pay at the other counter now"), []string{"  |Please pay at the other", "  |counter now"}},
		"an indent stays":                 {text("  Please pay at the other counter"), []string{"  |  Please pay at the", "  |other counter"}},
		"a word wider than the paper":     {text("see abcdefghijklmnopqrstuvwxyz0123"), []string{"  |see", "  |abcdefghijklmnopqrstuvwx", "  |yz0123"}},
		"lines of a text":                 {text("one\ntwo\n\nthree\r\n"), []string{"  |one", "  |two", "  |", "  |three", "  |"}},
		"an amount goes whole":            {text("You were charged 12.50 EUR today"), []string{"  |You were charged", "  |12.50 EUR today"}},
		"its currency first":              {text("Please pay the rest: EUR 12.50."), []string{"  |Please pay the rest:", "  |EUR 12.50."}},
		"its currency as a sign":          {text("Please pay the rest: € 12.50 (now)"), []string{"  |Please pay the rest:", "  |€ 12.50 (now)"}},
		"groups of digits":                {text("It comes to: 1 999 999,99 PLN."), []string{"  |It comes to:", "  |1 999 999,99 PLN."}},
		"a blank that does not break":     {text("It comes to about 1\u00a0999,99\u202fzł"), []string{"  |It comes to about", "  |1 999,99 zł"}},
		"a date and a word are no amount": {text("Paid with a card on 23.11.2026 at the counter"), []string{"  |Paid with a card on", "  |23.11.2026 at the", "  |counter"}},
		"to the right":                    {printer.Line{Text: "Thank you", Align: printer.Right}, []string{"  |               Thank you"}},
		"in the middle":                   {printer.Line{Text: "Thank you ", Align: printer.Centre}, []string{"  |       Thank you"}},
		"two lines in the middle":         {printer.Line{Text: "Thank you very much indeed", Align: printer.Centre}, []string{"  |  Thank you very much", "  |         indeed"}},
		"double":                          {big(centred("PAID")), []string{" 2|    PAID"}},
		"double over two lines":           {big(text("PAID IN FULL TODAY")), []string{" 2|PAID IN FULL", " 2|TODAY"}},
		"double, and a word does not fit": {big(text("Sofortüberweisung OK")), []string{"  |Sofortüberweisung OK"}},
		"a pair":                          {pair("Receipt", "0042"), []string{"  |Receipt             0042"}},
		"a pair that just fits":           {pair("Total", "999,999,999.99 EUR"), []string{"  |Total 999,999,999.99 EUR"}},
		"a pair one too wide":             {pair("Totals", "999,999,999.99 EUR"), []string{"  |Totals", "  |      999,999,999.99 EUR"}},
		"a pair over three lines":         {pair("Payments of the whole long day", "999,999,999.99 EUR"), []string{"  |Payments of the whole", "  |long day", "  |      999,999,999.99 EUR"}},
		"a pair without a left side":      {pair("", "12.50 EUR"), []string{"  |               12.50 EUR"}},
		"a pair without a right side":     {pair("Total", ""), []string{"  |Total"}},
		"a pair of nothing":               {pair("", ""), []string{"  |"}},
		"a double pair":                   {big(pair("SUM", "5.00 EUR")), []string{" 2|SUM 5.00 EUR"}},
		"a double pair over two lines":    {big(pair("TOTAL", "12.50 EUR")), []string{" 2|TOTAL", " 2|   12.50 EUR"}},
		"a double pair too wide":          {big(pair("TOTAL", "999,999,999.99 EUR")), []string{"  |TOTAL 999,999,999.99 EUR"}},
		"a right side wider than paper":   {pair("Id", "0123456789 0123456789 0123456789"), []string{"  |Id", "  |   0123456789 0123456789", "  |              0123456789"}},
		"a tab is a blank":                {text("a\tb"), []string{"  |a b"}},
		"a rule":                          {rule, []string{"  |------------------------"}},
		"bold":                            {printer.Line{Text: "PAID", Bold: true}, []string{"b |PAID"}},
		"a feed":                          {feed(2), []string{"  |", "  |"}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, tc.want, listing(t, narrow(), tc.line)) })
	}
}

// TestAnAmountIsNeverCut: wherever it stands in a text, and whatever the size of the letters.
func TestAnAmountIsNeverCut(t *testing.T) {
	amounts := []string{"999,999,999.99 EUR", "-999.999.999,99 EUR", "EUR 0.01", "12 500,00 PLN", "1 999 999 JPY", "CHF 1'250.00", "5 €", "€ 5", "12.50 zł"}
	rapid.Check(t, func(rt *rapid.T) {
		p := profile(t, rapid.SampledFrom([]int{32, 42, 48}).Draw(rt, "columns"))
		amount := rapid.SampledFrom(amounts).Draw(rt, "amount")
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,15}`), 0, 12)
		line := strings.Join(append(append(words.Draw(rt, "before"), amount), words.Draw(rt, "after")...), " ")
		double := rapid.Bool().Draw(rt, "double")
		for _, l := range []printer.Line{
			{Text: line, Double: double, Align: printer.Align(rapid.IntRange(0, 2).Draw(rt, "align"))},
			{Kind: printer.Pair, Text: line, Right: amount, Double: double},
		} {
			found := 0
			for _, out := range printed(t, p, printer.Document{Lines: []printer.Line{l}}).Lines() {
				found += strings.Count(out.Text, amount)
			}
			require.Equal(rt, 1+int(l.Kind), found, "%q", line)
		}
	})
}

func TestLimits(t *testing.T) {
	p := profile(t, 48)
	code := func(s string) printer.Line { return printer.Line{Kind: printer.Code, Text: s} }
	many := func(n int, l printer.Line) (lines []printer.Line) {
		for range n {
			lines = append(lines, l)
		}
		return lines
	}
	for name, tc := range map[string]struct {
		lines []printer.Line
		want  string
	}{
		"lines":             {many(printer.MaxLines+1, text("")), "line 501: more than 500 lines"},
		"newlines":          {[]printer.Line{text("a"), text(strings.Repeat("\n", printer.MaxLines-1))}, "line 2: more than 500 lines"},
		"text":              {many(4, text(strings.Repeat("a", printer.MaxText/4+1))), "line 4: more than 32768 bytes of text"},
		"right":             {[]printer.Line{pair("", strings.Repeat("a", printer.MaxText+1))}, "line 1: more than 32768 bytes of text"},
		"codes":             {many(printer.MaxCodes+1, code("x")), "line 5: more than 4 codes"},
		"an empty code":     {[]printer.Line{code("")}, "line 1: a code of 0 bytes, want 1 to 1024"},
		"a long code":       {[]printer.Line{code(strings.Repeat("a", 1025))}, "line 1: a code of 1025 bytes, want 1 to 1024"},
		"no feed":           {[]printer.Line{feed(0)}, "line 1: feed of 0 lines, want 1 to 15"},
		"a long feed":       {[]printer.Line{feed(16)}, "line 1: feed of 16 lines, want 1 to 15"},
		"an unknown kind":   {[]printer.Line{{Kind: 9}}, "line 1: unknown kind 9"},
		"an unknown align":  {[]printer.Line{{Align: 3}}, "line 1: unknown alignment 3"},
		"a negative kind":   {[]printer.Line{{Kind: -1}}, "line 1: unknown kind -1"},
		"a negative length": {[]printer.Line{feed(-1)}, "line 1: feed of -1 lines, want 1 to 15"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := printer.Encode(p, printer.Document{Lines: tc.lines})
			require.ErrorIs(t, err, printer.ErrDocument)
			require.EqualError(t, err, "document cannot be printed: "+tc.want)
		})
	}
	_, err := printer.Encode(p, printer.Document{Lines: many(printer.MaxLines, text("a"))})
	require.NoError(t, err)
}

func TestProfiles(t *testing.T) {
	for _, name := range printer.ProfileNames() {
		p, err := printer.Named(name)
		require.NoError(t, err)
		require.NoError(t, p.Validate(), name)
	}
	_, err := printer.Named("110mm")
	require.EqualError(t, err, `printer profile "110mm": want one of 58mm, 80mm, 80mm-42`)
	_, err = printer.StatusNamed("sometimes")
	require.EqualError(t, err, `status "sometimes": want one of asb, full, inorder, none, realtime`)
	full, err := printer.StatusNamed("full")
	require.NoError(t, err)
	require.Equal(t, printer.RealTime|printer.InOrder, full)

	for name, tc := range map[string]struct {
		change func(*printer.Profile)
		want   string
	}{
		"columns":  {func(p *printer.Profile) { p.Columns = 23 }, "columns: 23, want 24 to 64"},
		"dots":     {func(p *printer.Profile) { p.Dots = 380 }, "dots: 380, want a multiple of 8 from 192 to 832"},
		"cut":      {func(p *printer.Profile) { p.Cut = 3 }, "cut: 3 is unknown"},
		"tail":     {func(p *printer.Profile) { p.Tail = 16 }, "tail: 16, want 0 to 15"},
		"status":   {func(p *printer.Profile) { p.Status = 16 }, "status: 16 is unknown"},
		"no pages": {func(p *printer.Profile) { p.Pages = nil }, "pages: none, want at least one"},
		"page": {func(p *printer.Profile) { p.Pages[0].Name = "latin1" }, `pages: "latin1" is unknown, want some of ` +
			"PC437, PC737, PC850, PC852, PC858, PC865, PC866, WPC1250, WPC1251, WPC1252, WPC1253, WPC1254, WPC1257, ISO8859-2, ISO8859-15"},
		"twice": {func(p *printer.Profile) { p.Pages[1].Number = p.Pages[0].Number }, `pages: "PC852" or its number 19 twice`},
	} {
		t.Run(name, func(t *testing.T) {
			p := profile(t, 48)
			tc.change(&p)
			require.EqualError(t, p.Validate(), tc.want)
			_, err := printer.Encode(p, printer.Document{})
			require.EqualError(t, err, "printer profile: "+tc.want)
		})
	}
	one, err := printer.Named("80mm")
	require.NoError(t, err)
	one.Pages[0].Number = 99
	require.Equal(t, byte(19), profile(t, 48).Pages[0].Number, "a changed profile changes no other")
}

// TestCuts: a printer without a knife feeds the paper past its edge.
func TestCuts(t *testing.T) {
	for name, tc := range map[string]struct {
		cut  printer.CutMode
		tail int
		want []string
		cuts int
	}{
		"partial": {printer.PartialCut, 4, []string{"  |a", "=== cut", "  |b"}, 1},
		"full":    {printer.FullCut, 0, []string{"  |a", "=== full cut", "  |b"}, 1},
		"none":    {printer.NoCut, 3, []string{"  |a", "  |", "  |", "  |", "  |b"}, 0},
		"no tail": {printer.NoCut, 0, []string{"  |a", "  |b"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := narrow()
			p.Cut, p.Tail = tc.cut, tc.tail
			var out *printertest.Printer = printed(t, p, printer.Document{Lines: []printer.Line{text("a"), cut, text("b")}})
			require.Equal(t, strings.Join(tc.want, "\n")+"\n", out.Listing())
			require.Equal(t, tc.cuts, out.Cuts())
		})
	}
}
