package paylink_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/paylink"
	"posagent/schemes/aapay/aapaytest"
	"posagent/schemes/backend/backendtest"
	"posagent/store/storetest"
)

// What every scheme service promises holds for links, too.
func TestConformance(t *testing.T) {
	for name, shape := range map[string]func(*bank){
		"plain":                  func(*bank) {},
		"keyed":                  func(b *bank) { b.keyed = true },
		"says little":            func(b *bank) { b.silent, b.nameless, b.pageCap = true, true, 3 },
		"deletes paid links too": func(b *bank) { b.careless = true },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBank()
			b.refuse = 1300
			shape(b)
			svc := paylink.New(paylink.Options{DB: storetest.Open(t, paylink.Schema()...), Links: linkHalf{b}, Transactions: txnHalf{b}, Instance: "demo", Settle: 1})
			aapaytest.Run(t, aapaytest.Fixture{
				Service: svc, MerchantID: "M1", Method: gateway.MethodPaylink, Approve: 1250, Reject: 1300,
				Pay: func(t *testing.T, ref string) { b.lock(func() { require.True(t, b.pay(b.of(t, ref))) }) },
			})
		})
	}
}

// And for those of the backend.
func TestConformanceOnTheBackend(t *testing.T) {
	b := backendtest.Open(t)
	svc := paylink.New(paylink.Options{DB: storetest.Open(t, paylink.Schema()...), Links: b.Links(), Transactions: b.Transactions(), Instance: "demo", Settle: 1})
	aapaytest.Run(t, aapaytest.Fixture{
		Service: svc, MerchantID: "M1", Method: gateway.MethodPaylink, Approve: 1250, Reject: 1 << 31, // above what a link can have
		Pay: func(t *testing.T, ref string) { backendtest.Act(t, b, "/pay/"+ref+"/pay") },
	})
}
