package backend_test

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend"
	"posagent/schemes/fleet"
	"posagent/schemes/fleet/fleettest"
	"posagent/schemes/wire"
	"posagent/schemes/wire/rest/openapi/openapitest"
	"posagent/schemes/wire/wiretest"
)

// operator shows its token where a request shows nothing.
type operator struct{ wire.Doer }

func (o operator) Do(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Authorization") == "" {
		r.Header.Set("Authorization", "Bearer posagent-demo-operator")
	}
	return o.Doer.Do(r)
}

// moved is a clock that stands still but for what a test lets pass: a slow machine is no quarter of an hour.
type moved struct {
	mu sync.Mutex
	at time.Time
}

func (m *moved) now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.at.IsZero() {
		m.at = time.Now()
	}
	return m.at
}

func (m *moved) pass(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.at.IsZero() {
		m.at = time.Now()
	}
	m.at = m.at.Add(d)
}

func TestFleetConformance(t *testing.T) {
	var clock moved
	never := time.Duration(-1)
	b, srv := listen(t, backend.Config{Dir: t.TempDir(), WalletDelay: &never, Fleet: true, Now: clock.now})
	require.NoError(t, b.Init(t.Context()))
	client := &fleet.Client{BaseURL: srv.URL, Doer: operator{srv.Client()}}
	fleettest.Run(t, fleettest.Fixture{
		Service: client, Desk: client, Now: clock.now, Pass: clock.pass, Advance: b.Fleet().Advance, Wire: &wiretest.Site{BaseURL: srv.URL, Doer: operator{srv.Client()}},
	})
}

// Nobody enrols at a backend that was not asked to let him.
func TestFleetIsOffUnlessAskedFor(t *testing.T) {
	never := time.Duration(-1)
	b, srv := listen(t, backend.Config{Dir: t.TempDir(), WalletDelay: &never})
	require.NoError(t, b.Init(t.Context()))
	require.Nil(t, b.Fleet())
	for _, path := range []string{"/fleet/v1/enrolments", "/fleet/v1/codes", "/fleet/v1/configuration"} {
		resp, body := wiretest.Raw(t, operator{srv.Client()}, http.MethodPost, srv.URL+path, wire.JSONType, "{}")
		require.Equal(t, http.StatusNotFound, resp.StatusCode, body)
	}
}

// The operator's routes want the backend's credentials, and no route serves a browser.
func TestFleetCredentials(t *testing.T) {
	never := time.Duration(-1)
	_, srv := listen(t, backend.Config{Dir: t.TempDir(), WalletDelay: &never, Fleet: true})
	ask := func(method, path string, header ...string) int {
		resp, _ := wiretest.Raw(t, srv.Client(), method, srv.URL+path, wire.JSONType, "{}", header...)
		return resp.StatusCode
	}
	for _, route := range []string{"POST /fleet/v1/codes", "GET /fleet/v1/codes", "POST /fleet/v1/imports", "POST /fleet/v1/codes/x/revocations", "POST /fleet/v1/codes/x/configurations", "GET /fleet/v1/rollouts", "POST /fleet/v1/rollouts/lifts", "GET /fleet/v1/rolls", "POST /fleet/v1/rolls", "POST /fleet/v1/rolls/x/moves"} {
		method, path, _ := strings.Cut(route, " ")
		require.Equal(t, 401, ask(method, path), route)
		require.Equal(t, 401, ask(method, path, "Authorization", "Bearer wrong"), route)
		for _, terminals := range []string{"Bearer posagent-demo-bearer", "Bearer " + base64.StdEncoding.EncodeToString([]byte("demo-consumer:demo-consumer-secret"))} {
			require.Equal(t, 401, ask(method, path, "Authorization", terminals), "%s: what every terminal has", route)
		}
		require.Equal(t, 401, ask(method, path, "Authorization", "Device e1.1.c2ln"), route)
	}
	for _, route := range []string{"POST /fleet/v1/codes", "POST /fleet/v1/enrolments", "POST /fleet/v1/confirmations", "POST /fleet/v1/renewals", "POST /fleet/v1/reports", "GET /fleet/v1/configuration"} {
		method, path, _ := strings.Cut(route, " ")
		require.Equal(t, 403, ask(method, path, "Authorization", "Bearer posagent-demo-operator", "Origin", "https://evil.example"), route)
		require.Equal(t, 403, ask(method, path, "Authorization", "Bearer posagent-demo-operator", "Referer", "https://evil.example/"), route)
	}
	resp, body := wiretest.Raw(t, srv.Client(), http.MethodPost, srv.URL+"/fleet/v1/enrolments", wire.JSONType, `{"csr":"`+strings.Repeat("x", 16<<10)+`"}`)
	require.Equal(t, http.StatusRequestEntityTooLarge, resp.StatusCode, body)
	require.Equal(t, 401, ask("GET", "/fleet/v1/configuration", "Authorization", "Bearer posagent-demo-operator"), "the operator's token is no device")
}

const fleetOwn = own + `GET /fleet/v1/codes
GET /fleet/v1/configuration
GET /fleet/v1/rollouts
GET /fleet/v1/rolls
POST /fleet/v1/codes
POST /fleet/v1/codes/{enrolmentId}/configurations
POST /fleet/v1/codes/{enrolmentId}/revocations
POST /fleet/v1/confirmations
POST /fleet/v1/enrolments
POST /fleet/v1/imports
POST /fleet/v1/renewals
POST /fleet/v1/reports
POST /fleet/v1/rollouts/lifts
POST /fleet/v1/rolls
POST /fleet/v1/rolls/{rollId}/moves
`

func TestFleetIsInTheDocument(t *testing.T) {
	never := time.Duration(-1)
	_, srv := listen(t, backend.Config{Dir: t.TempDir(), WalletDelay: &never, Fleet: true})
	_, body := wiretest.Raw(t, srv.Client(), http.MethodGet, srv.URL+"/openapi.json", "", "")
	doc := openapitest.Read(t, []byte(body))
	doc.Serves(t, fleetOwn)
	client := &fleet.Client{BaseURL: srv.URL, Doer: operator{srv.Client()}}
	_, err := client.Create(t.Context(), "", fleet.CodeRequest{Slot: fleet.Slot{MerchantID: "M", TerminalID: "T", BaxID: "B"}})
	require.NoError(t, err)
	resp, text := wiretest.Raw(t, operator{srv.Client()}, http.MethodGet, srv.URL+"/fleet/v1/codes", "", "")
	doc.Fits(t, http.MethodGet, "/fleet/v1/codes", resp.StatusCode, text)
	resp, text = wiretest.Raw(t, srv.Client(), http.MethodGet, srv.URL+"/fleet/v1/configuration", "", "")
	doc.Fits(t, http.MethodGet, "/fleet/v1/configuration", resp.StatusCode, text)
}

// The list is read beside the running backend, and from the directory of one that has stopped.
func TestFleetIsReadFromTheDirectory(t *testing.T) {
	never, dir := time.Duration(-1), t.TempDir()
	b, _ := listen(t, backend.Config{Dir: dir, WalletDelay: &never, Fleet: true})
	made, err := b.Fleet().Create(t.Context(), "", fleet.CodeRequest{Slot: fleet.Slot{MerchantID: "M", TerminalID: `T"\`, BaxID: "B"}})
	require.NoError(t, err)
	list, err := backend.ReadFleet(t.Context(), backend.Place{Dir: dir}, fleet.ListRequest{})
	require.NoError(t, err)
	require.Equal(t, []fleet.Enrolment{made.Enrolment}, list)
	_, err = backend.ReadFleet(t.Context(), backend.Place{Dir: t.TempDir()}, fleet.ListRequest{})
	require.Error(t, err)
	_, err = b.Fleet().Create(t.Context(), "", fleet.CodeRequest{Slot: fleet.Slot{TerminalID: "T"}})
	require.ErrorContains(t, err, "slot: want merchantId, terminalId and baxId")
}

// enrolling is both halves of a service.
type enrolling struct {
	fleet.Service
	fleet.Operator
}

// fleetBug is a service that errs.
type fleetBug struct {
	fleet.Service
	redeem  func(ctx context.Context, key wire.Key, req fleet.RedeemRequest) (fleet.Issued, error)
	confirm func(ctx context.Context, key wire.Key, by fleet.Proof, req fleet.ConfirmRequest) (fleet.ConfirmReply, error)
	renew   func(ctx context.Context, key wire.Key, by fleet.Proof, req fleet.RenewRequest) (fleet.Renewed, error)
	report  func(ctx context.Context, key wire.Key, by fleet.Proof, req fleet.ReportRequest) (fleet.ReportReply, error)
}

func (b fleetBug) Report(ctx context.Context, key wire.Key, by fleet.Proof, req fleet.ReportRequest) (fleet.ReportReply, error) {
	if b.report != nil {
		return b.report(ctx, key, by, req)
	}
	return b.Service.Report(ctx, key, by, req)
}

func (b fleetBug) Renew(ctx context.Context, key wire.Key, by fleet.Proof, req fleet.RenewRequest) (fleet.Renewed, error) {
	if b.renew != nil {
		return b.renew(ctx, key, by, req)
	}
	return b.Service.Renew(ctx, key, by, req)
}

func (b fleetBug) Redeem(ctx context.Context, key wire.Key, req fleet.RedeemRequest) (fleet.Issued, error) {
	if b.redeem != nil {
		return b.redeem(ctx, key, req)
	}
	return b.Service.Redeem(ctx, key, req)
}

func (b fleetBug) Confirm(ctx context.Context, key wire.Key, by fleet.Proof, req fleet.ConfirmRequest) (fleet.ConfirmReply, error) {
	if b.confirm != nil {
		return b.confirm(ctx, key, by, req)
	}
	return b.Service.Confirm(ctx, key, by, req)
}

// deskBug is a desk that errs.
type deskBug struct {
	fleet.Operator
	create func(ctx context.Context, key wire.Key, req fleet.CodeRequest) (fleet.CodeReply, error)
	revoke func(ctx context.Context, key wire.Key, req fleet.RevokeRequest) (fleet.Enrolment, error)
}

func (b deskBug) Create(ctx context.Context, key wire.Key, req fleet.CodeRequest) (fleet.CodeReply, error) {
	if b.create != nil {
		return b.create(ctx, key, req)
	}
	return b.Operator.Create(ctx, key, req)
}

func (b deskBug) Revoke(ctx context.Context, key wire.Key, req fleet.RevokeRequest) (fleet.Enrolment, error) {
	if b.revoke != nil {
		return b.revoke(ctx, key, req)
	}
	return b.Operator.Revoke(ctx, key, req)
}

func fleetBugs() map[string]func(enrolling) enrolling {
	return map[string]func(enrolling) enrolling{
		"": func(s enrolling) enrolling {
			return enrolling{fleetBug{Service: s.Service}, deskBug{Operator: s.Operator}}
		},
		"tells an unknown code apart": func(s enrolling) enrolling {
			return enrolling{fleetBug{Service: s.Service, redeem: func(ctx context.Context, key wire.Key, req fleet.RedeemRequest) (fleet.Issued, error) {
				got, err := s.Redeem(ctx, key, req)
				if wire.ReasonOf(err) == fleet.CodeNotGood && strings.HasPrefix(req.Code.Reveal(), "00") {
					err = wire.Errorf(wire.NotFound, "fleet.redeem", "no such code")
				}
				return got, err
			}}, s.Operator}
		},
		"burns the code when it is redeemed": func(s enrolling) enrolling {
			seen := sync.Map{}
			return enrolling{fleetBug{Service: s.Service, redeem: func(ctx context.Context, key wire.Key, req fleet.RedeemRequest) (fleet.Issued, error) {
				got, err := s.Redeem(ctx, key, req)
				if _, again := seen.LoadOrStore(req.Code, true); err == nil && again {
					return fleet.Issued{}, fleet.Refused("fleet.redeem", fleet.CodeNotGood, "burned")
				}
				return got, err
			}}, s.Operator}
		},
		"signs the configuration for another enrolment": func(s enrolling) enrolling {
			return enrolling{fleetBug{Service: s.Service, redeem: func(ctx context.Context, key wire.Key, req fleet.RedeemRequest) (fleet.Issued, error) {
				got, err := s.Redeem(ctx, key, req)
				got.Configuration.Number++
				return got, err
			}}, s.Operator}
		},
		"confirms without a proof": func(s enrolling) enrolling {
			return enrolling{fleetBug{Service: s.Service, confirm: func(ctx context.Context, key wire.Key, by fleet.Proof, req fleet.ConfirmRequest) (fleet.ConfirmReply, error) {
				got, err := s.Confirm(ctx, key, by, req)
				if wire.CodeOf(err) == wire.Unauthorized {
					return fleet.ConfirmReply{EnrolmentID: by.EnrolmentID, State: fleet.Confirmed, Revision: req.Revision}, nil
				}
				return got, err
			}}, s.Operator}
		},
		"renews without a proof": func(s enrolling) enrolling {
			return enrolling{fleetBug{Service: s.Service, renew: func(ctx context.Context, key wire.Key, by fleet.Proof, req fleet.RenewRequest) (fleet.Renewed, error) {
				got, err := s.Renew(ctx, key, by, req)
				if wire.CodeOf(err) == wire.Unauthorized {
					return fleet.Renewed{Certificate: "x", ExpiresAt: req.ExpiresAt}, nil
				}
				return got, err
			}}, s.Operator}
		},
		"believes a report without a proof": func(s enrolling) enrolling {
			return enrolling{fleetBug{Service: s.Service, report: func(ctx context.Context, key wire.Key, by fleet.Proof, req fleet.ReportRequest) (fleet.ReportReply, error) {
				got, err := s.Report(ctx, key, by, req)
				if wire.CodeOf(err) == wire.Unauthorized {
					return fleet.ReportReply{Held: []fleet.Hold{}}, nil
				}
				return got, err
			}}, s.Operator}
		},
		"holds nothing": func(s enrolling) enrolling {
			return enrolling{fleetBug{Service: s.Service, report: func(ctx context.Context, key wire.Key, by fleet.Proof, req fleet.ReportRequest) (fleet.ReportReply, error) {
				got, err := s.Report(ctx, key, by, req)
				if err == nil {
					got.Held = []fleet.Hold{}
				}
				return got, err
			}}, s.Operator}
		},
		"makes a bundle for a terminal that is another box's": func(s enrolling) enrolling {
			return enrolling{s.Service, deskBug{Operator: s.Operator, create: func(ctx context.Context, key wire.Key, req fleet.CodeRequest) (fleet.CodeReply, error) {
				got, err := s.Create(ctx, key, req)
				if wire.ReasonOf(err) == fleet.StillLive {
					req.Bundle = false
					return s.Create(ctx, "", req)
				}
				return got, err
			}}}
		},
		"draws a new code for the same key": func(s enrolling) enrolling {
			return enrolling{s.Service, deskBug{Operator: s.Operator, create: func(ctx context.Context, _ wire.Key, req fleet.CodeRequest) (fleet.CodeReply, error) {
				return s.Create(ctx, "", req)
			}}}
		},
		"revokes nothing": func(s enrolling) enrolling {
			return enrolling{s.Service, deskBug{Operator: s.Operator, revoke: func(ctx context.Context, _ wire.Key, req fleet.RevokeRequest) (fleet.Enrolment, error) {
				got, err := s.List(ctx, fleet.ListRequest{})
				if err == nil && len(got.Enrolments) > 0 {
					got.Enrolments[0].ID, got.Enrolments[0].State, got.Enrolments[0].Reason, got.Enrolments[0].RevokedAt = req.ID, fleet.Revoked, req.Reason, "2026-11-23T00:00:00Z"
					return got.Enrolments[0], nil
				}
				return fleet.Enrolment{}, err
			}}}
		},
	}
}

func TestFleetSuiteFindsBugs(t *testing.T) {
	wiretest.FindsBugs(t, fleetBugs(), func(t *testing.T, wrong func(enrolling) enrolling) {
		var clock moved
		never := time.Duration(-1)
		b, err := backend.Open(t.Context(), backend.Config{Dir: t.TempDir(), WalletDelay: &never, PublicURL: "http://127.0.0.1:1", Synchronous: "OFF", Fleet: true, Now: clock.now})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, b.Close()) })
		s := wrong(enrolling{b.Fleet(), b.Fleet()})
		fleettest.Run(t, fleettest.Fixture{Service: s.Service, Desk: s.Operator, Now: clock.now, Pass: clock.pass, Advance: b.Fleet().Advance})
	})
}
