package qr_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/device/qr"
	"posagent/schemes/money"
)

// emvExample is the worked example of EMVCo's merchant-presented specification; its CRC is EMVCo's own.
const emvExample = "00020101021229300012D156000000000510A93FO3230Q31280012D15600000001030812345678520441115802CN" +
	"5914BEST TRANSPORT6007BEIJING64200002ZH0104最佳运输0202北京540523.7253031565502016233030412340603***0708A60086670902ME" +
	"91320016A0112233449988770708123456786304A13A"

// crcOf is the CRC of a code, computed bit by bit from its definition: the remainder of the message, with
// its first 16 bits turned over, times x^16 modulo x^16 + x^12 + x^5 + 1.
func crcOf(s string) string {
	var reg uint32 = 0xFFFF
	for _, b := range []byte(s) {
		for bit := 7; bit >= 0; bit-- {
			top := reg>>15&1 ^ uint32(b)>>bit&1
			reg = reg << 1 & 0xFFFF
			if top == 1 {
				reg ^= 1<<12 | 1<<5 | 1
			}
		}
	}
	return fmt.Sprintf("%04X", reg)
}

func tlv(tag, value string) string { return fmt.Sprintf("%s%02d%s", tag, len([]rune(value)), value) }

// sealed closes a list of fields with its CRC.
func sealed(fields ...string) string {
	s := strings.Join(fields, "") + "6304"
	return s + crcOf(s)
}

// good returns the fields of a sound code, with some replaced: tag -> whole field, "" = left out.
func good(replace map[string]string) string {
	var out []string
	for _, f := range []string{tlv("00", "01"), tlv("01", "12"), tlv("26", tlv("00", "se.example")+tlv("01", "12345")), tlv("52", "5411"), tlv("53", "978"),
		tlv("54", "12.50"), tlv("58", "DE"), tlv("59", "Kiosk am Markt"), tlv("60", "Köln")} {
		if r, ok := replace[f[:2]]; ok {
			f = r
		}
		out = append(out, f)
	}
	return sealed(out...)
}

func TestCheckEMVAccepts(t *testing.T) {
	e, err := qr.CheckEMV(emvExample)
	require.NoError(t, err)
	require.Equal(t, qr.EMV{Merchant: "BEST TRANSPORT", City: "BEIJING", Country: "CN", Category: "4111", Currency: 156, Amount: "23.72", Dynamic: true}, e)

	want := qr.EMV{Merchant: "Kiosk am Markt", City: "Köln", Country: "DE", Category: "5411", Currency: 978, Amount: "12.50", Dynamic: true}
	e, err = qr.CheckEMV(good(nil))
	require.NoError(t, err)
	require.Equal(t, want, e)

	t.Run("lengths in bytes", func(t *testing.T) {
		e, err := qr.CheckEMV(good(map[string]string{"60": "6005Köln"}))
		require.NoError(t, err)
		require.Equal(t, want, e)
	})
	t.Run("lower-case CRC", func(t *testing.T) {
		lower := emvExample[:len(emvExample)-4] + "a13a"
		_, err := qr.CheckEMV(lower)
		require.NoError(t, err)
	})
	t.Run("the customer enters the amount", func(t *testing.T) {
		e, err := qr.CheckEMV(good(map[string]string{"54": "", "01": tlv("01", "11")}))
		require.NoError(t, err)
		require.Empty(t, e.Amount)
		require.False(t, e.Dynamic)
	})
}

func TestCheckEMVRefuses(t *testing.T) {
	sound := good(nil)
	for name, tc := range map[string]struct{ payload, want string }{
		"empty":                    {"", "CRC"},
		"a link":                   {"https://pay.example/q/1", "CRC"},
		"wrong CRC":                {sound[:len(sound)-4] + "0000", "should be " + sound[len(sound)-4:]},
		"one digit of the amount":  {strings.Replace(sound, "12.50", "12.51", 1), "CRC"},
		"cut off":                  {sound[:len(sound)-8], "CRC"},
		"too long":                 {good(map[string]string{"52": strings.Repeat(tlv("52", "5411"), 70)}), "limit"},
		"not UTF-8":                {"0002\xff\xfe6304ABCD", "UTF-8"},
		"format not first":         {sealed(tlv("01", "12"), tlv("00", "01")), "format"},
		"another format":           {good(map[string]string{"00": tlv("00", "02")}), "format"},
		"no account":               {good(map[string]string{"26": ""}), "account"},
		"no category":              {good(map[string]string{"52": ""}), "52"},
		"no currency":              {good(map[string]string{"53": ""}), "53"},
		"no country":               {good(map[string]string{"58": ""}), "58"},
		"no merchant":              {good(map[string]string{"59": ""}), "59"},
		"no city":                  {good(map[string]string{"60": ""}), "60"},
		"category of letters":      {good(map[string]string{"52": tlv("52", "54x1")}), "category"},
		"currency of letters":      {good(map[string]string{"53": tlv("53", "EUR")}), "currency"},
		"currency of two digits":   {good(map[string]string{"53": tlv("53", "97")}), "currency"},
		"country in lower case":    {good(map[string]string{"58": tlv("58", "de")}), "country"},
		"amount with a comma":      {good(map[string]string{"54": tlv("54", "12,50")}), "amount"},
		"amount with a sign":       {good(map[string]string{"54": tlv("54", "-12.50")}), "amount"},
		"amount of 14 digits":      {good(map[string]string{"54": tlv("54", "12345678901234")}), "amount"},
		"amount that starts at .":  {good(map[string]string{"54": tlv("54", ".50")}), "amount"},
		"initiation 13":            {good(map[string]string{"01": tlv("01", "13")}), "initiation"},
		"a tag twice":              {good(map[string]string{"54": tlv("54", "12.50") + tlv("54", "99.00")}), "twice"},
		"an empty tag":             {good(map[string]string{"54": "5400"}), "empty"},
		"a tag that is no number":  {good(map[string]string{"54": "5x0512.50"}), "no tag"},
		"a length that is too big": {sealed(tlv("00", "01"), "5999Kiosk"), "shorter"},
		"two CRCs":                 {sealed(tlv("00", "01"), tlv("63", "1234")), "after the CRC"},
		"CRC inside another value": {sealed(tlv("00", "01"), "6208"), "does not end in a CRC"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := qr.CheckEMV(tc.payload)
			require.ErrorIs(t, err, qr.ErrEMV)
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestAmountInMinorUnits(t *testing.T) {
	for _, tc := range []struct {
		amount   string
		exponent uint8
		want     money.Minor
		ok       bool
	}{
		{"12.50", 2, 1250, true},
		{"12.5", 2, 1250, true},
		{"12", 2, 1200, true},
		{"12.", 2, 1200, true},
		{"0.01", 2, 1, true},
		{"12.505", 2, 0, false},
		{"12.500", 2, 1250, true},
		{"1200", 0, 1200, true},
		{"1200.5", 0, 0, false},
		{"1200.00", 0, 1200, true},
		{"1.234", 3, 1234, true},
		{"", 2, 0, false},
		{"9999999999999", 4, 99999999999990000, true},
		{"1", 5, 0, false},
	} {
		got, ok := qr.EMV{Amount: tc.amount}.Minor(tc.exponent)
		require.Equal(t, tc.ok, ok, "%q %d", tc.amount, tc.exponent)
		if ok {
			require.Equal(t, tc.want, got, "%q %d", tc.amount, tc.exponent)
		}
	}
}

func FuzzCheckEMV(f *testing.F) {
	for _, seed := range []string{emvExample, good(nil), good(map[string]string{"60": "6005Köln"}), "", "6304FFFF", "00020163041D0F", "000201\xff6304ABCD"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, payload string) {
		e, err := qr.CheckEMV(payload)
		if err != nil {
			require.ErrorIs(t, err, qr.ErrEMV)
			require.Zero(t, e)
			return
		}
		at := len(payload) - 4
		require.Equal(t, crcOf(payload[:at]), strings.ToUpper(payload[at:]))
		require.NotEmpty(t, e.Merchant)
		require.Len(t, e.Category, 4)
		if payload[at-5] == '~' {
			return
		}
		_, err = qr.CheckEMV(payload[:at-5] + "~" + payload[at-4:])
		require.Error(t, err, "a changed character must break the CRC or the structure")
	})
}
