package ecr17

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
)

// cutFrame is the payload and the check byte of a frame; ok is false where it is none.
func cutFrame(data []byte) (payload []byte, lrc byte, rest []byte, ok bool) {
	if len(data) < 3 || data[0] != STX {
		return nil, 0, data, false
	}
	end := strings.IndexByte(string(data), ETX)
	if end < 0 || end+1 >= len(data) {
		return nil, 0, data, false
	}
	return data[1:end], data[end+1], data[end+2:], true
}

// verdict is what the terminal makes of a register's bytes, in words.
func verdict(t testing.TB, data []byte, scope Scope) string {
	var out []string
	for len(data) > 0 {
		if data[0] == ACK || data[0] == NAK {
			require.Len(t, data, 3)
			return map[byte]string{ACK: "ACK", NAK: "NAK"}[data[0]]
		}
		payload, lrc, rest, ok := cutFrame(data)
		switch {
		case !ok:
			return strings.Join(append(out, "no end"), "; ")
		case scope.LRC(payload) != lrc:
			return strings.Join(append(out, "nak"), "; ")
		}
		data = rest
		p := begin(t, Config{TerminalID: "12345678"})
		p.d.markAll()
		said := p.words(p.d.Step(ecr.Received{Data: payload}))
		out = append(out, said)
	}
	return strings.Join(out, "; ")
}

// markAll lets a request begin at once, whatever the tills have asked for before.
func (d *Dialogue) markAll() { d.marks = []mark{{"00000001", "P"}, {"00000002", "X"}} }

// judged is what each vector of the file named by VECTORS comes to, by words of its meaning. The
// first that fits counts. Of a message that this terminal never sends, its check byte is judged.
var judged = []struct{ direction, words, want string }{
	{"register", "two frames in one segment", "ack, 50 s, health; begin payment 1250 at 1"},
	{"register", "status, terminal ID 00000000", "ack, 50 s, health"},
	{"register", "status", "ack, 50 s, health"},
	{"register", "payment 12.50", "begin payment 1250 at 1"},
	{"register", "extended payment 6.50", "begin payment 650 at 2"},
	{"register", "payment 10.51", "begin payment 1051 at 1"},
	{"register", "reversal of the last payment", "save S"},
	{"register", "reversal, STAN 000103", "save S"},
	{"register", "totals", "ack, 50 s, turnover"},
	{"register", "close session", "ack, 50 s, ..., close"},
	{"register", "last result", "last of 1"},
	{"register", "pre-authorisation", "nak"},
	{"register", "incremental authorisation", "nak"},
	{"register", "card verification", "nak"},
	{"register", "receipts to the register", "ack"},
	{"register", "receipts on the terminal", "ack"},
	{"register", "reprint", "nak"}, // nothing was printed yet
	{"register", "VAS request", "nak"},
	{"register", "announcing additional data", "ack, 5 s"},
	{"register", "additional data", "nak"}, // without the payment before it
	{"register", "the largest amount", "begin payment 99999999 at 1"},
	{"register", "payment 0.00", "save -, ack, E 01 IMPORTO NON VALIDO 71"},
	{"register", "ACK", "ACK"},
	{"register", "NAK, scope std", "NAK"},
	{"register", "NAK, likewise", "NAK"},
	{"register", "LRC of no scope", "nak"},
	{"register", "ETX without LRC", "no end"},
	{"register", "payment of 166 bytes", "nak"},
	{"register", "amount not numeric", "nak"},
	{"register", "J must be answered NAK", "nak"},
	{"register", "foreign terminal ID", "nak"},
	{"terminal", "status 2", "same"},
	{"terminal", "result 00, CLI", "same"},
	{"terminal", "extended result 00", "same"},
	{"terminal", "result 01", "same"},
	{"terminal", "reversal result 00", "same"},
	{"terminal", "totals", "same"},
	{"terminal", "close, both", "same"},
	{"terminal", "pre-authorisation", "frame"},
	{"terminal", "VAS answer", "frame"},
	{"terminal", "result 00, scope noext", "same"},
	{"terminal", "NAK", "same"},
	{"terminal", "progress: SOH", "same"},
	{"terminal", "last receipt message", "frame"},
	{"terminal", "receipt line", "frame"},
	{"terminal", "V result", "frame"},
	{"terminal", "LRC check", "frame"},
	{"terminal", "progress not closed by EOT", "not ours"},
	{"terminal", "one-byte ACK", "not ours"},
}

// spoken is what the terminal itself would have sent, byte by byte, with the values of a vector.
func spoken(meaning string) []byte {
	sold := end{terminal: "12345678", of: payment, result: done, pan: "5413330000000019", auth: "A12345", card: '2', acquirer: "3", stan: 101, online: 434,
		action: "000", at: time.Date(2026, 11, 22, 10, 22, 0, 0, time.UTC)}
	no := noEnd("12345678", payment, notDone, "CARTA RIFIUTATA")
	no.card, no.acquirer, no.stan, no.online = '2', "3", 103, 436
	back, big := sold, sold
	back.of, back.auth, back.stan, back.online, back.card = reversal, noAuth, 104, 437, '2'
	big.of, big.amount, big.stan, big.online = extended, 650, 102, 435
	h := ecr.Health{Ready: true, Time: time.Date(2026, 11, 22, 11, 10, 0, 0, time.UTC)}
	for words, payload := range map[string][]byte{
		"status 2": statusMessage("12345678", h, "POSAGT01"), "result 00": sold.message(), "extended result 00": big.message(), "result 01": no.message(),
		"reversal result 00": back.message(), "totals": totalsMessage("12345678", done, 12345), "close": closedMessage("12345678", 12345),
		"NAK": {NAK}, "progress: SOH": progressText("ELABORAZIONE..."),
	} {
		if strings.HasPrefix(meaning, words) {
			return payload
		}
	}
	return nil
}

// scopeOf is the scope of a vector, by its meaning.
func scopeOf(meaning string) Scope {
	for _, s := range []Scope{StxNoExt, NoExt, Stx} {
		if strings.Contains(meaning, "scope "+s.String()) {
			return s
		}
	}
	if strings.HasPrefix(meaning, "LRC check") { // the frame has 3F
		return Stx
	}
	return Std
}

// judge says what a vector comes to.
func judge(t testing.TB, direction, meaning string, data []byte) string {
	scope := scopeOf(meaning)
	if direction == "register" {
		return verdict(t, data, scope)
	}
	if ours := spoken(meaning); ours != nil {
		require.Equal(t, hex.EncodeToString(scope.Frame(ours)), hex.EncodeToString(data), meaning)
		return "same"
	}
	if payload, lrc, rest, ok := cutFrame(data); ok && len(rest) == 0 && scope.LRC(payload) == lrc {
		require.Equal(t, data, scope.Frame(payload))
		return "frame"
	}
	require.NotEqual(t, data, progressText("ELABORAZIONE..."))
	require.NotEqual(t, data, scope.Frame([]byte{ACK}))
	return "not ours"
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
			if j.direction == v.Direction && strings.Contains(v.Meaning, j.words) {
				want = j.want
				break
			}
		}
		require.NotEmpty(t, want, "not judged: %s", v.Meaning)
		require.Equal(t, want, judge(t, v.Direction, v.Meaning, data), v.Meaning)
		n++
	}
	require.Positive(t, n)
	fmt.Printf("vectors: %s: %d judged\n", path, n)
}

// ownVectors reads the file of our own messages.
func ownVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/vectors.txt")
	require.NoError(t, err)
	var scope Scope
	request, n := []byte(nil), 0
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		switch rest := line[min(2, len(line)):]; {
		case strings.HasPrefix(line, "> "):
			name, text, _ := strings.Cut(rest, " ")
			var ok bool
			scope, ok = ParseScope(name)
			require.True(t, ok, name)
			request, err = hex.DecodeString(text)
			require.NoError(t, err)
		case strings.HasPrefix(line, "= "):
			n++
			require.Equal(t, rest, verdict(t, request, scope), hex.EncodeToString(request))
		}
	}
	require.Equal(t, 8, n)
}

// TestScopes: the check byte of one letter, and of an ACK, in each scope; one frame tells the scopes
// apart.
func TestScopes(t *testing.T) {
	for name, want := range map[string]string{"std": "024103 3e 06 03 79", "stx": "024103 3f 06 03 78", "noext": "024103 3d 06 03 7a", "stx_noext": "024103 3c 06 03 7b"} {
		s, ok := ParseScope(name)
		require.True(t, ok)
		require.Equal(t, name, s.String())
		want = strings.ReplaceAll(want, " ", "")
		require.Equal(t, want, hex.EncodeToString(s.Frame([]byte("A")))+hex.EncodeToString(s.Frame([]byte{ACK})))
		require.Equal(t, name, Scopes([]byte("A"), s.LRC([]byte("A"))))
	}
	require.Empty(t, Scopes([]byte("A"), 0))
	s, ok := ParseScope("")
	require.True(t, ok)
	require.Equal(t, Std, s)
	_, ok = ParseScope("auto")
	require.False(t, ok)
}

// TestFields: an authorisation is never that of a reversal, whatever the transaction; texts are cut
// and are ASCII.
func TestFields(t *testing.T) {
	for id, want := range map[string]string{"": "T00000", "7": "T00007", "1000000": "T00000", "1234567": "T34567", "ä1": "T00ae1"} {
		require.Equal(t, want, authOf(ecr.Outcome{TransactionID: id}))
	}
	require.Equal(t, "\x01perche' no? - 5 EUR \x04", string(progressText("perché no} - 5 € ")))
	require.Equal(t, "\x01ABCDEFGHIJKLMNOPQRST\x04", string(progressText("ABCDEFGHIJKLMNOPQRSTUVWXYZ")))
	for _, w := range []words{italian, english} {
		for _, text := range w.no {
			require.LessOrEqual(t, len(text), 24, text)
		}
		for _, text := range w.steps {
			require.LessOrEqual(t, len(text), 20, text)
		}
		require.LessOrEqual(t, len(w.no[ecr.EODImpossible]), 19)
	}
	require.Equal(t, english.other, wordsFor("en-GB").reason(ecr.SystemError))
	require.Equal(t, italian.wait, wordsFor("de").step(ecr.StepStarting))
}

// TestReceipt: what a register prints, line by line.
func TestReceipt(t *testing.T) {
	d := New(Config{MerchantName: "Caffè del Ponte Vecchio di Firenze", Language: "it"}, "tcp", false, nil)
	out := ecr.Outcome{Kind: ecr.Payment, Result: ecr.Approved, Amount: 1250, Currency: "EUR", Receipt: 7, Trace: 101, TerminalID: "52500038",
		TransactionID: "123456789012345678901234567", Label: "WeChat Pay", MerchantCopy: true}
	text := ""
	list := d.papers("12345678", out)
	for i, m := range list {
		require.Equal(t, "123456780S", string(m[:10]))
		require.LessOrEqual(t, len(m), 210)
		require.Equal(t, i == len(list)-1, strings.HasSuffix(string(m), "}}}}}}\x1B"))
		text += strings.TrimSuffix(string(m[10:]), "}}}}}}\x1B")
	}
	require.Greater(t, len(list), 1)
	require.Equal(t, 2, strings.Count(text, "\x7F"), "the amount, on each copy")
	for _, line := range strings.FieldsFunc(text, func(c rune) bool { return c == '}' || c == 0x7F }) {
		require.LessOrEqual(t, len(line), 24, line)
	}
	require.Contains(t, text, "}Caffe' del Ponte Vecchio} di Firenze}")
	require.Contains(t, text, "}Terminal        52500038}")
	require.Contains(t, text, "}WeChat Pay}")
}

// FuzzMessage: what can be read begins a sale only of the amount that stands in it, and its line is
// the till's own; every answer can be framed.
func FuzzMessage(f *testing.F) {
	for _, s := range []string{pay, payX, payTags, undo103, again1, total, dayEnd, hello, paper, reprint1, tag, "123456780J", ""} {
		f.Add([]byte(s), byte(0))
	}
	f.Fuzz(func(t *testing.T, data []byte, scope byte) {
		d := New(Config{}, "tcp", false, nil)
		actions := d.Step(ecr.Received{Data: data})
		require.NotEmpty(t, actions)
		for len(actions) > 0 {
			var next []ecr.Action
			for _, a := range actions {
				switch a := a.(type) {
				case ecr.Save:
					next = append(next, d.Step(ecr.Saved{Gen: a.Gen})...)
				case ecr.Begin:
					require.Equal(t, "tcp/"+string(data[10:18]), a.Request.Line)
					if a.Request.Kind == ecr.Payment {
						require.Equal(t, string(data[23:31]), fmt.Sprintf("%08d", a.Request.Amount))
						require.Positive(t, a.Request.Amount)
					}
				case ecr.Send:
					frame := Scope(scope % 4).Frame(a.Data)
					if payload, lrc, rest, ok := cutFrame(frame); ok {
						require.Equal(t, Scope(scope%4).LRC(payload), lrc)
						require.Empty(t, rest)
					}
				}
			}
			actions = next
		}
		_ = Outline(data)
	})
}
