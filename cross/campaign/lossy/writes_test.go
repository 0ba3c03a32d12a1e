package lossy

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/schemes/contracts"
	"posagent/schemes/wire/rest/openapi"
)

// played are the writes that the clients of this campaign make.
var played = []string{
	gateway.KindPaymentCreate, gateway.KindPaymentAuthorize, gateway.KindPaymentCapture, gateway.KindPaymentCancel, gateway.KindPaymentRefund,
	gateway.KindTokenCreate, gateway.KindTokenRecurring, gateway.KindTokenVerify,
	gateway.KindLinkCreate, gateway.KindLinkDelete, gateway.KindTxnCharge, gateway.KindTxnCapture, gateway.KindTxnRefund, gateway.KindTxnCancel,
}

// Why the clients do not make a write.
const (
	ofRegisters = "a register's sale makes it: cross/campaign/kill, cross/campaign/line and cross/campaign/sim"
	passedOn    = "the terminal passes it on and stores nothing: cross/campaign/badinput, and the suites over the port"
)

// unplayed are the writes that they do not make.
var unplayed = map[string]string{
	"aapay.initialize": ofRegisters,
	"disputes.create":  passedOn, "disputes.update": passedOn,
	"hosted.build": passedOn, "hosted.finalize": passedOn, "hosted.cancel": passedOn, "hosted.capture": passedOn, "hosted.refund": passedOn, "hosted.undo": passedOn,
	"onboarding.create": passedOn, "onboarding.update": passedOn, "onboarding.submit": passedOn,
}

// enough is how many writes a run makes at least in which chance leaves out none of played.
const enough = 5000

// TestEveryWriteIsPlayed: a write that a service's table has is made by the clients, or unplayed says why it is not.
func TestEveryWriteIsPlayed(t *testing.T) {
	there := map[string]bool{}
	for _, service := range []openapi.Group{
		contracts.Payments(), contracts.Tokens(), contracts.Links(), contracts.Schemes(), contracts.Methods(), contracts.Hosted(), contracts.Disputes(), contracts.Onboarding(),
	} {
		for _, i := range service.Infos {
			if i.Write() {
				there[i.Op] = true
				_, excepted := unplayed[i.Op]
				require.NotEqual(t, excepted, slices.Contains(played, i.Op),
					"the service %s has the write %s: add it to what the shop does and to played, or to unplayed with the reason", service.Name, i.Op)
			}
		}
	}
	for _, op := range played {
		require.True(t, there[op], "no service has the write %s: take it out of played", op)
	}
	for op, why := range unplayed {
		require.True(t, there[op], "no service has the write %s: take it out of unplayed (%s)", op, why)
	}
}

// heldToPlayed fails where n writes, made by kind, are not those of played.
func heldToPlayed(t *testing.T, n int, made map[string]int) {
	t.Helper()
	for op := range made {
		require.Contains(t, played, op)
	}
	for _, op := range played {
		require.True(t, n < enough || made[op] > 0, "no client made the write %s", op)
	}
}
