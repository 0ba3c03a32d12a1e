package backend_test

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/schemes/aapay"
	"posagent/schemes/backend"
	"posagent/schemes/disputes"
	"posagent/schemes/fleet"
	"posagent/schemes/hosted"
	"posagent/schemes/hosted/hostedtest"
	"posagent/schemes/methods"
	"posagent/schemes/onboarding"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
)

// fleetShop is a box of a merchant, with what the fleet gave it.
type fleetShop struct {
	t         *testing.T
	enrolment string
	merchant  string
	v         map[string]string
	base      string
	aapay     aapay.Service
	methods   methods.Service
	payments  payments.Service
	tokens    tokens.Service
	links     *paylinks.Client
	hosted    *hosted.Client
	disputes  disputes.Service
	onboard   onboarding.Service
}

// withKey shows an X-API-KEY.
type withKey struct{ key string }

func (k withKey) Do(r *http.Request) (*http.Response, error) {
	r.Header.Set(hosted.KeyHeader, k.key)
	return http.DefaultClient.Do(r)
}

var setting = regexp.MustCompile(`(\w+) = "([^"]*)"`)

// enrol gives a merchant's box its credentials.
func enrol(t *testing.T, b *backend.Backend, base, merchant, terminal string) *fleetShop {
	t.Helper()
	serial := "PA-" + merchant + "-" + terminal
	made, err := b.Fleet().Create(t.Context(), "", fleet.CodeRequest{Slot: fleet.Slot{MerchantID: merchant, TerminalID: terminal, BaxID: "1" + terminal}})
	require.NoError(t, err)
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	csr, err := fleet.NewRequest(key, serial)
	require.NoError(t, err)
	got, err := b.Fleet().Redeem(t.Context(), "", fleet.RedeemRequest{Code: made.Code, CSR: csr, SerialNumber: serial})
	require.NoError(t, err)
	s := boxOf(t, base, merchant, got.Configuration.Text.Reveal())
	s.enrolment = got.EnrolmentID
	return s
}

// boxOf is a box that has a configuration.
func boxOf(t *testing.T, base, merchant, configuration string) *fleetShop {
	s := &fleetShop{t: t, merchant: merchant, base: base, v: map[string]string{}}
	for _, m := range setting.FindAllStringSubmatch(configuration, -1) {
		s.v[m[1]] = m[2]
	}
	s.use("Bearer " + s.v["bearer"])
	return s
}

// use shows an Authorization value to the services that take one.
func (s *fleetShop) use(value string) {
	by := bearer{http.DefaultClient, value}
	s.aapay = &aapay.Client{BaseURL: s.base, Doer: by}
	s.methods = &methods.Client{BaseURL: s.base, Doer: by}
	s.payments, s.tokens = &payments.Client{BaseURL: s.base, Doer: by}, &tokens.Client{BaseURL: s.base, Doer: by}
	s.disputes, s.onboard = &disputes.Client{BaseURL: s.base, Doer: by}, &onboarding.Client{BaseURL: s.base, Doer: by}
	s.links = &paylinks.Client{BaseURL: s.base, Instance: s.v["instance"], Secret: wire.Secret(s.v["secret"]), Doer: http.DefaultClient}
	s.hosted = &hosted.Client{BaseURL: s.base, Doer: withKey{s.v["api_key"]}}
}

func (s *fleetShop) sale(ref string) aapay.Request {
	return aapay.Request{
		MerchantID: s.merchant, Method: "SWISH_E_COM", TerminalReference: ref, Trigger: "2",
		PurchaseAmount: &aapay.Amount{CurrencyCode: "EUR", NominalAmount: 4711, TotalAmount: 4711}, Consumer: &aapay.Consumer{ConsumerID: "4670000000", Name: "n"},
	}
}

// begin begins a transaction and gives its id once it is there by its reference; 0 = it has none.
func (s *fleetShop) begin(typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	return s.aapay.InitializeWithIdempotency(s.t.Context(), wire.NewKey(), typ, req)
}

// paid pays by a wallet and gives the transaction's id.
func (s *fleetShop) paid(ref string) int64 {
	s.t.Helper()
	reply, err := s.begin(aapay.Payment, s.sale(ref))
	require.NoError(s.t, err)
	require.Equal(s.t, http.StatusAccepted, reply.HTTPStatus, "%+v", reply)
	var st aapay.Status
	need.Until(s.t, "the payment of "+ref, func() bool {
		st, err = s.aapay.Status(s.t.Context(), ref, "SWISH_E_COM")
		require.NoError(s.t, err)
		return st.AccountState == aapay.Commit
	})
	return st.TransactionID
}

func moto() payments.CreateRequest {
	return payments.CreateRequest{
		Type: payments.Moto, Amount: 1250, CurrencyCode: "EUR", Processing: payments.ProcessSale, PaymentNumber: "G1",
		CardDetails: &payments.CardDetails{PAN: wire.NewPAN("4111111111111111"), ExpiryYear: 2099, ExpiryMonth: 12},
	}
}

// A fleet gives each enrolment credentials of its own, which name merchant and terminal, reach nothing of another merchant's whatever is
// named, and end with it (MONEY E.7). The kind: the wallets, payments, tokens, payment links, hosted build, disputes, onboarding; each
// by reading, listing, changing, and by the names that a caller chooses itself (references, keys, order and contract ids). What is
// administered takes the operator's token.
func TestField2_A1EnrolmentsReachNothingOfEachOthers(t *testing.T) {
	delay := time.Duration(0)
	b, srv := listen(t, backend.Config{Dir: t.TempDir(), WalletDelay: &delay, Fleet: true})
	require.NoError(t, b.Init(t.Context()))
	good, evil := enrol(t, b, srv.URL, "GOOD", "30000001"), enrol(t, b, srv.URL, "EVIL", "20000001")
	for _, key := range []string{"bearer", "consumer_key", "consumer_secret", "instance", "secret", "api_key"} {
		require.NotEmpty(t, good.v[key], key)
		require.NotEqual(t, good.v[key], evil.v[key], key)
	}
	ctx := t.Context()
	notFound := func(t *testing.T, what string, err error) {
		t.Helper()
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "%s: %v", what, err)
	}
	same := func(t *testing.T, act func()) { // nothing of GOOD's moves
		t.Helper()
		books := func() (list []backend.Entry) {
			all, err := b.Books(ctx)
			require.NoError(t, err)
			for _, e := range all {
				if len(e.Postings) > 0 {
					list = append(list, e)
				}
			}
			return list
		}
		before := books()
		act()
		require.Equal(t, before, books())
	}

	t.Run("wallets", func(t *testing.T) {
		id := good.paid("till-1")
		st, err := good.aapay.Status(ctx, "till-1", "")
		require.NoError(t, err)
		for _, proof := range []string{"Bearer " + evil.v["bearer"], "Bearer " + base64.StdEncoding.EncodeToString([]byte(evil.v["consumer_key"]+":"+evil.v["consumer_secret"]))} {
			evil.use(proof)
			same(t, func() {
				for _, name := range []string{strconv.FormatInt(id, 10), "till-1", st.NAA2ECR.PPRef} {
					_, err := evil.aapay.Status(ctx, name, "SWISH_E_COM")
					notFound(t, "status of "+name, err)
					for _, merchant := range []string{"EVIL", "GOOD"} {
						req := evil.sale("back-" + name + merchant)
						req.MerchantID, req.OriginalReference, req.Trigger = merchant, name, ""
						_, err := evil.begin(aapay.Refund, req)
						notFound(t, "refund of "+name+" as "+merchant, err)
					}
				}
				req := evil.sale("undo-" + proof[:12])
				req.OriginalReference, req.Trigger = "till-1", ""
				_, err = evil.begin(aapay.Reversal, req) // EVIL's own reference of that name never arrived
				require.NoError(t, err)
				resp, err := http.DefaultClient.Do(post(t, srv.URL+"/wallet/till-1/pay", "", proof))
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
				require.Equal(t, http.StatusNotFound, resp.StatusCode)
			})
		}
		req := evil.sale("as-good")
		req.MerchantID = "GOOD"
		_, err = evil.begin(aapay.Payment, req)
		notFound(t, "a sale of GOOD's", err)
		_, err = evil.methods.List(ctx, methods.Query{BaxID: "130000001", TerminalID: "30000001", Caller: "x"})
		notFound(t, "GOOD's methods", err)
		// Each merchant counts as it likes, and blocks no other.
		evil.paid("till-7")
		good.paid("till-7")
		req = evil.sale("undo-8")
		req.OriginalReference, req.Trigger = "till-8", ""
		_, err = evil.begin(aapay.Reversal, req)
		require.NoError(t, err)
		good.paid("till-8")
		key := wire.NewKey()
		_, err = evil.aapay.InitializeWithIdempotency(ctx, key, aapay.Payment, evil.sale("keyed"))
		require.NoError(t, err)
		_, err = good.aapay.InitializeWithIdempotency(ctx, key, aapay.Payment, good.sale("keyed"))
		require.NoError(t, err)
	})

	var payment payments.Created
	t.Run("payments and tokens", func(t *testing.T) {
		var err error
		payment, err = good.payments.Create(ctx, wire.NewKey(), moto())
		require.NoError(t, err)
		tok, err := good.tokens.Create(ctx, wire.NewKey(), tokens.CreateRequest{CardDetails: &tokens.CardDetails{PAN: wire.NewPAN("4111111111111111"), ExpiryYear: 2099, ExpiryMonth: 12}})
		require.NoError(t, err)
		text, err := good.tokens.Token(ctx, tok.TokenizationID)
		require.NoError(t, err)
		same(t, func() {
			_, err = evil.payments.Read(ctx, payment.PaymentID)
			notFound(t, "read", err)
			_, err = evil.payments.Refund(ctx, wire.NewKey(), payment.PaymentID, payments.RefundRequest{})
			notFound(t, "refund", err)
			_, err = evil.payments.Capture(ctx, wire.NewKey(), payment.PaymentID, payments.CaptureRequest{})
			notFound(t, "capture", err)
			_, err = evil.payments.Cancel(ctx, wire.NewKey(), payment.PaymentID, payments.CancelRequest{})
			notFound(t, "cancel", err)
			_, err = evil.tokens.Token(ctx, tok.TokenizationID)
			notFound(t, "token", err)
			_, err = evil.tokens.Verify(ctx, wire.NewKey(), tok.TokenizationID)
			notFound(t, "verify", err)
			req := moto()
			req.CardDetails, req.PaymentMethodDetails = nil, &payments.PaymentMethodDetails{Type: payments.WithToken, Token: text.Token}
			_, err = evil.payments.Create(ctx, wire.NewKey(), req)
			require.Equal(t, payments.InvalidToken, wire.ReasonOf(err), "%v", err)
		})
		// The token that a payment makes is the payment's merchant's.
		req := moto()
		req.PaymentMethodDetails = &payments.PaymentMethodDetails{Type: payments.InitialToken}
		first, err := good.payments.Create(ctx, wire.NewKey(), req)
		require.NoError(t, err)
		read, err := good.payments.Read(ctx, first.PaymentID)
		require.NoError(t, err)
		require.NotEmpty(t, read.PaymentDetails.CardDetails.Token.Reveal())
	})

	t.Run("disputes", func(t *testing.T) {
		pay := func(s *fleetShop) { _, err := s.payments.Create(ctx, wire.NewKey(), moto()); require.NoError(t, err) }
		pay(evil)
		open := func(s *fleetShop, id string) (disputes.CreateReply, error) {
			return s.disputes.Create(ctx, wire.NewKey(), disputes.CreateRequest{
				CardSchemeTransactionID: id, OperatorDisputeReasonCode: "D002", DisputeAmount: "1250", DisputeCurrency: "EUR", ClaimValidationRequired: disputes.Yes, TransactionAmount: "1250", TransactionCurrency: "EUR", TransactionDate: time.Now().UTC().Format(disputes.DateLayout),
			})
		}
		_, err := open(evil, payment.PaymentID)
		require.Equal(t, disputes.NoMatch, wire.ReasonOf(err), "%v", err)
		made, err := open(good, payment.PaymentID)
		require.NoError(t, err)
		list, err := good.disputes.List(ctx, disputes.ListRequest{CaseNumber: made.CaseNumber})
		require.NoError(t, err)
		require.Len(t, list.Cases, 1)
		for _, by := range []disputes.ListRequest{{CaseNumber: made.CaseNumber}, {GroupNumber: made.GroupNumber}, {CardID: list.Cases[0].PanID}} {
			list, err := evil.disputes.List(ctx, by)
			require.NoError(t, err)
			require.Empty(t, list.Cases, "%+v", by)
		}
		queue, err := evil.disputes.Queue(ctx, disputes.QueueRequest{QueueID: int32(disputes.Issuer), IsOpen: disputes.Yes})
		require.NoError(t, err)
		require.Empty(t, queue.Cases)
		_, err = evil.disputes.Update(ctx, wire.NewKey(), made.CaseNumber, disputes.UpdateRequest{CloseDispute: disputes.Yes})
		notFound(t, "close", err)
		again, err := good.disputes.List(ctx, disputes.ListRequest{CaseNumber: made.CaseNumber})
		require.NoError(t, err)
		require.Equal(t, list.Cases, again.Cases)
	})

	t.Run("payment links", func(t *testing.T) {
		made, err := good.links.Links().Create(ctx, "", chairs("order-1", 1250))
		require.NoError(t, err)
		id := made.Link.ID
		require.Equal(t, http.StatusNotFound, playLinkAs(t, srv.URL, "order-1", "pay", evil.v["bearer"]))
		require.Equal(t, http.StatusOK, playLinkAs(t, srv.URL, "order-1", "pay", good.v["bearer"]))
		var txn paylinks.Transaction
		need.Until(t, "the link's payment", func() bool {
			list, err := good.links.Transactions().List(ctx, paylinks.Filter{})
			require.NoError(t, err)
			if len(list) > 0 {
				txn = list[0]
			}
			return len(list) > 0 && txn.Status == paylinks.Confirmed
		})
		same(t, func() {
			_, err := evil.links.Links().Read(ctx, id)
			notFound(t, "read", err)
			_, err = evil.links.Links().Delete(ctx, "", id)
			notFound(t, "delete", err)
			list, err := evil.links.Transactions().List(ctx, paylinks.Filter{})
			require.NoError(t, err)
			require.Empty(t, list)
			_, err = evil.links.Transactions().Read(ctx, txn.ID)
			notFound(t, "read a transaction", err)
			_, err = evil.links.Transactions().Refund(ctx, "", txn.ID, paylinks.RefundRequest{})
			notFound(t, "refund", err)
			_, err = evil.links.Transactions().Capture(ctx, "", txn.ID)
			notFound(t, "capture", err)
			_, err = evil.links.Transactions().Charge(ctx, "", txn.ID, paylinks.ChargeRequest{})
			notFound(t, "charge", err)
			_, err = evil.links.Transactions().Delete(ctx, "", txn.ID)
			notFound(t, "cancel", err)
		})
		mixed := *evil.links
		mixed.Instance = good.v["instance"]
		_, err = mixed.Links().Read(ctx, id)
		require.Equal(t, wire.Forbidden, wire.CodeOf(err), "GOOD's account with EVIL's secret: %v", err)
	})

	t.Run("hosted", func(t *testing.T) {
		req := hostedtest.Good()
		req.PaymentSession.Recurrence = &hosted.Recurrence{Action: hosted.ContractCreation, ContractID: "cust-77", ContractType: hosted.Unscheduled}
		made, err := good.hosted.Sessions().Build(ctx, wire.NewKey(), req)
		require.NoError(t, err)
		_, err = evil.hosted.Sessions().State(ctx, made.SessionID)
		notFound(t, "state", err)
		_, err = evil.hosted.Sessions().Cancel(ctx, wire.NewKey(), made.SessionID)
		notFound(t, "cancel of a session", err)
		require.NoError(t, b.Hosted().Fill(ctx, made.SessionID, wire.NewPAN("4111111111111111"), 2099, 1))
		_, err = evil.hosted.Sessions().Finalize(ctx, wire.NewKey(), made.SessionID, "")
		notFound(t, "finalize", err)
		done, err := good.hosted.Sessions().Finalize(ctx, wire.NewKey(), made.SessionID, "")
		require.NoError(t, err)
		op := done.Operation.OperationID
		same(t, func() {
			_, err := evil.hosted.Orders().Order(ctx, req.Order.OrderID)
			notFound(t, "order", err)
			for name, act := range map[string]func(context.Context, wire.Key, string, hosted.PostRequest) (hosted.Posted, error){
				"refund": evil.hosted.Orders().Refund, "capture": evil.hosted.Orders().Capture, "cancel": evil.hosted.Orders().Cancel,
			} {
				_, err := act(ctx, wire.NewKey(), op, hosted.PostRequest{Amount: "100", Currency: "EUR"})
				notFound(t, name, err)
			}
			taken := hostedtest.Good()
			taken.Order.OrderID = req.Order.OrderID
			_, err = evil.hosted.Sessions().Build(ctx, wire.NewKey(), taken)
			require.Equal(t, wire.Conflict, wire.CodeOf(err), "an order of GOOD's: %v", err)
			for _, action := range []string{hosted.SubsequentPayment, hosted.CardSubstitution, hosted.ContractCreation} {
				charge := hostedtest.Good()
				charge.PaymentSession.Recurrence = &hosted.Recurrence{Action: action, ContractID: "cust-77", ContractType: hosted.Unscheduled}
				_, err = evil.hosted.Sessions().Build(ctx, wire.NewKey(), charge)
				require.Equal(t, hosted.BadContract, wire.ReasonOf(err), "%s: %v", action, err)
			}
		})
		charge := hostedtest.Good()
		charge.PaymentSession.Recurrence = &hosted.Recurrence{Action: hosted.SubsequentPayment, ContractID: "cust-77", ContractType: hosted.Unscheduled}
		_, err = good.hosted.Sessions().Build(ctx, wire.NewKey(), charge)
		require.NoError(t, err, "GOOD's own contract")
	})

	t.Run("onboarding", func(t *testing.T) {
		st, err := good.onboard.Create(ctx, wire.NewKey(), onboarding.Application{Reference: "R1"})
		require.NoError(t, err)
		_, err = evil.onboard.Read(ctx, st.OnboardingID)
		notFound(t, "read", err)
		_, err = evil.onboard.Update(ctx, wire.NewKey(), st.OnboardingID, onboarding.Application{Reference: "R2"})
		notFound(t, "update", err)
		_, err = evil.onboard.Submit(ctx, wire.NewKey(), st.OnboardingID)
		notFound(t, "submit", err)
	})

	t.Run("administration", func(t *testing.T) {
		for value, want := range map[string]int{"Bearer " + evil.v["bearer"]: 401, demoBearer: 401, "Bearer posagent-demo-operator": 200} {
			req := post(t, srv.URL+backend.HooksPrefix, "", value)
			req.Method = http.MethodGet
			resp, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, want, resp.StatusCode, value)
		}
	})

	t.Run("end", func(t *testing.T) {
		token := fetched(t, srv.URL, evil)
		evil.use("Bearer " + token)
		evil.paid("by-token")
		twin := enrol(t, b, srv.URL, "EVIL", "20000002")
		_, err := twin.aapay.Status(ctx, "by-token", "")
		require.NoError(t, err, "another terminal of the merchant")
		_, err = b.Fleet().Revoke(ctx, "", fleet.RevokeRequest{ID: evil.enrolment, Reason: "stolen"})
		require.NoError(t, err)
		for name, proof := range map[string]string{
			"token": token, "bearer": evil.v["bearer"], "pair": base64.StdEncoding.EncodeToString([]byte(evil.v["consumer_key"] + ":" + evil.v["consumer_secret"])),
		} {
			evil.use("Bearer " + proof)
			_, err := evil.aapay.Status(ctx, "by-token", "")
			require.Equal(t, wire.Unauthorized, wire.CodeOf(err), "%s: %v", name, err)
		}
		_, err = evil.links.Transactions().List(ctx, paylinks.Filter{})
		require.Equal(t, wire.Forbidden, wire.CodeOf(err), "%v", err)
		_, err = evil.hosted.Orders().Methods(ctx)
		require.Equal(t, wire.Unauthorized, wire.CodeOf(err), "%v", err)
		forged := good.v["bearer"][:len(good.v["bearer"])-1] + "x"
		good.use("Bearer " + forged)
		_, err = good.aapay.Status(ctx, "till-1", "")
		require.Equal(t, wire.Unauthorized, wire.CodeOf(err), "%v", err)
	})
}

// What a merchant sent with the operator's credentials is the same write under its own: nothing is done twice, and its sales are undone
// under the references that they have.
func TestField2_A1WhatWasSentBeforeStaysTheMerchants(t *testing.T) {
	delay := time.Duration(0)
	b, srv := listen(t, backend.Config{Dir: t.TempDir(), WalletDelay: &delay, Fleet: true})
	ctx := t.Context()
	old := boxOf(t, srv.URL, "GOOD", `bearer = "posagent-demo-bearer"`)
	key, other := wire.NewKey(), wire.NewKey()
	_, err := old.aapay.InitializeWithIdempotency(ctx, key, aapay.Payment, old.sale("till-1"))
	require.NoError(t, err)
	paid, err := old.payments.Create(ctx, other, moto())
	require.NoError(t, err)
	good, evil := enrol(t, b, srv.URL, "GOOD", "30000001"), enrol(t, b, srv.URL, "EVIL", "20000001")
	before, err := b.Books(ctx)
	require.NoError(t, err)
	_, err = good.aapay.InitializeWithIdempotency(ctx, key, aapay.Payment, good.sale("till-1"))
	require.NoError(t, err)
	again, err := good.payments.Create(ctx, other, moto())
	require.NoError(t, err)
	require.Equal(t, paid, again)
	after, err := b.Books(ctx)
	require.NoError(t, err)
	require.Len(t, after, len(before))
	_, err = evil.aapay.Status(ctx, "till-1", "")
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
	undo := good.sale("undo-1")
	undo.OriginalReference, undo.Trigger = "till-1", ""
	_, err = good.begin(aapay.Reversal, undo)
	require.NoError(t, err)
	need.Until(t, "the payment's undo", func() bool {
		st, err := good.aapay.Status(ctx, "till-1", "")
		require.NoError(t, err)
		moved := int64(0)
		list, err := b.Books(ctx)
		require.NoError(t, err)
		for _, e := range list {
			for _, p := range e.Postings {
				if e.Service == "aapay" && p.Account == "merchant" {
					moved += int64(p.Amount)
				}
			}
		}
		return st.State == aapay.Cancelled || moved == 0 && len(list) > len(before)
	})
}

func post(t *testing.T, address, body, authorization string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", authorization)
	return req
}

// playLinkAs lets a program act on a link with a bearer.
func playLinkAs(t *testing.T, base, ref, act, token string) int {
	t.Helper()
	resp, err := http.DefaultClient.Do(post(t, base+"/pay/"+url.PathEscape(ref)+"/"+act, "", "Bearer "+token))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

// fetched fetches a token for a shop's pair.
func fetched(t *testing.T, base string, s *fleetShop) string {
	t.Helper()
	req := post(t, base+"/token", "grant_type=client_credentials", "")
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(s.v["consumer_key"], s.v["consumer_secret"])
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	var got struct {
		Token string `json:"access_token"`
	}
	require.NoError(t, decode(resp, &got))
	require.NotEmpty(t, got.Token, fmt.Sprint(resp.Header))
	return got.Token
}

func decode(resp *http.Response, into any) error { return json.NewDecoder(resp.Body).Decode(into) }
