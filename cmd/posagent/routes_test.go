package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A route keeps the words of the contracts alone: what a request is about may be a card, a name or an address.
func TestARouteTellsNothingOfWhatItIsAbout(t *testing.T) {
	name := routes()
	for path, want := range map[string]string{
		"/api/v1/payments/0193a5b27c1a7b3e9a524d1f0c2b8e78/Refund": "/api/v1/payments/{}/Refund",
		"/API/V1/Payments": "/API/V1/Payments",
		"/shop/of/anna/api/v1/tokens/4111111111111111":   "/{}/{}/{}/api/v1/tokens/{}",
		"/ms/naa/terminal/method/list/10000001/20000001": "/ms/naa/terminal/method/list/{}/{}",
		"/ms/aapay/v2/transaction/+46701234567":          "/ms/aapay/v2/transaction/{}",
		"/v1.0/Invoice/anna@example.com/":                "/v1.0/Invoice/{}/",
		"/token":                                         "/token",
		"":                                               "",
		"/":                                              "/",
		"/posagent-demo-bearer":                          "/{}",
	} {
		require.Equal(t, want, name(path), path)
	}
}
