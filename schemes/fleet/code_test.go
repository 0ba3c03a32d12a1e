package fleet_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"posagent/schemes/fleet"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
)

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// The check digits were computed by another program, by multiplication in GF(32) instead of Horner's rule.
func TestCheckDigits(t *testing.T) {
	for _, code := range []string{"7K3M9QXD2PV", "00000000000", "01234567890", "ZZZZZZZZZZ4", "ABCDEFGHJK4", "4XC5RM7A0QP"} {
		got, err := fleet.ParseCode(code)
		require.NoError(t, err, code)
		require.Equal(t, wire.Secret(code), got)
		for _, last := range alphabet {
			if other := code[:10] + string(last); other != code {
				_, err := fleet.ParseCode(other)
				require.ErrorIs(t, err, fleet.ErrCheckDigit, other)
			}
		}
	}
}

// A code is forgiven how it is typed, and nothing that it says.
func TestTypedCodes(t *testing.T) {
	for _, typed := range []string{"7K3M-9QXD-2PV", "7k3m9qxd2pv", " 7K3M 9QXD 2PV ", "7-K-3-M-9-Q-X-D-2-P-V", "7K3M–9QXD‑2PV", "7k3m\u00a09QXD\t2pv"} {
		got, err := fleet.ParseCode(typed)
		require.NoError(t, err, typed)
		require.Equal(t, wire.Secret("7K3M9QXD2PV"), got)
		require.Equal(t, "7K3M-9QXD-2PV", fleet.ShowCode(got))
	}
	for _, typed := range []string{"0123456789O", "oI23456789o", "0L234567890", "0l23-4567-89O"} { // the letters that look like digits
		got, err := fleet.ParseCode(typed)
		require.NoError(t, err, typed)
		require.Equal(t, wire.Secret("01234567890"), got)
	}
	for typed, says := range map[string]string{
		"": "these are 0", "7K3M-9QXD-2P": "these are 10", "7K3M-9QXD-2PVV": "these are 12", "7K3M-9QXD-2PU": "character 11 is in no code",
		"7K3M-9QXD-2P!": "character 11", "７K3M-9QXD-2PV": "character 1", "7K3M\n9QXD2PV": "character 5", "7K3M-9QXD-P2V": "check digit",
		strings.Repeat("7", 65): "want 11 characters", "7K3M-9QXD-2Pſ": "check digit", // ſ is an S in capitals
	} {
		_, err := fleet.ParseCode(typed)
		require.ErrorContains(t, err, says, "%q", typed)
	}
}

// Every wrong character and every two swapped characters are found.
func TestTypingMistakesAreFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		code := fleet.MakeCode(rapid.SliceOfN(rapid.Byte(), fleet.CodeEntropy, fleet.CodeEntropy).Draw(t, "random")).Reveal()
		require.Len(t, code, 11)
		_, err := fleet.ParseCode(code)
		require.NoError(t, err)
		i, j := rapid.IntRange(0, 10).Draw(t, "i"), rapid.IntRange(0, 10).Draw(t, "j")
		wrong := []byte(code)
		if wrong[i] = rapid.SampledFrom([]byte(alphabet)).Draw(t, "c"); wrong[i] != code[i] {
			_, err := fleet.ParseCode(string(wrong))
			require.ErrorIs(t, err, fleet.ErrCheckDigit)
		}
		swapped := []byte(code)
		if swapped[i], swapped[j] = swapped[j], swapped[i]; string(swapped) != code {
			_, err := fleet.ParseCode(string(swapped))
			require.ErrorIs(t, err, fleet.ErrCheckDigit)
		}
	})
}

// Codes hold fifty bits: each of their ten characters takes each value.
func TestCodesUseTheWholeAlphabet(t *testing.T) {
	seen := [10]map[byte]bool{}
	for i := range 32 {
		for place := range 10 {
			n := uint64(i) << (5 * place)
			var random [fleet.CodeEntropy]byte
			for b := range random {
				random[7-b] = byte(n >> (8 * b))
			}
			if seen[place] == nil {
				seen[place] = map[byte]bool{}
			}
			seen[place][fleet.MakeCode(random[:]).Reveal()[place]] = true
		}
	}
	for place := range seen {
		require.Len(t, seen[place], 32, "place %d", place)
	}
}

func FuzzParseCode(f *testing.F) {
	for _, s := range []string{"7K3M-9QXD-2PV", "0l23-4567-89O", "\xff", "ı", "K"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, typed string) {
		code, err := fleet.ParseCode(typed)
		if err != nil {
			return
		}
		again, err := fleet.ParseCode(fleet.ShowCode(code))
		require.NoError(t, err)
		require.Equal(t, code, again)
	})
}

func TestStates(t *testing.T) {
	// Rows are states, columns are the events redeem, confirm, revoke, expire; "-" is refused.
	want := map[fleet.State][4]fleet.State{
		fleet.Fresh:     {fleet.Redeemed, "-", fleet.Revoked, fleet.Expired},
		fleet.Redeemed:  {fleet.Redeemed, fleet.Confirmed, fleet.Revoked, fleet.Redeemed},
		fleet.Confirmed: {"-", fleet.Confirmed, fleet.Revoked, fleet.Confirmed},
		fleet.Revoked:   {"-", "-", fleet.Revoked, fleet.Revoked},
		fleet.Expired:   {"-", "-", "-", fleet.Expired},
	}
	require.Equal(t, []fleet.Event{fleet.Redeem, fleet.Confirm, fleet.Revoke, fleet.Expire}, fleet.Events())
	for _, from := range fleet.States() {
		for i, e := range fleet.Events() {
			to, ok := fleet.Next(from, e)
			if want[from][i] == "-" {
				require.False(t, ok, "%s %s", from, e)
				require.Equal(t, from, to)
				continue
			}
			require.True(t, ok, "%s %s", from, e)
			require.Equal(t, want[from][i], to, "%s %s", from, e)
		}
	}
}

func TestListsOfBoxes(t *testing.T) {
	list, err := fleet.ReadBoxes(strings.NewReader("\ufeffserial_number, merchant_id ,terminal_id,bax_id\r\nPA-1,M1,T1,B1\r\n\r\n PA-2,\"M,2\",,\r\n"))
	require.NoError(t, err)
	require.Equal(t, []fleet.ImportBox{
		{SerialNumber: "PA-1", Slot: fleet.Slot{MerchantID: "M1", TerminalID: "T1", BaxID: "B1"}},
		{SerialNumber: "PA-2", Slot: fleet.Slot{MerchantID: "M,2"}},
	}, list)
	list, err = fleet.ReadBoxes(strings.NewReader("terminal_id;serial_number\nT1;PA-1"))
	require.NoError(t, err)
	require.Equal(t, []fleet.ImportBox{{SerialNumber: "PA-1", Slot: fleet.Slot{TerminalID: "T1"}}}, list)
	for text, says := range map[string]string{
		"": "line 1: want a header", "serial_number\n": "no box", "terminal_id\nT1\n": "line 1: want a column serial_number",
		"serial_number,colour\nPA-1,red\n": `no column "colour"`, "serial_number,serial_number\nPA-1,PA-1\n": "there twice",
		"serial_number\nPA-1\nPA 2\n": `line 3: serial_number "PA 2"`, "serial_number\nPA-1\nPA-1\n": `line 3: serial_number "PA-1" stands in line 2 too: a box gets one code`,
		"serial_number\nPA-1\npa-1\n": `line 3: serial_number "pa-1" stands in line 2 too`,
		"serial_number\nPA-1,x\n":     "line 2: wrong number of fields", "serial_number\n\"PA-1\n": "line", "serial_number\n=cmd|'/C calc'!A0\n": "line 2",
		"serial_number\n" + strings.Repeat("x", 65) + "\n": "line 2", "serial_number\n" + strings.Repeat("x", 1<<20): "longer than",
	} {
		_, err := fleet.ReadBoxes(strings.NewReader(text))
		require.ErrorContains(t, err, says, "%.40q", text)
	}
	var many strings.Builder
	many.WriteString("serial_number\n")
	for i := range 501 {
		many.WriteString("A" + strings.Repeat("b", i%50) + string(rune('0'+i/50%10)) + string(rune('A'+i/250)) + "\n")
	}
	_, err = fleet.ReadBoxes(strings.NewReader(many.String()))
	require.Error(t, err)
}

func FuzzReadBoxes(f *testing.F) {
	f.Add("serial_number,terminal_id\nPA-1,T1\n")
	f.Add("serial_number;bax_id\n\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := fleet.ReadBoxes(strings.NewReader(text))
		if err == nil {
			require.NotEmpty(t, list)
			for _, b := range list {
				require.True(t, fleet.SerialNumber(b.SerialNumber))
			}
		}
	})
}

// broken requests are refused before the service is asked, and no refusal repeats a secret.
func TestRules(t *testing.T) {
	for _, c := range []struct {
		names string
		req   check.Checked
	}{
		{"revision", fleet.ConfirmRequest{}}, {"revision", fleet.ConfirmRequest{Revision: -1}},
		{"ttlSeconds", fleet.CodeRequest{TTLSeconds: 59}}, {"ttlSeconds", fleet.CodeRequest{TTLSeconds: fleet.MaxTTL + 1}},
		{"serialNumber", fleet.CodeRequest{Bundle: true}}, {"expiresAt", fleet.RenewRequest{}}, {"expiresAt", fleet.RenewRequest{ExpiresAt: "2028"}},
		{"serialNumber", fleet.CodeRequest{SerialNumber: "a b"}}, {"slot.terminalId", fleet.CodeRequest{Slot: fleet.Slot{TerminalID: "a\nb"}}},
		{"configuration", fleet.CodeRequest{Configuration: "cAnArY\x00"}}, {"configuration", fleet.CodeRequest{Configuration: wire.Secret(strings.Repeat("x", 64<<10+1))}},
		{"configuration", fleet.ConfigureRequest{}}, {"configuration", fleet.ConfigureRequest{Configuration: "cAnArY\x00"}},
		{"boxes", fleet.ImportRequest{}}, {"boxes", fleet.ImportRequest{Boxes: make([]fleet.ImportBox, 501)}},
		{"boxes[1].serialNumber", fleet.ImportRequest{Boxes: []fleet.ImportBox{{SerialNumber: "a"}, {SerialNumber: "a"}}}},
		{"boxes[0].slot.baxId", fleet.ImportRequest{Boxes: []fleet.ImportBox{{SerialNumber: "a", Slot: fleet.Slot{BaxID: "\x00"}}}}},
		{"state", fleet.ListRequest{State: "fresh"}}, {"reason", fleet.RevokeRequest{Reason: "a\u2028b"}},
		{"code", fleet.RedeemRequest{Code: "cAnArY", SerialNumber: "a"}}, {"csr", fleet.RedeemRequest{CSR: "cAnArY", SerialNumber: "a"}},
		{"serialNumber", fleet.RedeemRequest{SerialNumber: "-a"}}, {"version", fleet.RedeemRequest{Version: "a\nb"}},
	} {
		err := check.Request("op", c.req)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%#v", c.req)
		require.ErrorContains(t, err, c.names)
		require.NotContains(t, err.Error(), "cAnArY")
	}
	require.NoError(t, check.Request("op", fleet.CodeRequest{}))
}
