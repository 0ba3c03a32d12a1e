package ecr

import "strings"

// NameOriginal is the text of NoOriginal: what a register has to send with a refund.
func NameOriginal(language string) string {
	if strings.HasPrefix(strings.ToLower(language), "de") {
		return "Zahlung angeben: TLV 1F0D R<Beleg>, R<Abschluss>/<Beleg> oder T<Transaktion>, oder BMP 87"
	}
	return "name the sale: TLV 1F0D R<receipt>, R<batch>/<receipt> or T<transaction>, or BMP 87"
}
