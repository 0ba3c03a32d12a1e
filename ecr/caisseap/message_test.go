package caisseap

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/schemes/money"
)

// verdict is what the terminal makes of a request, in words.
func verdict(t testing.TB, data []byte, currency string) string {
	d := New(Config{Currency: currency}, "tcp")
	for _, a := range d.Step(ecr.Received{Data: data}) {
		switch a := a.(type) {
		case ecr.Begin:
			name, ok := strings.CutPrefix(a.Request.Line, "tcp/")
			require.True(t, ok)
			s := fmt.Sprintf("begin %s %d %s till %s", a.Request.Kind, a.Request.Amount, a.Request.Currency, name)
			if a.Request.Original != "" {
				s += " original " + a.Request.Original
			}
			return s
		case ecr.Send:
			require.LessOrEqual(t, len(a.Data), 1024)
			m, err := Decode(a.Data)
			require.NoError(t, err)
			s := "AE " + m.Get("AE")
			if af := m.Get("AF"); af != "" {
				s += " AF " + af
			}
			return s
		}
	}
	return "nothing"
}

// ownVectors reads the file of our own requests.
func ownVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/vectors.txt")
	require.NoError(t, err)
	request, n := "", 0
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		switch rest := line[min(2, len(line)):]; {
		case strings.HasPrefix(line, "> "):
			request = rest
		case strings.HasPrefix(line, "= "):
			n++
			require.Equal(t, rest, verdict(t, []byte(request), "EUR"), request)
		}
	}
	require.Equal(t, 17, n)
}

// judged is what each vector of the file named by VECTORS comes to, by words of its meaning. The
// first that fits counts.
var judged = []struct{ direction, words, currency, want string }{
	{"register", "debit 12.50 EUR", "EUR", "begin payment 1250 EUR till 01"},
	{"register", "credit (refund) 12.50", "EUR", "begin refund 1250 EUR till 01"},
	{"register", "by cheque", "EUR", "AE 01 AF 10"},
	{"register", "debit 0.05", "EUR", "begin payment 5 EUR till 01"},
	{"register", "debit 500 XPF", "XPF", "begin payment 500 XPF till 01"},
	{"register", "debit 112.45", "EUR", "begin payment 11245 EUR till 01"},
	{"register", "debit 15.90", "EUR", "begin payment 1590 EUR till 01"},
	{"register", "debit 123.45", "EUR", "begin payment 12345 EUR till 01"},
	{"register", "identification", "EUR", "AE 10"},
	{"register", "closed by CR LF", "EUR", "begin payment 1250 EUR till 01"},
	{"register", "no CB", "EUR", "AE 01 AF 09"},
	{"register", "size not numeric", "EUR", "AE 01 AF 09"},
	{"register", "CB twice", "EUR", "AE 01 AF 09"},
	{"register", "CZ not first", "EUR", "AE 01 AF 09"},
	{"register", "unknown CD", "EUR", "AE 01 AF 12"},
	{"register", "Concert frame", "EUR", "strange"},
	{"terminal", "approved: success", "", "AE 10 AF "},
	{"terminal", "least answer", "", "malformed"}, // without CZ: this terminal never sends it
	{"terminal", "not performed, refused", "", "AE 01 AF 04"},
	{"terminal", "not performed, abandoned:", "", "AE 01 AF 06"},
	{"terminal", "not performed, time-out", "", "AE 01 AF 08"},
	{"terminal", "abandoned by operator", "", "AE 01 AF 11"},
	{"terminal", "not performed, currency", "", "AE 01 AF 13"},
	{"terminal", "not performed, unknown CD", "", "AE 01 AF 12"},
	{"terminal", "not performed, format", "", "AE 01 AF 09"},
	{"terminal", "nothing echoed", "", "AE 01 AF 06"},
	{"terminal", "another CB", "", "AE 10 AF "},
	{"terminal", "without CB", "", "AE 10 AF "},
	{"terminal", "AE 11: issue", "", "AE 11 AF "},
	{"terminal", "CR LF after the answer", "", "malformed"},
	{"terminal", "a byte above 7F", "", "malformed"},
	{"terminal", "first segment", "", "AE  AF "},
	{"terminal", "BF not as asked", "", "AE 10 AF "},
}

// TestVectors judges the messages of the file named by VECTORS, or our own where it is not set.
func TestVectors(t *testing.T) {
	path := os.Getenv("VECTORS")
	if path == "" {
		ownVectors(t)
		return
	}
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var v struct{ Direction, Hex, Meaning string }
		require.NoError(t, json.Unmarshal(lines.Bytes(), &v))
		data, err := hex.DecodeString(v.Hex)
		require.NoError(t, err)
		want := ""
		for _, j := range judged {
			if j.direction != v.Direction || !strings.Contains(v.Meaning, j.words) {
				continue
			}
			want = j.want
			state, fields := Scan(data)
			switch {
			case v.Direction == "terminal":
				require.Equal(t, want, spoken(data), v.Meaning)
			case state == Strange:
				require.Equal(t, want, "strange", v.Meaning)
			default:
				require.Equal(t, want, verdict(t, data[:fields], j.currency), v.Meaning)
			}
			if m, err := Decode(data); err == nil {
				require.Equal(t, v.Hex, hex.EncodeToString(m.Encode()), v.Meaning)
			}
			break
		}
		require.NotEmpty(t, want, "not judged: %s", v.Meaning)
		n++
	}
	require.Positive(t, n)
	fmt.Printf("vectors: %s: %d judged\n", path, n)
}

func spoken(data []byte) string {
	m, err := Decode(data)
	if err != nil {
		return "malformed"
	}
	return "AE " + m.Get("AE") + " AF " + m.Get("AF")
}

// TestScan: where a request ends, byte by byte.
func TestScan(t *testing.T) {
	const least = "CZ0040300CJ012012345678901CA00201CE003978CD0010CB0041250"
	for n := range len(least) {
		want := Partial
		state, _ := Scan([]byte(least[:n]))
		require.Equal(t, want, state, least[:n])
	}
	for text, want := range map[string]State{
		least: Whole, least + "\r": Ended, least + "\n": Ended, least + "CC": Partial, least + "CC00300C": Whole, least + "c": Ended,
		least + "CC00": Partial, least + "CC0x": Ended, least + "CC000": Ended, "CZ0040300\r\n": Ended, "c": Strange, "\x02": Strange,
		"CONNECT": Strange, "C1": Strange, "GET /": Strange, "CZ000": Ended, "CZ00x": Strange, "DZ": Strange,
		"CZ0040300CJ012012345678901CA00201CD0010": Partial, "CZ0040300CJ012012345678901CA00201CD001I": Whole,
	} {
		state, _ := Scan([]byte(text))
		require.Equal(t, want, state, text)
	}
}

// TestAnswers: what stands in an answer, to the byte.
func TestAnswers(t *testing.T) {
	euro, _ := money.Lookup("EUR")
	r := read([]byte("CZ0040300CJ012012345678901CA00201CE003978BF0010CD0010CB0041250"), euro, false)
	require.Equal(t, "CZ0040300CJ012012345678901CA00201CB0041250CD0010CE003978AC005R0001CC003607AE00210", string(r.approval(ecr.Outcome{Receipt: 1})))
	require.Equal(t, "CZ0040300CJ012012345678901CA00201CB0041250CD0010CE003978AE00201AF00206", string(r.denial(reason(ecr.AbortedByUser))))
	require.Equal(t, "CZ0040300AE00201AF00209", string(read([]byte("nonsense"), euro, false).denial("09")))
	require.Equal(t, "07 EN COURS, NE PAS REPETER", runningText("fr-FR"))
	require.Equal(t, "07 RUNNING, DO NOT REPEAT", runningText("EN"))
	require.Equal(t, "07 LAEUFT, NICHT WIEDERHOLEN", runningText("de"))
	for _, code := range []ecr.Code{ecr.OK, ecr.SystemError, ecr.Busy, ecr.NotStored, "anything"} {
		require.NotContains(t, []string{"01", "02", "03"}, reason(code), "that would mean paid")
	}
}

// FuzzMessage: what is decoded is encoded to the same bytes; what is whole can be read; no verdict
// begins a sale without an amount.
func FuzzMessage(f *testing.F) {
	f.Add([]byte("CZ0040300CJ012012345678901CA00201CE003978BF0010CD0010CB0041250"))
	f.Add([]byte("CZ0040300CJ012012345678901CA00201CE003978BF0010CD0011CB0041250CF003T12\r\n"))
	f.Add([]byte("CZ0040300CJ012012345678901CA00201CD001I"))
	f.Add([]byte("CZ004"))
	f.Fuzz(func(t *testing.T, data []byte) {
		state, fields := Scan(data)
		require.LessOrEqual(t, fields, len(data))
		if m, err := Decode(data); err == nil {
			require.Equal(t, data, m.Encode())
			require.NotEqual(t, Strange, state)
		}
		said := verdict(t, data, "EUR")
		require.NotContains(t, said, "payment 0 ")
		require.NotEqual(t, "nothing", said)
		_ = Outline(data)
	})
}
