package aapay

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"posagent/schemes/money"
)

// emvCode is what an EMV merchant-presented QR says.
type emvCode struct {
	Provider  string // reverse domain name of the template
	Merchant  string
	City      string
	Country   string
	Currency  money.Currency
	Amount    money.Minor
	Reference string // 62.05, at most 25 characters
}

var errEMV = errors.New("wallets: cannot be said in an EMV code")

// emv writes an EMV merchant-presented code (EMVCo MPM 1.1): dynamic, one template, reference label, CRC last.
// Lengths count characters, the CRC runs over the bytes.
func emv(c emvCode) (string, error) {
	if n := utf8.RuneCountInString(c.Reference); n == 0 || n > 25 || c.Amount <= 0 {
		return "", errEMV
	}
	amount := money.FormatNumber(c.Amount, c.Currency)
	if len(amount) > 13 {
		return "", fmt.Errorf("%w: amount %s", errEMV, amount)
	}
	var b strings.Builder
	for _, f := range []struct{ id, value string }{
		{"00", "01"},
		{"01", "12"},
		{"26", field("00", c.Provider) + field("01", c.Reference)},
		{"52", "5999"},
		{"53", fmt.Sprintf("%03d", c.Currency.Numeric)},
		{"54", amount},
		{"58", c.Country},
		{"59", clip(c.Merchant, 25)},
		{"60", clip(c.City, 15)},
		{"62", field("05", c.Reference)},
	} {
		b.WriteString(field(f.id, f.value))
	}
	b.WriteString("6304")
	return b.String() + fmt.Sprintf("%04X", crc16([]byte(b.String()))), nil
}

func field(id, value string) string {
	return fmt.Sprintf("%s%02d%s", id, utf8.RuneCountInString(value), value)
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}

// crc16 is CRC-16/CCITT-FALSE: polynomial 1021, start FFFF, nothing reflected.
func crc16(data []byte) uint16 {
	crc := uint16(0xFFFF)
	for _, b := range data {
		crc ^= uint16(b) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return crc
}

// Ref finds a transaction's reference in what a wallet scanned: the URL of a wallet page, an EMV code, or the
// reference itself.
func Ref(scanned string) string {
	scanned = strings.TrimSpace(scanned)
	if _, rest, ok := strings.Cut(scanned, "/wallet/"); ok {
		ref, _, _ := strings.Cut(rest, "?")
		ref, _, _ = strings.Cut(ref, "/")
		return ref
	}
	if strings.HasPrefix(scanned, "000201") {
		if v := tlv(tlv(scanned, "62"), "05"); v != "" {
			return v
		}
	}
	return scanned
}

// tlv finds a field among EMV fields; "" when it is not there or the text is broken.
func tlv(text, id string) string {
	rest := []rune(text)
	for len(rest) >= 4 {
		hi, lo := rest[2]-'0', rest[3]-'0'
		if hi < 0 || hi > 9 || lo < 0 || lo > 9 {
			return ""
		}
		n := int(hi)*10 + int(lo)
		if len(rest) < 4+n {
			return ""
		}
		if string(rest[:2]) == id {
			return string(rest[4 : 4+n])
		}
		rest = rest[4+n:]
	}
	return ""
}
