package nexo

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
)

// vector is one line of a vectors file: what tills sent, and what a till's library made of answers.
type vector struct {
	Source, Direction, Plaintext, Message, Meaning, Expect, HTTP string
	Encrypted                                                    bool
	Key                                                          *struct {
		KeyIdentifier string
		KeyVersion    int
		Passphrase    string
		Derived       *struct{ Hmac, Cipher, IV string }
	}
}

func vectors(t *testing.T) []vector {
	path := os.Getenv("VECTORS")
	if path == "" || !strings.Contains(path, "nexo") {
		path = "testdata/vectors.jsonl"
	}
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	var all []vector
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v vector
		require.NoError(t, json.Unmarshal(lines.Bytes(), &v), "line %d", len(all)+1)
		all = append(all, v)
	}
	require.NoError(t, lines.Err())
	return all
}

func testShared(t testing.TB, currency string, keys ...Key) *shared {
	s := &shared{Options: Options{POIID: "POSAGENT-000020000001", Version: "3.0", Currency: currency, Language: "en"}, lines: map[string]*line{}}
	for _, k := range keys {
		d, err := derive(k)
		require.NoError(t, err)
		s.keys = append(s.keys, d)
	}
	s.currency = currencyOf(t, currency)
	return s
}

// reaction is what the dialogue does with one message: the request that it begins, or its answer.
type reaction struct {
	begun     *ecr.Request
	sale      string
	last      []ecr.Last
	status    string
	condition string // of the answer
	answer    string
	closes    bool
	reports   bool
}

// react plays a message against a new dialogue. Nothing was begun before, and the desk knows the
// payment PA000017 of 12.50 with transactionId 5f0c2a91d4e7.
func react(s *shared, data []byte) reaction {
	d := newDialogue(s, ecr.Start{Line: "nexo"})
	var r reaction
	queue := []ecr.Event{ecr.Received{Data: data}}
	for len(queue) > 0 {
		ev := queue[0]
		queue = queue[1:]
		for _, a := range d.Step(ev) {
			switch a := a.(type) {
			case ecr.Begin:
				r.begun = &a.Request
			case ecr.Last:
				r.last = append(r.last, a)
				if a.Receipt == 17 {
					out := ecr.Outcome{Sale: "s17", Kind: ecr.Payment, Result: ecr.Approved, Amount: 1250, Currency: "EUR", Receipt: 17, TransactionID: "5f0c2a91d4e7"}
					queue = append(queue, ecr.Begun{Gen: a.Gen, Sale: "s17"}, ecr.Ended{Gen: a.Gen, Outcome: out})
				} else {
					queue = append(queue, ecr.NotBegun{Gen: a.Gen})
				}
			case ecr.StartTimer:
				if a.Timer == lookTimer {
					queue = append(queue, ecr.Fired{Timer: a.Timer, Seq: a.Seq})
				}
			case ecr.ClosedDay:
				queue = append(queue, ecr.Totalled{Gen: a.Gen})
			case ecr.CloseBatch:
				r.closes = true
			case ecr.Report, ecr.Check, ecr.Turnover:
				r.reports = true
			case ecr.Send:
				r.status, r.answer = string(a.Data[:3]), string(a.Data[3:])
			}
		}
	}
	if _, rest, ok := strings.Cut(r.answer, `"ErrorCondition":"`); ok {
		r.condition, _, _ = strings.Cut(rest, `"`)
	}
	return r
}

func handed(kind byte, text string) []byte {
	return append([]byte{kind, 0, 0, 1, 0x93, 0, 0, 0, 0}, text...)
}

// TestVectors reads what tills sent: our own messages, or the file that VECTORS names. The expectation
// of each is chosen by the words of its line.
func TestVectors(t *testing.T) {
	counts := map[string]int{}
	for _, v := range vectors(t) {
		name := v.Meaning
		if v.Direction == "terminal" {
			counts["terminal"]++
			fromTerminal(t, v)
			continue
		}
		counts["till"]++
		if v.HTTP != "" {
			httpHead(t, v)
		}
		currency := "EUR"
		for _, c := range []string{"JPY", "KWD"} {
			if strings.Contains(v.Message, `"Currency":"`+c+`"`) {
				currency = c
			}
		}
		if v.Encrypted || strings.Contains(v.Meaning, "has a key") {
			s := testShared(t, currency, Key{"till-key", 1, "Correct-Horse-7"})
			envelope, err := parse([]byte(v.Message))
			require.NoError(t, err, name)
			key, plain, _ := open(s.keys, envelope)
			if strings.Contains(v.Expect, "401") {
				require.Nil(t, key, name)
				r := react(s, handed(kindStranger, string(named(envelope))))
				require.Equal(t, "401", r.status, name)
				require.Contains(t, r.answer, "Nexo Service: crypto error", name)
				require.Nil(t, r.begun, name)
				counts["401"]++
				continue
			}
			require.NotNil(t, key, name)
			require.Equal(t, v.Plaintext, string(plain), name)
			counts["opened"]++
			if strings.Contains(v.Meaning, "reproducible") {
				sealed, err := sealWith(key, plain, base64Of(at2(t, envelope, "SaleToPOIRequest", "SecurityTrailer", "Nonce")))
				require.NoError(t, err)
				again, err := parse(sealed)
				require.NoError(t, err)
				require.Equal(t, envelope, again)
				counts["sealed"]++
			}
			expect(t, v, react(s, handed(kindMessage, string(plain))))
			continue
		}
		expect(t, v, react(testShared(t, currency), handed(kindMessage, v.Message)))
	}
	t.Logf("%v", counts)
	require.NotZero(t, counts["till"])
}

func at2(t *testing.T, o object, path ...string) any {
	v := valueAt(o, path...)
	require.NotNil(t, v)
	return v
}

// minors are the amounts that the lines name, by RequestedAmount as it was sent.
func minors() map[string]int64 {
	return map[string]int64{
		"12.5": 1250, "1000": 1000, "1.234": 1234, "100": 10000, "0.30000000000000004": 30, "7.999999999999999": 800, "99": 9900, "1": 100, "5": 500, "3.2": 320,
	}
}

func expect(t *testing.T, v vector, r reaction) {
	t.Helper()
	name := v.Meaning + ": " + v.Expect
	sent, _ := parse([]byte(v.Message))
	if v.Plaintext != "" {
		sent, _ = parse([]byte(v.Plaintext))
	}
	request := objectAt(sent, "SaleToPOIRequest")
	category := textAt(request, "MessageHeader", "MessageCategory")
	refused := func(condition string) {
		require.Nil(t, r.begun, name)
		require.Equal(t, "200", r.status, name)
		require.Equal(t, condition, r.condition, name)
		require.Contains(t, r.answer, `"`+category+`Response"`, name)
	}
	switch {
	case strings.Contains(v.Expect, "HTTP 400"):
		require.Equal(t, "400", r.status, name)
		require.Contains(t, r.answer, `["Bad JSON:`, name)
	case strings.Contains(v.Meaning, "duplicate member"):
		require.Equal(t, "400", r.status, name)
		require.Nil(t, r.begun, name)
	case strings.Contains(v.Expect, "MessageFormat") && !strings.Contains(v.Expect, "tolerate"):
		refused(badMessage)
	case strings.Contains(v.Meaning, "another POIID"), strings.Contains(v.Expect, "Failure/NotAllowed, no payment"):
		refused(notAllowed)
	case strings.Contains(v.Meaning, "another protocol version"):
		refused(noService)
		require.Contains(t, r.answer, "3.0", name)
	case category == "CardAcquisition":
		refused(noService)
	case strings.Contains(v.Meaning, "unknown original"):
		refused(notFound)
	case category == "Print" || category == "Input" || category == "Display":
		refused(noDevice)
	case category == "Payment":
		require.NotNil(t, r.begun, name)
		sent := string(ascii(valueAt(request, "PaymentRequest", "PaymentTransaction", "AmountsReq", "RequestedAmount")))
		require.Contains(t, minors(), sent, name)
		require.EqualValues(t, minors()[sent], r.begun.Amount, name)
		require.Equal(t, "nexo/till1", r.begun.Line, name)
		order := textAt(request, "PaymentRequest", "SaleData", "SaleTransactionID", "TransactionID")
		require.Equal(t, textAt(request, "MessageHeader", "ServiceID")+"/"+order, r.begun.Sequence, name)
		require.Equal(t, order, r.begun.Reference, name)
		wantKind, wantOriginal, wantMethod := ecr.Payment, "", ""
		if strings.Contains(v.Meaning, "refund") {
			wantKind = ecr.Refund
		}
		if strings.Contains(v.Meaning, "naming the original") {
			wantOriginal = "T5f0c2a91d4e7"
		}
		if strings.Contains(v.Meaning, "names the wallet") {
			wantMethod = "twint"
		}
		require.Equal(t, []any{wantKind, wantOriginal, wantMethod}, []any{r.begun.Kind, r.begun.Original, r.begun.Method}, name)
	case category == "Reversal":
		require.NotNil(t, r.begun, name)
		if strings.Contains(v.Meaning, "partial") {
			require.Equal(t, ecr.Refund, r.begun.Kind, name)
			require.EqualValues(t, 250, r.begun.Amount, name)
			require.Equal(t, "T5f0c2a91d4e7", r.begun.Original, name)
			return
		}
		require.Equal(t, ecr.Reversal, r.begun.Kind, name)
		require.Equal(t, 17, r.begun.Receipt, name)
	case category == "TransactionStatus":
		refused(notFound) // nothing was begun
		looks := 1
		if textAt(request, "TransactionStatusRequest", "MessageReference", "ServiceID") != "" {
			looks = 2 // it may come in after the question
		}
		require.Len(t, r.last, looks, name)
		wantLine := "nexo/till1"
		if strings.Contains(v.Meaning, "another till") {
			wantLine = "nexo/till2"
		}
		require.Equal(t, wantLine, r.last[0].Line, name)
		want := textAt(request, "TransactionStatusRequest", "MessageReference", "ServiceID")
		if want != "" {
			want += "/" + ecr.AnyEnd
		}
		require.Equal(t, want, r.last[0].Sequence, name)
	case category == "Abort":
		require.Equal(t, "200", r.status, name)
		require.Empty(t, r.answer, name)
	case category == "Reconciliation":
		require.True(t, r.closes, name)
	case category == "Diagnosis" || category == "Login" || category == "GetTotals":
		require.True(t, r.reports, name)
	case category == "Logout":
		require.Contains(t, r.answer, `"Result":"Success"`, name)
	default:
		t.Errorf("no expectation for %s", name)
	}
}

// fromTerminal: what the library accepted is opened by the same code, and what it refused is not.
func fromTerminal(t *testing.T, v vector) {
	t.Helper()
	if v.Key == nil {
		return
	}
	key, err := derive(Key{v.Key.KeyIdentifier, v.Key.KeyVersion, Passphrase(v.Key.Passphrase)})
	require.NoError(t, err)
	if d := v.Key.Derived; d != nil {
		require.Equal(t, []string{d.Hmac, d.Cipher, d.IV}, []string{hex.EncodeToString(key.mac), hex.EncodeToString(key.cipher), hex.EncodeToString(key.iv)}, v.Meaning)
	}
	if v.Plaintext == "" || v.Message == "" {
		return
	}
	envelope, err := parse([]byte(v.Message))
	require.NoError(t, err, v.Meaning)
	got, _, _ := open([]*derived{key}, envelope)
	require.Nil(t, got, "an answer is no request, under the same key: "+v.Meaning)
	if strings.Contains(v.Meaning, "wrong HMAC") || strings.Contains(v.Meaning, "outer header differs") {
		return
	}
	answer := objectAt(envelope, "SaleToPOIResponse")
	sealed, err := sealWith(key, []byte(v.Plaintext), base64Of(at2(t, answer, "SecurityTrailer", "Nonce")))
	require.NoError(t, err)
	again, err := parse(sealed)
	require.NoError(t, err)
	require.Equal(t, envelope, again, v.Meaning)
}

// httpHead: the request line and the header fields of a library are those of a till.
func httpHead(t *testing.T, v vector) {
	t.Helper()
	text := v.HTTP + "\r\n\r\n0\r\n\r\n"
	req, err := http.ReadRequest(bufio.NewReader(bytes.NewBufferString(text)))
	require.NoError(t, err)
	code, why := screen(req)
	require.Zero(t, code, why)
}
