package ecr

import "strings"

// QRPay is the ZVT card type of a QR payment that has no type of its own.
const QRPay = 280

// PayLink is the card type of a payment link. The protocol has none; its list ends far below.
const PayLink = 900

// cardType is one row of the table of ZVT card types.
type cardType struct {
	word   string // what the method's name contains, letters and digits only
	number int
	name   string
}

// cardTypes is never written to; the first row that fits counts.
var cardTypes = [...]cardType{
	{"ALIPAYPOS", 107, "Alipay @POS-Model 2"},
	{"ALIPAY", 97, "Alipay"},
	{"PAYPAL", 119, "PayPal"},
	{"KLARNA", 120, "Klarna"},
	{"TWINT", 125, "TWINT"},
	{"PAYCONIQ", 126, "Payconiq"},
	{"INSTANTPAYMENT", 111, "Instant Payment"},
	{"BLUECODE", 260, "Bluecode"},
	{"WECHAT", 261, "WeChat Pay"},
	{"QRPAY", QRPay, "QRpay"},
	{"PAYLINK", PayLink, "Payment link"},
}

func cardTypeOf(method string) (cardType, bool) {
	plain := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, method)
	for _, c := range cardTypes {
		if strings.Contains(plain, c.word) {
			return c, true
		}
	}
	return cardType{}, false
}

// CardType is the ZVT card type of a method definition's name: the wallet's own number, QRPay where
// it has none, 0 for no method. Numbers above 255 do not fit into one byte on the wire.
func CardType(method string) int {
	if method == "" {
		return 0
	}
	if c, ok := cardTypeOf(method); ok {
		return c.number
	}
	return QRPay
}

// CardName is what a register calls the method where no label is known.
func CardName(method string) string {
	if c, ok := cardTypeOf(method); ok {
		return c.name
	}
	return method
}
