package qr

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"posagent/schemes/money"
)

// ErrEMV is the error of a payload that is no sound EMV merchant-presented code.
var ErrEMV = errors.New("broken EMV code")

// EMV is what an EMV merchant-presented code says (EMVCo QR code specification for payment systems, merchant-presented mode).
type EMV struct {
	Merchant string // tag 59
	City     string // tag 60
	Country  string // tag 58, ISO 3166-1 alpha-2
	Category string // tag 52, four digits
	Currency uint16 // tag 53, ISO 4217 numeric
	Amount   string // tag 54 as printed, e.g. "12.50"; "" = the customer enters it
	Dynamic  bool   // tag 01 is "12": the code serves one payment
}

// Minor returns the amount in minor units of a currency with that many decimals (exponent as in money.Currency).
// ok is false when the code carries no amount, or one that such a currency cannot express.
func (e EMV) Minor(exponent uint8) (amount money.Minor, ok bool) {
	whole, frac, _ := strings.Cut(e.Amount, ".")
	if whole == "" || exponent > 4 {
		return 0, false
	}
	frac = strings.TrimRight(frac, "0")
	if len(frac) > int(exponent) {
		return 0, false
	}
	n, err := strconv.ParseInt(whole+frac+strings.Repeat("0", int(exponent)-len(frac)), 10, 64)
	return money.Minor(n), err == nil
}

// Tags of the outermost level.
const (
	tagFormat       = "00"
	tagInitiation   = "01"
	tagFirstAccount = "02"
	tagLastAccount  = "51"
	tagCategory     = "52"
	tagCurrency     = "53"
	tagAmount       = "54"
	tagCountry      = "58"
	tagMerchant     = "59"
	tagCity         = "60"
	tagCRC          = "63"
)

const maxEMV = 512 // bytes in a whole code

type field struct{ tag, value string }

// CheckEMV reads a merchant-presented code and refuses a broken one: TLV structure, format first, CRC last and right, every
// mandatory tag present and well formed, no tag twice. Every error is ErrEMV and names what is wrong.
func CheckEMV(payload string) (EMV, error) {
	if len(payload) > maxEMV {
		return EMV{}, broken("%d bytes, limit %d", len(payload), maxEMV)
	}
	if !utf8.ValidString(payload) {
		return EMV{}, broken("not UTF-8")
	}
	if err := checkCRC(payload); err != nil {
		return EMV{}, err
	}
	fields, err := split(payload, runes)
	if err != nil && len(payload) != utf8.RuneCountInString(payload) {
		fields, err = split(payload, octets)
	}
	if err != nil {
		return EMV{}, err
	}
	return readEMV(fields)
}

func broken(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrEMV, fmt.Sprintf(format, args...))
}

// checkCRC compares the last four characters with the CRC of everything before them, "6304" included.
func checkCRC(payload string) error {
	at := len(payload) - 4
	if at < 4 || payload[at-4:at] != tagCRC+"04" {
		return broken("does not end in a CRC")
	}
	said := payload[at:]
	if want := fmt.Sprintf("%04X", crc16(payload[:at])); !strings.EqualFold(said, want) {
		return broken("CRC is %q, should be %s", said, want)
	}
	return nil
}

// crc16 is CRC-16/CCITT-FALSE: polynomial 1021, start FFFF, not reflected, no final XOR.
func crc16(s string) uint16 {
	crc := uint16(0xFFFF)
	for i := range len(s) {
		crc ^= uint16(s[i]) << 8
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

// octets and runes cut n units off the front of s; ok is false when there are fewer.
func octets(s string, n int) (front, rest string, ok bool) {
	if n > len(s) || !utf8.ValidString(s[:n]) {
		return "", "", false
	}
	return s[:n], s[n:], true
}

func runes(s string, n int) (front, rest string, ok bool) {
	end := 0
	for range n {
		if end == len(s) {
			return "", "", false
		}
		_, w := utf8.DecodeRuneInString(s[end:])
		end += w
	}
	return s[:end], s[end:], true
}

// split reads tags and values up to the CRC, which must be the last.
func split(s string, cut func(string, int) (string, string, bool)) ([]field, error) {
	var fields []field
	seen := map[string]bool{}
	for s != "" {
		if len(s) < 4 || !digits(s[:4]) {
			return nil, broken("no tag and length after tag %s", lastTag(fields))
		}
		tag, length := s[:2], int(s[2]-'0')*10+int(s[3]-'0')
		value, rest, ok := cut(s[4:], length)
		switch {
		case !ok:
			return nil, broken("tag %s is shorter than its length %d", tag, length)
		case length == 0:
			return nil, broken("tag %s is empty", tag)
		case seen[tag]:
			return nil, broken("tag %s twice", tag)
		case tag == tagCRC && rest != "":
			return nil, broken("data after the CRC")
		}
		seen[tag] = true
		fields = append(fields, field{tag, value})
		s = rest
	}
	if lastTag(fields) != tagCRC {
		return nil, broken("does not end in a CRC")
	}
	return fields, nil
}

func lastTag(fields []field) string {
	if len(fields) == 0 {
		return "(none)"
	}
	return fields[len(fields)-1].tag
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func readEMV(fields []field) (EMV, error) {
	if fields[0] != (field{tagFormat, "01"}) {
		return EMV{}, broken("does not start with format 01")
	}
	var e EMV
	account := false
	values := make(map[string]string, len(fields))
	for _, f := range fields {
		values[f.tag] = f.value
		account = account || f.tag >= tagFirstAccount && f.tag <= tagLastAccount
	}
	for _, tag := range []string{tagCategory, tagCurrency, tagCountry, tagMerchant, tagCity} {
		if values[tag] == "" {
			return EMV{}, broken("tag %s is missing", tag)
		}
	}
	e.Merchant, e.City, e.Country, e.Category, e.Amount = values[tagMerchant], values[tagCity], values[tagCountry], values[tagCategory], values[tagAmount]
	switch {
	case !account:
		return EMV{}, broken("no merchant account (tags 02 to 51)")
	case len(e.Category) != 4 || !digits(e.Category):
		return EMV{}, broken("category %q", e.Category)
	case len(values[tagCurrency]) != 3 || !digits(values[tagCurrency]):
		return EMV{}, broken("currency %q", values[tagCurrency])
	case len(e.Country) != 2 || strings.Trim(e.Country, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "":
		return EMV{}, broken("country %q", e.Country)
	case e.Amount != "" && !isAmount(e.Amount):
		return EMV{}, broken("amount %q", e.Amount)
	}
	switch values[tagInitiation] {
	case "", "11":
	case "12":
		e.Dynamic = true
	default:
		return EMV{}, broken("point of initiation %q", values[tagInitiation])
	}
	n, err := strconv.ParseUint(values[tagCurrency], 10, 16)
	if err != nil {
		return EMV{}, broken("currency %q", values[tagCurrency])
	}
	e.Currency = uint16(n)
	return e, nil
}

// isAmount accepts up to 13 characters of digits with at most one point that follows a digit.
func isAmount(s string) bool {
	whole, frac, _ := strings.Cut(s, ".")
	return len(s) <= 13 && digits(whole) && (frac == "" || digits(frac))
}
