package ecr

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCardTypeOfAMethod(t *testing.T) {
	for _, c := range []struct {
		method string
		number int
		name   string
	}{
		{"ALIPAY", 97, "Alipay"},
		{"Alipay_POS", 107, "Alipay @POS-Model 2"},
		{"PAYPAL_QR", 119, "PayPal"},
		{"klarna", 120, "Klarna"},
		{"TWINT", 125, "TWINT"},
		{"PAYCONIQ_BE", 126, "Payconiq"},
		{"INSTANT_PAYMENT", 111, "Instant Payment"},
		{"BLUE_CODE", 260, "Bluecode"},
		{"WECHAT_PAY", 261, "WeChat Pay"},
		{"SWISH_E_COM", QRPay, "SWISH_E_COM"},
		{"paylink", PayLink, "Payment link"},
		{"", 0, ""},
	} {
		require.Equal(t, c.number, CardType(c.method), c.method)
		require.Equal(t, c.name, CardName(c.method), c.method)
	}
}
