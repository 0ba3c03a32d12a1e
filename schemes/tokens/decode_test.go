package tokens_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"posagent/schemes/tokens"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
	"posagent/schemes/wire/wiretest"
)

// reads holds for any data: they are refused, or a request that is read again as it was once it is written.
func reads[T check.Checked](t *testing.T, data []byte) {
	req, err := wire.Parse[T]("op", data)
	if err != nil {
		require.NotEmpty(t, wire.CodeOf(err))
		return
	}
	if err := check.Request("op", req); err != nil {
		require.Equal(t, wire.Invalid, wire.CodeOf(err))
	}
	require.Equal(t, req, wiretest.Stable(t, req, wire.Encode, wiretest.Parse[T]))
}

func FuzzCreate(f *testing.F) {
	f.Add([]byte(`{"tokenSecret":"s","returnUrl":"https://a.example/","description":"d 4111111111111111","payPageConfiguration":{"language":"EN"},"orderDescription":"o","cardDetails":{"pan":"4111111111111111","expiryYear":2030,"expiryMonth":12,"validationCode":"123"}}`))
	f.Add([]byte(`{"cardDetails":null,"payPageConfiguration":null}`))
	f.Add([]byte(`{"cardDetails":{"pan":"","expiryYear":0,"expiryMonth":0}}`))
	f.Add([]byte(`{"cardDetails":{"pan":4111111111111111}}`))
	f.Add([]byte(`{"PAN":1,"description":"4111-1111-1111-1111"}`))
	f.Fuzz(reads[tokens.CreateRequest])
}

func FuzzRecurring(f *testing.F) {
	f.Add([]byte(`{"tokenSecret":"s","recurringType":"CardOnFile","orderNumber":"1","amount":2147483647,"currencyCode":"JPY","recurringExpiryDate":"2028-02-29","recurringFrequency":30}`))
	f.Add([]byte(`{"amount":-2147483648,"recurringExpiryDate":"0000-00-00"}`))
	f.Add([]byte(`{"amount":1.0}`))
	f.Fuzz(reads[tokens.RecurringRequest])
}

// A refusal names fields and never what stands in them, and a free text keeps no card number.
func TestNothingOfARequestIsInItsRefusal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const canary = "cAnArY"
		word := rapid.SampledFrom([]string{canary, canary + "\x00", canary + "\n", "https://" + canary + "@x", strings.Repeat(canary, 1000)})
		f := fixture()
		req, rec := f.Request(), f.Recurring()
		req.TokenSecret, rec.TokenSecret = wire.Secret(word.Draw(t, "secret")), wire.Secret(word.Draw(t, "secret"))
		req.ReturnURL, rec.ReturnURL = word.Draw(t, "url"), word.Draw(t, "url")
		req.Description, rec.OrderNumber = word.Draw(t, "text"), word.Draw(t, "number")
		req.PayPageConfiguration.Language, rec.CurrencyCode = word.Draw(t, "language"), word.Draw(t, "currency")
		rec.RecurringType, rec.RecurringExpiryDate = word.Draw(t, "type"), word.Draw(t, "date")
		req.CardDetails.PAN, req.CardDetails.ValidationCode = wire.NewPAN(word.Draw(t, "pan")), wire.Secret(word.Draw(t, "code"))
		err := check.Request("op", req)
		require.Equal(t, wire.Invalid, wire.CodeOf(err))
		require.NotContains(t, err.Error(), canary)
		err = check.Request("op", rec)
		require.Equal(t, wire.Invalid, wire.CodeOf(err))
		require.NotContains(t, err.Error(), canary)
	})
	req, err := wire.Parse[tokens.CreateRequest]("op", []byte(`{"description":"it is `+visa+`","orderDescription":"4111 1111 1111 1111"}`))
	require.NoError(t, err)
	require.NotContains(t, req.Description, visa)
	require.NotContains(t, req.OrderDescription, "1111 1111 1111")
	rec, err := wire.Parse[tokens.RecurringRequest]("op", []byte(`{"description":"it is `+visa+`","orderDescription":"4111 1111 1111 1111"}`))
	require.NoError(t, err)
	require.NotContains(t, rec.Description, visa)
	require.NotContains(t, rec.OrderDescription, "1111 1111 1111")
}
