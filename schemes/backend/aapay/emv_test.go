package aapay

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/money"
)

func TestCRCKnownAnswer(t *testing.T) {
	require.EqualValues(t, 0x29B1, crc16([]byte("123456789")))
	require.EqualValues(t, 0xFFFF, crc16(nil))
}

func TestEMVCode(t *testing.T) {
	eur, _ := money.Lookup("EUR")
	jpy, _ := money.Lookup("JPY")
	kwd, _ := money.Lookup("KWD")
	for _, row := range []struct {
		cur     money.Currency
		amount  money.Minor
		numeric string
		text    string
	}{
		{eur, 1250, "978", "12.50"}, {eur, 5, "978", "0.05"}, {jpy, 500, "392", "500"}, {kwd, 1250, "414", "1.250"},
	} {
		code, err := emv(emvCode{
			Provider: "com.example.bluecode", Merchant: "Müllers Bäckerei am alten Markt 17", City: "Königs Wusterhausen",
			Country: "DE", Currency: row.cur, Amount: row.amount, Reference: newRef(),
		})
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(code, "000201010212"))
		require.Equal(t, row.numeric, tlv(code, "53"))
		require.Equal(t, row.text, tlv(code, "54"))
		require.Equal(t, "DE", tlv(code, "58"))
		require.Equal(t, "Müllers Bäckerei am alten", tlv(code, "59"))
		require.Equal(t, "Königs Wusterha", tlv(code, "60"))
		require.Equal(t, tlv(tlv(code, "62"), "05"), Ref(code))
		body, sum := code[:len(code)-4], code[len(code)-4:]
		require.True(t, strings.HasSuffix(body, "6304"))
		require.Equal(t, fmt.Sprintf("%04X", crc16([]byte(body))), sum)
		require.Equal(t, sum, tlv(code, "63"))
	}
	for _, bad := range []emvCode{
		{Currency: eur, Amount: 1, Reference: ""},
		{Currency: eur, Amount: 1, Reference: strings.Repeat("x", 26)},
		{Currency: eur, Amount: 0, Reference: "x"},
		{Currency: eur, Amount: 1e15, Reference: "x"},
	} {
		_, err := emv(bad)
		require.ErrorIs(t, err, errEMV)
	}
}

func TestRef(t *testing.T) {
	for in, want := range map[string]string{
		"http://127.0.0.1:8490/wallet/P00": "P00",
		"https://host/wallet/P00/pay?x=1":  "P00",
		"http://h/wallet/P00?lang=de":      "P00",
		" P00\n":                           "P00",
		"0002010102":                       "0002010102",
		"00020101021262090501Ab":           "00020101021262090501Ab",
		"":                                 "",
		"000201" + field("62", field("05", "R1")): "R1",
	} {
		require.Equal(t, want, Ref(in), in)
	}
}

func FuzzRef(f *testing.F) {
	for _, s := range []string{"", "000201", "0002016299", "http://h/wallet/", "000201" + field("62", field("05", "R1")), "62050501é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if out := Ref(s); len(out) > len(s) {
			t.Fatalf("%q came out of %q", out, s)
		}
	})
}
