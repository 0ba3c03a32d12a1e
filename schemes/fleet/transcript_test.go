package fleet_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/fleet"
	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
	"posagent/schemes/wire/wiretest"
)

// proven is a Client whose calls carry one proof.
type proven struct{ *fleet.Client }

var fixed = fleet.Proof{EnrolmentID: "e1", AtMS: 1795392000000, Signature: "c2ln"}

func (p proven) Configuration(ctx context.Context, _ fleet.Proof) (fleet.Revision, error) {
	return p.Client.Configuration(ctx, fixed)
}

func (p proven) Confirm(ctx context.Context, key wire.Key, _ fleet.Proof, req fleet.ConfirmRequest) (fleet.ConfirmReply, error) {
	return p.Client.Confirm(ctx, key, fixed, req)
}

func (p proven) Renew(ctx context.Context, key wire.Key, _ fleet.Proof, req fleet.RenewRequest) (fleet.Renewed, error) {
	return p.Client.Renew(ctx, key, fixed, req)
}

func (p proven) Report(ctx context.Context, key wire.Key, _ fleet.Proof, req fleet.ReportRequest) (fleet.ReportReply, error) {
	return p.Client.Report(ctx, key, fixed, req)
}

func transcripts() wiretest.Service {
	return wiretest.Service{
		API: fleet.API(), Reasons: fleet.Problems(), Secrets: []string{"7K3M", "shh = 1", "c2ln"},
		Client: func(base string, d wire.Doer) []rest.Bound {
			c := proven{&fleet.Client{BaseURL: base, Doer: d}}
			return slices.Concat(fleet.Table().Bind(c), fleet.DeskTable().Bind(c), fleet.RolloutTable().Bind(c))
		},
	}
}

func TestClientAlone(t *testing.T) { transcripts().ClientAlone(t) }

func TestHandlerAlone(t *testing.T) { transcripts().HandlerAlone(t) }

func TestCodesAndReasonsSurviveTheWire(t *testing.T) { transcripts().CodesSurvive(t, nil) }

func TestWhatWasProvablyNotSent(t *testing.T) { transcripts().NeverSent(t) }

// No specification has the service: the list of its fields is ours, and a field that moves or goes is a change of the contract.
func TestEveryField(t *testing.T) {
	types := map[string]any{
		"redeem": fleet.RedeemRequest{}, "issued": fleet.Issued{}, "revision": fleet.Revision{}, "confirm": fleet.ConfirmRequest{},
		"confirmed": fleet.ConfirmReply{}, "create": fleet.CodeRequest{}, "made": fleet.CodeReply{}, "import": fleet.ImportRequest{},
		"imported": fleet.ImportReply{}, "list": fleet.ListReply{}, "enrolment": fleet.Enrolment{}, "revoke": fleet.RevokeRequest{},
		"configure": fleet.ConfigureRequest{}, "renew": fleet.RenewRequest{}, "renewed": fleet.Renewed{},
		"report": fleet.ReportRequest{}, "reported": fleet.ReportReply{}, "versions": fleet.VersionsReply{}, "lift": fleet.LiftRequest{}, "rollout": fleet.Rollout{},
		"start": fleet.StartRequest{}, "roll": fleet.Roll{}, "rolls": fleet.RollsReply{}, "move": fleet.MoveRequest{},
	}
	infos := slices.Concat(fleet.Table().Infos(), fleet.DeskTable().Infos(), fleet.RolloutTable().Infos())
	wiretest.Compared(t, infos, types, nil)
	wiretest.Fields(t, "testdata/ours.txt", types)
	wiretest.Exercised(t, "testdata/ours.txt")
}

// A code, a configuration and a proof never appear where they are not sent on purpose.
func TestNothingSecretIsMarshalledByAccident(t *testing.T) {
	for _, v := range []any{
		fleet.RedeemRequest{Code: "7K3M9QXD2PV"}, fleet.CodeReply{Code: "7K3M9QXD2PV"}, fleet.CodeReply{Bundle: "7K3M9QXD2PV"}, fleet.Bundle{Configuration: fleet.Revision{Text: "7K3M9QXD2PV"}}, fleet.ImportedCode{Code: "7K3M9QXD2PV"},
		fleet.Revision{Text: "7K3M9QXD2PV"}, fleet.CodeRequest{Configuration: "7K3M9QXD2PV"}, fleet.Ticket{Code: "7K3M9QXD2PV"}, fleet.Proof{Signature: "7K3M9QXD2PV"},
	} {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		require.NotContains(t, string(text), "7K3M")
	}
}
