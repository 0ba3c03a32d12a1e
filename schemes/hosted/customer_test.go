package hosted_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/hosted"
	"posagent/schemes/wire"
)

// The customer of the transcripts, with every field, is read and written whole; what PHP writes for none is none.
func TestCustomer(t *testing.T) {
	data, err := os.ReadFile("testdata/both/build_200.txtar")
	require.NoError(t, err)
	text := regexp.MustCompile(`"customerInfo":(\{.*\}),"transactionSummary"`).FindSubmatch(data)
	require.Len(t, text, 2)
	info, err := hosted.Order{CustomerInfo: text[1]}.Customer()
	require.NoError(t, err)
	back, err := info.Encode()
	require.NoError(t, err)
	require.Equal(t, string(text[1]), string(back))
	for _, none := range []string{"", "null", "[]"} {
		info, err := hosted.Order{CustomerInfo: []byte(none)}.Customer()
		require.NoError(t, err)
		require.Nil(t, info)
		back, err := info.Encode()
		require.NoError(t, err)
		require.Empty(t, back)
	}
	for _, bad := range []string{`{"cardHolderName":7}`, `{"CARDHOLDERNAME":"x"}`, `[1]`, `"x"`, `{"billingAddress":{"country":"ITALY"}}`, `{"cardHolderName":"a","cardHolderName":"b"}`} {
		_, err := hosted.Order{CustomerInfo: []byte(bad)}.Customer()
		require.ErrorIs(t, err, &wire.Error{Code: wire.Invalid, Reason: hosted.BadParameter}, bad)
	}
}
