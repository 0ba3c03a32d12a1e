package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever names a payment to the wallet leads to its page: a wallet's or a payment link's.
func TestWalletURLs(t *testing.T) {
	for _, row := range []struct {
		what, backend, upstream, listen string
		want                            []string
	}{
		{"http://h/wallet/SBX1", "", "", "", []string{"http://h/wallet/SBX1"}},
		{"https://h/pay/abc?lang=de#x", "", "", "", []string{"https://h/pay/abc"}},
		{"R/1", "http://b/", "http://u", "l:1", []string{"http://b/wallet/R%2F1", "http://b/pay/R%2F1", "http://b/pay/R%2F1"}},
		{"R", "", "http://u", "l:1", []string{"http://u/wallet/R", "http://u/pay/R", "http://u/pay/R"}},
		{
			"01234567-89ab-cdef-0123-456789abcdef", "", "", "l:1",
			[]string{"http://l:1/wallet/0123456789abcdef0123456789abcdef", "http://l:1/pay/0123456789abcdef0123456789abcdef", "http://l:1/pay/01234567-89ab-cdef-0123-456789abcdef"},
		},
	} {
		got, err := walletURLs(row.what, row.backend, row.upstream, row.listen)
		require.NoError(t, err)
		require.Equal(t, row.want, got)
	}
	_, err := walletURLs("R", "", "", "")
	require.Error(t, err)
}
