package aapay_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/aapay"
	"posagent/schemes/wire"
)

// A name or a reference of a transaction is one line, as it is for a payment, a token and a link.
func TestField_B7TextsOfOneLineAreThoseOfTheOtherServices(t *testing.T) {
	for field, set := range map[string]func(*aapay.Request, string){
		"merchantId":          func(r *aapay.Request, s string) { r.MerchantID = s },
		"method":              func(r *aapay.Request, s string) { r.Method = s },
		"terminalReference":   func(r *aapay.Request, s string) { r.TerminalReference = s },
		"originalReference":   func(r *aapay.Request, s string) { r.OriginalReference = s },
		"consumer.consumerId": func(r *aapay.Request, s string) { r.Consumer = &aapay.Consumer{ConsumerID: s} },
	} {
		for _, good := range []string{"", "a b", "ü", strings.Repeat("x", 255)} {
			require.NoError(t, aapay.Validate(aapay.Payment, with(set, good)), "%s %q", field, good)
		}
		for _, bad := range []string{"a\nb", "a\x00", "a\u2028b", "a\u2029b", "\xff", strings.Repeat("x", 256)} {
			err := aapay.Validate(aapay.Payment, with(set, bad))
			require.Equal(t, wire.Invalid, wire.CodeOf(err), "%s %q", field, bad)
			require.EqualError(t, err, "aapay.initialize: invalid: "+field+": longer than 255 bytes, or control characters")
		}
	}
}

func with(set func(*aapay.Request, string), s string) aapay.Request {
	req := good()
	set(&req, s)
	return req
}
