package gateway_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
)

// A stored payment that is read while the backend is away, and once it is back, has the shape of the backend's own answer: no text that
// the one has is null in the other. Clients read them into texts, and die of null. The kind: a reading of a payment that the backend
// does not know yet, of one that it knows and does not answer for, and its own.
func TestField2_S3AStoredPaymentReadsAsTheBackends(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		shape := func(id string) map[string]string {
			p, err := s.pay.Read(t.Context(), id)
			require.NoError(t, err)
			text, err := wire.Encode(p)
			require.NoError(t, err)
			var v map[string]any
			require.NoError(t, json.Unmarshal(text, &v))
			flat := map[string]string{}
			var walk func(at string, v any)
			walk = func(at string, v any) {
				switch v := v.(type) {
				case map[string]any:
					for name, inner := range v {
						walk(at+"."+name, inner)
					}
				case []any:
					flat[at] = "list"
				case nil:
					flat[at] = "null"
				case string:
					flat[at] = "text"
				default:
					flat[at] = "number"
				}
			}
			walk("", v)
			return flat
		}
		like := func(want, got map[string]string, of string) {
			for _, field := range []string{".paymentId", ".currencyCode", ".customer.address.address1", ".customer.address.city", ".customer.address.postalCode", ".customer.address.countryCode"} {
				require.Equal(t, "text", got[field], "%s: %s", of, field)
			}
			for field, kind := range want {
				if kind == "text" && field != ".paymentDetails" && len(got[field]) > 0 {
					require.Equal(t, kind, got[field], "%s: %s", of, field)
				}
			}
		}
		online, err := s.pay.Create(t.Context(), wire.NewKey(), moto(payments.ProcessSale, 1000))
		require.NoError(t, err)
		own := shape(online.PaymentID)
		like(own, own, "the backend's own")
		s.cut()
		like(own, shape(online.PaymentID), "one that it knows and does not answer for")
		stored, err := s.pay.Create(t.Context(), wire.NewKey(), moto(payments.ProcessSale, 2000))
		require.NoError(t, err)
		require.NotNil(t, stored.Operation)
		like(own, shape(stored.PaymentID), "one that it does not know yet")
	})
}
