package fleet

import (
	"context"
	"net/http"

	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
)

// Service is the half that devices ask. Every call may be repeated, with a key and without: it has one
// effect and one answer, because the device's key names the call.
// Besides what each method lists, a call ends in wire.Invalid (it breaks a rule, nothing happened),
// wire.Unavailable (provably not sent, or refused before any effect), or wire.UnknownOutcome and
// wire.Internal (the effect is not known: ask again).
type Service interface {
	// Redeem gives the device a certificate and a configuration for a code. The same device key is
	// answered the same until the code expires or the device confirms. CodeNotGood, CodeTaken, or
	// LockedOut: nothing happened.
	Redeem(ctx context.Context, key wire.Key, req RedeemRequest) (Issued, error)
	// Configuration reads the newest configuration; NotProven or CertRevoked.
	Configuration(ctx context.Context, by Proof) (Revision, error)
	// Confirm burns the code, and revokes what other devices hold for the same box or terminal.
	// NotProven or CertRevoked; wire.Invalid for a revision that was never given.
	Confirm(ctx context.Context, key wire.Key, by Proof, req ConfirmRequest) (ConfirmReply, error)
	// Renew gives the certificate that follows the one the device has, for the same key, once half of that one's time is
	// over. Before that, and where the device has asked already, it gives the newest. NotProven or CertRevoked.
	Renew(ctx context.Context, key wire.Key, by Proof, req RenewRequest) (Renewed, error)
	// Report says which program the device runs and how its last update ended, and gives the versions that are held. NotProven or
	// CertRevoked. A service from before the call answers wire.NotFound.
	Report(ctx context.Context, key wire.Key, by Proof, req ReportRequest) (ReportReply, error)
}

// Desk is the half that an operator asks. With a key, the same call with the same body has one effect
// and one answer, and with another body is wire.KeyReused. The other ends are those of Service.
type Desk interface {
	// Create makes a code, and a bundle where one is wanted. StillLive: a bundle is wanted for a terminal or a box that another
	// enrolment still is, or may be by a bundle of its own.
	Create(ctx context.Context, key wire.Key, req CodeRequest) (CodeReply, error)
	// Import makes a code for each box of a list that has no fresh one. wire.Invalid where a box has one
	// for another terminal.
	Import(ctx context.Context, key wire.Key, req ImportRequest) (ImportReply, error)
	// List reads the newest thousand enrolments.
	List(ctx context.Context, req ListRequest) (ListReply, error)
	// Configure gives the terminal of an enrolment a newer configuration; wire.NotFound, or Ended.
	Configure(ctx context.Context, key wire.Key, req ConfigureRequest) (Enrolment, error)
	// Revoke takes a code and its certificate back; wire.NotFound, or Ended. Revoked again is the same.
	Revoke(ctx context.Context, key wire.Key, req RevokeRequest) (Enrolment, error)
}

// Rollouts is what an operator asks about versions of the terminals' program, and about settings that go out to them in stages. The
// ends are those of Desk.
type Rollouts interface {
	// Versions reads what has become of the newest hundred versions, and which are held.
	Versions(ctx context.Context) (VersionsReply, error)
	// Lift ends the hold of a version; from then on only boxes count that had not reported before. wire.NotFound where it was never held. Lifted again
	// is the same.
	Lift(ctx context.Context, key wire.Key, req LiftRequest) (Rollout, error)
	// Start begins a roll-out of settings. wire.Invalid where no terminal is enrolled; RollOpen where another one runs, is paused, or is
	// being taken back.
	Start(ctx context.Context, key wire.Key, req StartRequest) (Roll, error)
	// Rolls reads the newest twenty roll-outs of settings.
	Rolls(ctx context.Context) (RollsReply, error)
	// Move pauses a roll-out of settings, resumes it, or takes it back. wire.NotFound; RollEnded where it has ended already; RollOpen where
	// it is to be taken back and another one is open. Moved again to where it is, is the same.
	Move(ctx context.Context, key wire.Key, req MoveRequest) (Roll, error)
}

// Operator is all that an operator asks.
type Operator interface {
	Desk
	Rollouts
}

// Prefix is the service's path.
const Prefix = "/fleet/v1"

// API is what all endpoints have in common.
func API() rest.API { return api }

var api = rest.API{Prefix: Prefix, Shape: rest.Problems{Catalogue: Problems()}}

// half is the API of one of the two halves: they have a prefix in common, and not the proof.
func half(first ...string) rest.API {
	a := api
	a.First = first
	return a
}

// asking is a request without a field.
type asking struct{}

var (
	redeem = rest.Endpoint[Service, RedeemRequest, Issued]{
		Op: "fleet.redeem", What: "redeem a one-time code", Example: example,
		Method: http.MethodPost, Path: "/enrolments", Status: http.StatusOK, Wants: rest.Write | rest.CheckFirst, Do: Service.Redeem,
	}
	configuration = rest.Endpoint[Service, asking, Revision]{
		Op: "fleet.configuration", What: "read the newest configuration",
		Method: http.MethodGet, Path: "/configuration", Status: http.StatusOK,
		Do: func(svc Service, ctx context.Context, _ wire.Key, _ asking) (Revision, error) {
			return svc.Configuration(ctx, callerOf(ctx).proof)
		},
	}
	confirm = rest.Endpoint[Service, ConfirmRequest, ConfirmReply]{
		Op: "fleet.confirm", What: "say that the configuration works, which burns the code", Example: `{"revision":1}`,
		Method: http.MethodPost, Path: "/confirmations", Status: http.StatusOK, Wants: rest.Write,
		Do: func(svc Service, ctx context.Context, key wire.Key, in ConfirmRequest) (ConfirmReply, error) {
			return svc.Confirm(ctx, key, callerOf(ctx).proof, in)
		},
	}
	renew = rest.Endpoint[Service, RenewRequest, Renewed]{
		Op: "fleet.renew", What: "renew the certificate", Example: `{"expiresAt":"2028-11-23T10:00:00Z"}`,
		Method: http.MethodPost, Path: "/renewals", Status: http.StatusOK, Wants: rest.Write,
		Do: func(svc Service, ctx context.Context, key wire.Key, in RenewRequest) (Renewed, error) {
			return svc.Renew(ctx, key, callerOf(ctx).proof, in)
		},
	}
	report = rest.Endpoint[Service, ReportRequest, ReportReply]{
		Op: "fleet.report", What: "say which program runs and how its last update ended, and read which versions are held",
		Example: `{"version":"1.2.0","update":{"version":"1.3.0","kept":false,"reason":"it did not start","at":"2026-11-23T10:00:00Z"}}`,
		Method:  http.MethodPost, Path: "/reports", Status: http.StatusOK, Wants: rest.Write,
		Do: func(svc Service, ctx context.Context, key wire.Key, in ReportRequest) (ReportReply, error) {
			return svc.Report(ctx, key, callerOf(ctx).proof, in)
		},
	}

	create = rest.Endpoint[Desk, CodeRequest, CodeReply]{
		Op: "fleet.create", What: "make a one-time code",
		Example: `{"slot":{"merchantId":"M1","terminalId":"T1","baxId":"B1"},"serialNumber":"PA-0001","ttlSeconds":3600}`,
		Method:  http.MethodPost, Path: "/codes", Status: http.StatusCreated, Wants: rest.Write, Do: Desk.Create,
		Flaw: func(in CodeRequest, out CodeReply) string {
			if in.Bundle && out.Bundle == "" {
				return "reply has no bundle"
			}
			return ""
		},
	}
	imports = rest.Endpoint[Desk, ImportRequest, ImportReply]{
		Op: "fleet.import", What: "make a code for each box of a list",
		Example: `{"ttlSeconds":86400,"boxes":[{"serialNumber":"PA-0001","slot":{"terminalId":"T1"}},{"serialNumber":"PA-0002"}]}`,
		Method:  http.MethodPost, Path: "/imports", Status: http.StatusCreated, Wants: rest.Write, Do: Desk.Import,
	}
	list = rest.Endpoint[Desk, ListRequest, ListReply]{
		Op: "fleet.list", What: "read the newest thousand enrolments",
		Method: http.MethodGet, Path: "/codes", Status: http.StatusOK,
		Do: func(svc Desk, ctx context.Context, _ wire.Key, in ListRequest) (ListReply, error) {
			return svc.List(ctx, in)
		},
	}
	configure = rest.Endpoint[Desk, ConfigureRequest, Enrolment]{
		Op: "fleet.configure", What: "give its terminal a newer configuration", Example: `{"configuration":"[terminal]\nterminal_id = \"T1\"\n"}`,
		Method: http.MethodPost, Path: "/codes/{enrolmentId}/configurations", Status: http.StatusOK, Wants: rest.Write, Do: Desk.Configure,
		Flaw: func(in ConfigureRequest, out Enrolment) string { return out.of(in.ID) },
	}
	revoke = rest.Endpoint[Desk, RevokeRequest, Enrolment]{
		Op: "fleet.revoke", What: "take a code and its certificate back", Example: `{"reason":"the box was stolen"}`,
		Method: http.MethodPost, Path: "/codes/{enrolmentId}/revocations", Status: http.StatusOK, Wants: rest.Write | rest.MayBody, Do: Desk.Revoke,
		Flaw: func(in RevokeRequest, out Enrolment) string { return out.of(in.ID) },
	}

	versions = rest.Endpoint[Rollouts, asking, VersionsReply]{
		Op: "fleet.versions", What: "read what has become of each version of the program, and which are held",
		Method: http.MethodGet, Path: "/rollouts", Status: http.StatusOK,
		Do: func(svc Rollouts, ctx context.Context, _ wire.Key, _ asking) (VersionsReply, error) {
			return svc.Versions(ctx)
		},
	}
	lift = rest.Endpoint[Rollouts, LiftRequest, Rollout]{
		Op: "fleet.lift", What: "end the hold of a version", Example: `{"version":"1.3.0"}`,
		Method: http.MethodPost, Path: "/rollouts/lifts", Status: http.StatusOK, Wants: rest.Write, Do: Rollouts.Lift,
		Flaw: func(in LiftRequest, out Rollout) string {
			if out.Version != in.Version {
				return "reply is about another version"
			}
			return ""
		},
	}
	start = rest.Endpoint[Rollouts, StartRequest, Roll]{
		Op: "fleet.start", What: "give settings to the terminals, one stage after the other",
		Example: `{"settings":[{"key":"offline.max_count","value":"50"}],"stages":[1,10,50,100]}`,
		Method:  http.MethodPost, Path: "/rolls", Status: http.StatusCreated, Wants: rest.Write, Do: Rollouts.Start,
	}
	rolls = rest.Endpoint[Rollouts, asking, RollsReply]{
		Op: "fleet.rolls", What: "read what has become of settings that were given out in stages",
		Method: http.MethodGet, Path: "/rolls", Status: http.StatusOK,
		Do: func(svc Rollouts, ctx context.Context, _ wire.Key, _ asking) (RollsReply, error) {
			return svc.Rolls(ctx)
		},
	}
	move = rest.Endpoint[Rollouts, MoveRequest, Roll]{
		Op: "fleet.move", What: "pause a roll-out of settings, resume it, or take it back", Example: `{"move":"pause"}`,
		Method: http.MethodPost, Path: "/rolls/{rollId}/moves", Status: http.StatusOK, Wants: rest.Write, Do: Rollouts.Move,
		Flaw: func(in MoveRequest, out Roll) string {
			if out.ID != in.ID {
				return "reply is about another roll-out"
			}
			return ""
		},
	}
)

// Table is the half of the devices.
func Table() rest.Table[Service] {
	return rest.Table[Service]{&redeem, &configuration, &confirm, &renew, &report}
}

// DeskTable is the half of the operator.
func DeskTable() rest.Table[Desk] {
	return rest.Table[Desk]{&create, &list, &imports, &configure, &revoke}
}

// RolloutTable is the operator's, about versions of the program and roll-outs of settings.
func RolloutTable() rest.Table[Rollouts] {
	return rest.Table[Rollouts]{&versions, &lift, &start, &rolls, &move}
}

// HandlerOptions adjusts a Handler. The zero value works.
type HandlerOptions = rest.Options

// Handler serves the half of the devices at Prefix. It asks for no credential: a code or a proof is one.
// Host checks and time limits are the caller's.
func Handler(svc Service, opts HandlerOptions) http.Handler {
	h := half("enrolments", "configuration", "confirmations", "renewals", "reports").Handler(opts, Table().Bind(svc))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(w, called(r)) })
}

// DeskHandler serves the half of the operator at Prefix. Authentication, Host checks and time limits are
// the caller's.
func DeskHandler(svc Operator, opts HandlerOptions) http.Handler {
	return desk().Handler(opts, DeskTable().Bind(svc), RolloutTable().Bind(svc))
}

func desk() rest.API { return half("codes", "imports", "rollouts", "rolls") }

// ForDesk returns whether a request is for the half of the operator.
func ForDesk(r *http.Request) bool { return desk().Is(r) }

// Client is both halves over HTTP. It works as soon as BaseURL and Doer are set. It sends each call once;
// whether to send again is the caller's decision, by code.
type Client struct {
	BaseURL string // scheme and host, and a path before Prefix if there is one
	Doer    wire.Doer
}

var (
	_ Service  = (*Client)(nil)
	_ Operator = (*Client)(nil)
)

func (c *Client) to(by Proof) rest.Client {
	return rest.Client{API: api, BaseURL: c.BaseURL, Doer: c.Doer, Head: by.put, Secrets: []string{by.Signature.Reveal()}}
}

// Redeem implements Service.
func (c *Client) Redeem(ctx context.Context, key wire.Key, req RedeemRequest) (Issued, error) {
	return redeem.Call(ctx, c.to(Proof{}), key, req)
}

// Configuration implements Service.
func (c *Client) Configuration(ctx context.Context, by Proof) (Revision, error) {
	return configuration.Call(ctx, c.to(by), "", asking{})
}

// Confirm implements Service.
func (c *Client) Confirm(ctx context.Context, key wire.Key, by Proof, req ConfirmRequest) (ConfirmReply, error) {
	return confirm.Call(ctx, c.to(by), key, req)
}

// Renew implements Service.
func (c *Client) Renew(ctx context.Context, key wire.Key, by Proof, req RenewRequest) (Renewed, error) {
	return renew.Call(ctx, c.to(by), key, req)
}

// Report implements Service.
func (c *Client) Report(ctx context.Context, key wire.Key, by Proof, req ReportRequest) (ReportReply, error) {
	return report.Call(ctx, c.to(by), key, req)
}

// Create implements Desk.
func (c *Client) Create(ctx context.Context, key wire.Key, req CodeRequest) (CodeReply, error) {
	return create.Call(ctx, c.to(Proof{}), key, req)
}

// Import implements Desk.
func (c *Client) Import(ctx context.Context, key wire.Key, req ImportRequest) (ImportReply, error) {
	return imports.Call(ctx, c.to(Proof{}), key, req)
}

// List implements Desk.
func (c *Client) List(ctx context.Context, req ListRequest) (ListReply, error) {
	return list.Call(ctx, c.to(Proof{}), "", req)
}

// Configure implements Desk.
func (c *Client) Configure(ctx context.Context, key wire.Key, req ConfigureRequest) (Enrolment, error) {
	return configure.Call(ctx, c.to(Proof{}), key, req)
}

// Revoke implements Desk.
func (c *Client) Revoke(ctx context.Context, key wire.Key, req RevokeRequest) (Enrolment, error) {
	return revoke.Call(ctx, c.to(Proof{}), key, req)
}

// Versions implements Rollouts.
func (c *Client) Versions(ctx context.Context) (VersionsReply, error) {
	return versions.Call(ctx, c.to(Proof{}), "", asking{})
}

// Lift implements Rollouts.
func (c *Client) Lift(ctx context.Context, key wire.Key, req LiftRequest) (Rollout, error) {
	return lift.Call(ctx, c.to(Proof{}), key, req)
}

// Start implements Rollouts.
func (c *Client) Start(ctx context.Context, key wire.Key, req StartRequest) (Roll, error) {
	return start.Call(ctx, c.to(Proof{}), key, req)
}

// Rolls implements Rollouts.
func (c *Client) Rolls(ctx context.Context) (RollsReply, error) {
	return rolls.Call(ctx, c.to(Proof{}), "", asking{})
}

// Move implements Rollouts.
func (c *Client) Move(ctx context.Context, key wire.Key, req MoveRequest) (Roll, error) {
	return move.Call(ctx, c.to(Proof{}), key, req)
}
