package zvt

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/ecr/zvt/apdu"
)

func asked(t *testing.T, prof profile, text string) (ecr.Request, error) {
	t.Helper()
	data, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	require.NoError(t, err)
	msg, err := apdu.Decode(data)
	require.NoError(t, err)
	m := New(testConfig(), nil)
	m.prof = prof
	return m.saleRequest(msg, 1)
}

// A number that the register has read from a barcode is the customer's code; any other card number
// is none.
func TestACodeThatTheRegisterHasScanned(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
		err        error
	}{
		"scanned":           {"06 01 16 04 00 00 00 00 12 50 22 F0 F6 46 70 00 00 00 01 06 04 1F 2D 01 02", "467000000001", nil},
		"an odd number":     {"06 01 16 04 00 00 00 00 12 50 22 F0 F6 46 70 00 00 00 1F 06 04 1F 2D 01 02", "46700000001", nil},
		"not said":          {"06 01 10 04 00 00 00 00 12 50 22 F0 F6 46 70 00 00 00 01", "", nil},
		"swiped":            {"06 01 16 04 00 00 00 00 12 50 22 F0 F6 46 70 00 00 00 01 06 04 1F 2D 01 01", "", nil},
		"masked":            {"06 01 16 04 00 00 00 00 12 50 22 F0 F6 46 70 EE EE 00 01 06 04 1F 2D 01 02", "", errMalformed},
		"filled within":     {"06 01 16 04 00 00 00 00 12 50 22 F0 F6 46 70 F0 00 00 01 06 04 1F 2D 01 02", "", errMalformed},
		"a letter":          {"06 01 16 04 00 00 00 00 12 50 22 F0 F6 46 70 0A 00 00 01 06 04 1F 2D 01 02", "", errMalformed},
		"nothing":           {"06 01 10 04 00 00 00 00 12 50 22 F0 F0 06 04 1F 2D 01 02", "", errMalformed},
		"the number is not": {"06 01 0D 04 00 00 00 00 12 50 06 04 1F 2D 01 02", "", errMalformed},
	} {
		req, err := asked(t, defaultProfile(), c.text)
		require.ErrorIs(t, err, c.err, name)
		require.Equal(t, c.want, req.ConsumerID, name)
	}
}

// Only a register that has registered, and leaves payments to the terminal, lets it ask for an
// amount.
func TestARegisterThatLeavesTheAmountToTheTerminal(t *testing.T) {
	at := func(config byte) profile {
		return registered(apdu.Message{Cmd: apdu.Registration, Prefix: []byte{0x12, 0x34, 0x56, config}}, defaultProfile(), nil)
	}
	for name, c := range map[string]struct {
		prof profile
		text string
		want bool
	}{
		"leaves it":        {at(0x86), "06 01 00", true},
		"names none":       {at(0x86), "06 01 07 04 00 00 00 00 00 00", false},
		"names one":        {at(0x86), "06 01 07 04 00 00 00 00 12 50", false},
		"controls it":      {at(0x96), "06 01 00", false},
		"never registered": {defaultProfile(), "06 01 00", false},
		"a refund":         {at(0x86), "06 30 06 12 34 56 87 00 07", false},
	} {
		req, err := asked(t, c.prof, c.text)
		require.NoError(t, err, name)
		require.Equal(t, c.want, req.AskAmount, name)
	}
}

func FuzzScanned(f *testing.F) {
	for _, v := range [][]byte{{0x46, 0x7F}, {}, {0xFF}, {0xEE, 0x12}, {0x12, 0x34}} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v []byte) {
		msg := apdu.Message{Cmd: apdu.Authorisation, Fields: []apdu.Field{{BMP: 0x22, Value: v}, {BMP: 0x06, TLV: []apdu.TLV{{Tag: 0x1F2D, Value: []byte{0x02}}}}}}
		code, err := scanned(msg)
		if err != nil {
			require.Empty(t, code)
			return
		}
		require.Regexp(t, `^[0-9]+$`, code)
		require.LessOrEqual(t, len(code), 2*len(v))
	})
}
