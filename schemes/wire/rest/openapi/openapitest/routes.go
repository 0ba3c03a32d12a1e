package openapitest

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// routes are those that the embedded backend and the local port both serve, written out. Behind a
// route of payments, tokens or methods stands the permission that a local client needs for it.
const routes = `
POST /api/v1/api/build/cancel
GET /api/v1/api/build/cardData
POST /api/v1/api/build/confirm_payment
POST /api/v1/api/build/finalize_payment
GET /api/v1/api/build/state
POST /api/v1/api/operations/{operationId}/cancels
POST /api/v1/api/operations/{operationId}/captures
POST /api/v1/api/operations/{operationId}/refunds
POST /api/v1/api/orders/build
GET /api/v1/api/orders/{orderId}
GET /api/v1/api/payment_methods
POST /api/v1/disputes
GET /api/v1/disputes/document/{documentId}
GET /api/v1/disputes/key
POST /api/v1/disputes/list
POST /api/v1/disputes/list-cases-by-queue
PATCH /api/v1/disputes/{disputeId}
POST /api/v1/onboarding/applications
GET /api/v1/onboarding/applications/{onboardingId}
PUT /api/v1/onboarding/applications/{onboardingId}
POST /api/v1/onboarding/applications/{onboardingId}/submit
POST /api/v1/payments pay
GET /api/v1/payments/{paymentId} read
POST /api/v1/payments/{paymentId}/Authorize pay
POST /api/v1/payments/{paymentId}/Cancel pay
POST /api/v1/payments/{paymentId}/Capture pay
POST /api/v1/payments/{paymentId}/Refund refund
POST /api/v1/tokens tokens
POST /api/v1/tokens/recurring tokens
GET /api/v1/tokens/{tokenizationId} tokens
POST /api/v1/tokens/{tokenizationId}/Verify tokens
GET /livez
GET /ms/aapay/v2/transaction/{id}/status
POST /ms/aapay/v2/transaction/{type}/initialize
POST /ms/aapay/v2/transaction/{type}/initializeWithIdempotency
GET /ms/naa/terminal/method/list/{baxId}/{terminalId} read
POST /oauth2/v2.0/token
GET /openapi.json
POST /token
POST /v1.0/Invoice
DELETE /v1.0/Invoice/{id}
GET /v1.0/Invoice/{id}
GET /v1.0/SignatureCheck
GET /v1.0/Transaction
DELETE /v1.0/Transaction/{id}
GET /v1.0/Transaction/{id}
POST /v1.0/Transaction/{id}
POST /v1.0/Transaction/{id}/capture
POST /v1.0/Transaction/{id}/charge
POST /v1.0/Transaction/{id}/refund
`

// Route is one of those that the embedded backend and the local port both serve.
type Route struct {
	Method, Path string
	May          string // the permission that a local client needs; "" = another test says it
}

// Routes returns them.
func Routes() (list []Route) {
	for line := range strings.Lines(strings.TrimSpace(routes)) {
		method, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		path, may, _ := strings.Cut(rest, " ")
		list = append(list, Route{method, path, may})
	}
	return list
}

// Serves fails unless a document names exactly Routes and those of own, one a line ("GET /livez").
func (d *Document) Serves(t testing.TB, own string) {
	t.Helper()
	want := strings.Split(strings.TrimSpace(own), "\n")
	for _, r := range Routes() {
		want = append(want, r.Method+" "+r.Path)
	}
	slices.Sort(want)
	require.Equal(t, want, d.Routes)
}
