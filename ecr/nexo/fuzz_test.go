package nexo

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
)

// FuzzParse: whatever is read is read again as the same from what we write, which is ASCII without controls.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":[1,2.50,{"b":"\u00e9"}]}`, `{"a":1,"A":2}`, `{"a":{"a":1}}`, `{"a":1}x`, `[1]`, `{"a":1e400}`, "{\"a\":\"\xff\"}", `{"\ud800":"\udc00"}`, `{"a":"😀"}`, "{\"\":\"\x7f\"}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := parse(data)
		if err != nil {
			require.Nil(t, o)
			return
		}
		written := ascii(o)
		require.False(t, bytes.ContainsFunc(written, func(r rune) bool { return r > 126 }), "%q", written)
		again, err := parse(written)
		require.NoError(t, err, "%q", written)
		require.Equal(t, ascii(again), written)
	})
}

// FuzzOpen: an envelope is opened only as it was sealed. at and by say which byte is changed, and how.
func FuzzOpen(f *testing.F) {
	key, err := derive(Key{Identifier: "till", Version: 1, Passphrase: "a passphrase of a test"})
	require.NoError(f, err)
	const header = `{"MessageClass":"Service","MessageCategory":"Payment","ServiceID":"1"}`
	f.Add([]byte(`{"SaleToPOIRequest":{"MessageHeader":`+header+`,"PaymentRequest":{}}}`), uint16(0), byte(0))
	f.Add([]byte(`{"SaleToPOIRequest":{"MessageHeader":`+header+`}}`), uint16(150), byte(1))
	f.Add([]byte(`{"SaleToPOIRequest":{"NexoBlob":"AAAA","SecurityTrailer":{"Nonce":1}}}`), uint16(9), byte(255))
	f.Fuzz(func(t *testing.T, data []byte, at uint16, by byte) {
		if foreign, err := parse(data); err == nil { // no HMAC of it is right
			k, plain, _ := open([]*derived{key}, foreign)
			require.True(t, k == nil && plain == nil)
		}
		sealed, err := seal(key, data)
		if err != nil {
			return
		}
		if by != 0 {
			sealed[int(at)%len(sealed)] ^= by
		}
		envelope, err := parse(sealed)
		if err != nil {
			return
		}
		if k, plain, _ := open([]*derived{key}, envelope); k != nil { // a change that changes no value, at most
			require.Equal(t, data, plain)
		}
	})
}

// FuzzMessage: a message begins at most one request. Its amount is above 0 where it is not a whole reversal, and it has an id.
func FuzzMessage(f *testing.F) {
	for _, category := range []string{"Payment", "Reversal", "TransactionStatus", "Abort", "Login", "Diagnosis", "Reconciliation", "GetTotals", "Print", "Display", "Input"} {
		f.Add([]byte(`{"SaleToPOIRequest":{"MessageHeader":{"ProtocolVersion":"3.0","MessageClass":"Service","MessageCategory":"` + category +
			`","MessageType":"Request","ServiceID":"P1","SaleID":"till1","POIID":"POSAGENT-000020000001"},"` + category +
			`Request":{"SaleData":{"SaleTransactionID":{"TransactionID":"o","TimeStamp":"2026-11-24T11:00:00Z"}},"PaymentTransaction":{"AmountsReq":{"Currency":"EUR","RequestedAmount":12.5}},` +
			`"OriginalPOITransaction":{"POITransactionID":{"TransactionID":"PA000017.5f0c2a91d4e7"}},"MessageReference":{"MessageCategory":"Payment","SaleID":"till1","ServiceID":"P1"}}}}`))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, kind := range []byte{kindMessage, kindStranger} {
			r := react(testShared(t, "EUR"), handed(kind, string(data)))
			require.True(t, r.begun == nil || kind == kindMessage)
			if r.begun != nil {
				require.NotEmpty(t, r.begun.Sequence)
				require.NotEmpty(t, r.begun.Line)
				require.True(t, r.begun.Amount > 0 || r.begun.Kind == ecr.Reversal, "%+v", r.begun)
			}
			require.False(t, bytes.ContainsFunc([]byte(r.answer), func(r rune) bool { return r > 126 }), r.answer)
		}
	})
}
