package browser

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// purchase begins a wallet payment and gives the address in its QR code and its number.
func (b *backend) purchase(reference string, hundredths int64) (page string) {
	b.t.Helper()
	b.call("POST", "/ms/aapay/v2/transaction/payment/initialize", map[string]any{
		"merchantId": "demomerchant", "method": "SWISH_E_COM", "terminalReference": reference, "trigger": "2",
		"purchaseAmount": map[string]any{"currencyCode": "EUR", "vatAmount": 0, "nominalAmount": hundredths, "totalAmount": hundredths},
		"consumer":       map[string]any{"consumerId": reference, "name": ""},
	}, nil, 202)
	var status struct{ QRCodePayload string }
	b.call("GET", "/ms/aapay/v2/transaction/"+reference+"/status", nil, &status, 200)
	require.NotEmpty(b.t, status.QRCodePayload)
	return status.QRCodePayload
}

const noWallet = "[backend]\nwallet_delay = \"1h\"\n"

func TestWalletPays(t *testing.T) {
	b := startBackend(t, noWallet)
	p := newTab(t)
	p.open(b.purchase("WALLET-1", 1250))
	p.says("12.50 EUR")
	p.screen("wallet-open")
	p.press("Pay")
	p.says("Paid. Thank you.")
	p.screen("wallet-paid")
	require.EqualValues(t, 1250, b.merchantNet())
}

func TestWalletDeclines(t *testing.T) {
	b := startBackend(t, noWallet)
	p := newTab(t)
	p.open(b.purchase("WALLET-2", 1250))
	p.press("Decline")
	p.says("Nothing was paid")
	require.Zero(t, b.merchantNet())
}

// A second press, from a page that lay open in another tab, moves no second amount.
func TestWalletIsPaidOnce(t *testing.T) {
	b := startBackend(t, noWallet)
	page := b.purchase("WALLET-3", 1250)
	first, second := newTab(t), newTab(t)
	first.open(page)
	second.open(page)
	first.press("Pay")
	first.says("Paid. Thank you.")
	second.press("Pay")
	require.NotContains(t, second.text(), "Something went wrong")
	require.EqualValues(t, 1250, b.merchantNet())
}
