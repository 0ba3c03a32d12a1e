package printqueue

import (
	"context"

	"posagent/device/printer"
	"posagent/ecr"
)

// TestPrint adds the page on which each fault of the printer names the setting that mends it, and waits a moment for it, as Reprint does.
func (p *Paper) TestPrint(ctx context.Context) (printed bool, err error) {
	return p.again(ctx, waiting{what: ofTest, name: "print test"}, "print test", "")
}

// testPage is that page.
func testPage(language string) printer.Document {
	title, end := "PRINT TEST", "END OF THE PRINT TEST"
	asks := []string{
		"1. The line above reaches from edge to edge. If it is broken or short: set columns of [printer], or profile.",
		"2. Letters: ÄÖÜäöüß éèà łżš € £. Chinese signs among them: single_byte = true. A dot above the title: single_byte = false. Other letters: pages.",
		"3. Below is a QR code that a phone reads. Letters and signs in its place: codes = \"own\"; if it prints nothing then: codes = \"text\".",
		"4. The page ends with a line that says so. If it was cut off and posagent status says no reason: status = \"full\", or \"none\" where it answers nothing.",
	}
	if ecr.German(language) {
		title, end = "DRUCKTEST", "ENDE DES DRUCKTESTS"
		asks = []string{
			"1. Die Linie oben reicht von Rand zu Rand. Ist sie gebrochen oder zu kurz: columns von [printer] setzen, oder profile.",
			"2. Buchstaben: ÄÖÜäöüß éèà łżš € £. Chinesische Zeichen darin: single_byte = true. Ein Punkt über dem Titel: single_byte = false. Andere Buchstaben: pages.",
			"3. Unten steht ein QR-Code, den ein Telefon liest. Buchstaben und Zeichen an seiner Stelle: codes = \"own\"; druckt er dann nichts: codes = \"text\".",
			"4. Die Seite endet mit einer Zeile, die es sagt. Wurde sie abgeschnitten und posagent status nennt keinen Grund: status = \"full\", oder \"none\", wo er nichts beantwortet.",
		}
	}
	d := printer.Document{Lines: []printer.Line{{Text: title, Align: printer.Centre, Bold: true}, {Kind: printer.Rule}}}
	for _, text := range asks {
		d.Lines = append(d.Lines, printer.Line{Text: text}, printer.Line{Kind: printer.Feed, Lines: 1})
	}
	d.Lines = append(d.Lines, printer.Line{Kind: printer.Code, Text: "posagent doctor --print"}, printer.Line{Text: end, Align: printer.Centre, Bold: true}, printer.Line{Kind: printer.Cut})
	return d
}
