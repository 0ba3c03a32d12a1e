package ecr

import "strings"

// German reports whether the texts of a terminal with this language are German; those of every
// other language are English.
func German(language string) bool { return strings.HasPrefix(strings.ToLower(language), "de") }

// NameOriginal is the text of NoOriginal: what a register has to send with a refund.
func NameOriginal(language string) string {
	if German(language) {
		return "Zahlung angeben: TLV 1F0D R<Beleg>, R<Abschluss>/<Beleg> oder T<Transaktion>, oder BMP 87"
	}
	return "name the sale: TLV 1F0D R<receipt>, R<batch>/<receipt> or T<transaction>, or BMP 87"
}

// HeldText is the text of OnHold: what became of the sale is not known here, and may be money.
func HeldText(language string) string {
	if German(language) {
		return "zurückgehalten: ein Mensch sieht nach, nicht wiederholen"
	}
	return "held: a person looks, do not repeat"
}
