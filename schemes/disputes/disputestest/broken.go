package disputestest

import (
	"encoding/base64"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/disputes"
	"posagent/schemes/wire"
)

// Case is one way to spoil a good request.
type Case struct {
	Name  string
	Names string // what the error must name
	Code  string // of S1 7, "" = none
	Break func(*disputes.CreateRequest)
}

// Broken lists the requests that every service refuses as Invalid.
func Broken() []Case {
	number := func(s wire.Secret) func(*disputes.CreateRequest) {
		return func(r *disputes.CreateRequest) { r.CardNumber = s }
	}
	pairs := make([]disputes.Pair, disputes.MaxPairs+1)
	for i := range pairs {
		pairs[i].Name = "x"
	}
	return []Case{
		{"card number in clear", "cardNumber", disputes.Missing, number("4111111111111111")},
		{"card number of 255 bytes", "cardNumber", disputes.Missing, number(wire.Secret(base64.StdEncoding.EncodeToString(make([]byte, 255))))},
		{"card number that is no Base64", "cardNumber", disputes.Missing, number(wire.Secret(strings.Repeat("*", 344)))},
		{"card number of another key", "cardNumber", disputes.Missing, number(wire.Secret(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a", 256)))))},
		{"flag in a small letter", "claimValidationRequired", "", func(r *disputes.CreateRequest) { r.ClaimValidationRequired = "n" }},
		{"flag as a word", "cardBlocked", "", func(r *disputes.CreateRequest) { r.CardBlocked = "Yes" }},
		{"small currency", "disputeCurrency", disputes.BadAmount, func(r *disputes.CreateRequest) { r.DisputeCurrency = "eur" }},
		{"withdrawn currency", "transactionCurrency", disputes.Missing, func(r *disputes.CreateRequest) { r.TransactionCurrency = "DEM" }},
		{"time", "transactionTime", "", func(r *disputes.CreateRequest) { r.TransactionTime = "24:00:00" }},
		{"fraction of a minor unit", "transactionAmount", disputes.Missing, func(r *disputes.CreateRequest) { r.TransactionAmount = "12.5" }},
		{"huge amount", "transactionAmount", disputes.Missing, func(r *disputes.CreateRequest) { r.TransactionAmount = "9223372036854775807" }},
		{"line break in notes", "notes", "", func(r *disputes.CreateRequest) { r.Notes = "a\r\nlevel=error msg=paid" }},
		{"line separator in notes", "notes", "", func(r *disputes.CreateRequest) { r.Notes = "a\u2028b" }},
		{"long notes", "notes", "", func(r *disputes.CreateRequest) { r.Notes = strings.Repeat("x", disputes.MaxText+1) }},
		{"zero in a reason code", "providerDisputeReasonCode", "", func(r *disputes.CreateRequest) { r.OperatorDisputeReasonCode = "D\x00" }},
		{"long reference", "acqReferenceData", "", func(r *disputes.CreateRequest) { r.AcqReferenceData = strings.Repeat("1", disputes.MaxID+1) }},
		{"zero in a holder's name", "cardHolderName", "", func(r *disputes.CreateRequest) { r.CardHolderName = "a\x00" }},
		{"too much data", "additionalDataList", "", func(r *disputes.CreateRequest) { r.AdditionalDataList = pairs }},
		{"data without a name", "additionalDataList[0].name", "", func(r *disputes.CreateRequest) { r.AdditionalDataList = []disputes.Pair{{Value: "x"}} }},
		{"line break in data", "additionalDataList[0].value", "", func(r *disputes.CreateRequest) { r.AdditionalDataList = []disputes.Pair{{Name: "a", Value: "b\nc"}} }},
	}
}

func (r *run) validation(t *testing.T) {
	p := r.buy(t)
	for _, c := range Broken() {
		t.Run(c.Name, func(t *testing.T) {
			req := r.request(t, p)
			c.Break(&req)
			_, err := r.Service.Create(t.Context(), wire.NewKey(), req)
			require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
			require.Equal(t, c.Code, wire.ReasonOf(err), "%v", err)
			require.ErrorContains(t, err, c.Names)
		})
	}
	t.Run("a document that ends too early", func(t *testing.T) {
		req := r.request(t, p)
		b := disputes.Bytes([]byte("short"))
		b.Size++
		req.DocumentsList = []disputes.Document{{Binary: b, ID: "d"}}
		_, err := r.Service.Create(t.Context(), "", req)
		require.Error(t, err)
		req.DocumentsList[0].Binary.Open = func() (io.ReadCloser, error) { return nil, io.ErrClosedPipe }
		_, err = r.Service.Create(t.Context(), "", req)
		require.Error(t, err)
		req.DocumentsList[0].Binary.Open = nil
		_, err = r.Service.Create(t.Context(), "", req)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
	})
	for name, q := range map[string]disputes.ListRequest{
		"numberOfDisputeCases": {CaseNumber: "1", Limit: disputes.MaxPage + 1}, "nextPageKey": {CaseNumber: "1", NextPageKey: "' OR 1=1 --"},
		"history": {CaseNumber: "1", History: "all"}, "cardNumber": {CardNumber: "4111111111111111"}, "disputeCaseNumber": {CaseNumber: "a\nb"},
		"indexName": {AdditionalSearchIndex: []disputes.Index{{Value: "x"}}}, "cardId": {CardID: strings.Repeat("x", disputes.MaxID+1)},
	} {
		_, err := r.Service.List(t.Context(), q)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%s: %v", name, err)
		require.ErrorContains(t, err, name)
	}
	for name, q := range map[string]disputes.QueueRequest{
		"queueID": {QueueID: 7001}, "isOpen": {QueueID: 7000, IsOpen: "true"}, "nextPageKey": {QueueID: 7000, NextPageKey: "-1"}, "userID": {QueueID: 7000, UserID: "a\nb"},
	} {
		_, err := r.Service.Queue(t.Context(), q)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%s: %v", name, err)
		require.ErrorContains(t, err, name)
	}
	r.made(t, r.request(t, p)) // nothing of all that was kept
}

// secrets proves that no refusal repeats what must stay secret, and that a card number in a free text is masked.
func (r *run) secrets(t *testing.T) {
	p := r.buy(t)
	req := r.request(t, p)
	req.CardHolderName, req.Notes, req.CardBlocked = "canary-holder", "canary\x00text", "canary-flag"
	_, err := r.Service.Create(t.Context(), "", req)
	require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
	for _, s := range []string{"canary", p.PAN.Reveal(), req.CardNumber.Reveal()} {
		require.NotContains(t, err.Error(), s)
	}
	_, err = r.Service.Update(t.Context(), "", "500001", disputes.UpdateRequest{Password: "canary\x00", AccessToken: "canary\x00", UserID: "canary\x00", CloseDispute: disputes.Yes})
	require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
	require.NotContains(t, err.Error(), "canary")
}
