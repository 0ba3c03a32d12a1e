package backend_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/aapay"
	"posagent/schemes/backend"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/wire"
)

// shop opens a backend whose customers never pay by themselves, and a client of it.
func shop(t *testing.T, delay time.Duration) (*backend.Backend, string, *aapay.Client) {
	t.Helper()
	b, srv := serve(t, t.TempDir(), delay)
	doer := bearer{srv.Client(), demoBearer}
	return b, srv.URL, &aapay.Client{BaseURL: srv.URL, Doer: doer}
}

// Every row about the reply to an initialize, seen by the real client: what the first answer is, and that asking
// again under the same Key ends in one transaction.
func TestInitializeRows(t *testing.T) {
	b, _, client := shop(t, time.Hour)
	for _, row := range []struct {
		name   string
		first  wire.Code // "" = an answer
		status int       // of the first answer
		code   int
		effect bool // after the first request
		again  int  // status of the same Key again
	}{
		{"reject", "", 201, aapay.CodeReject, true, 201},
		{"cancel", "", 201, aapay.CodeCancel, true, 201},
		{"reject-valid", "", 201, aapay.CodeReject, true, 201},
		{"composite-fault", "", 201, aapay.CodeReject, true, 201},
		{"lost-initialize", wire.UnknownOutcome, 0, 0, true, 202},
		{"500-before", wire.Internal, 0, 0, false, 202},
		{"500-after", wire.UnknownOutcome, 0, 0, true, 202},
		{"429", wire.TooMany, 0, 0, false, 202},
		{"garbage", wire.UnknownOutcome, 0, 0, true, 202},
		{"truncated", wire.UnknownOutcome, 0, 0, true, 202},
		{"empty", wire.UnknownOutcome, 0, 0, true, 202},
		{"no-content", wire.UnknownOutcome, 0, 0, true, 202},
		{"wrong-type", wire.UnknownOutcome, 0, 0, true, 202},
		{"redirect", wire.UnknownOutcome, 0, 0, true, 202},
		{"big-header", "", 202, aapay.CodeOK, true, 202},
		{"cookies", "", 202, aapay.CodeOK, true, 202},
		{"old-date", "", 202, aapay.CodeOK, true, 202},
		{"plain-200", wire.UnknownOutcome, 0, 0, true, 202},
		{"odd-code", "", 202, 42, true, 202},
		{"not-valid", "", 202, aapay.CodeOK, true, 202},
		{"foreign-link", "", 202, aapay.CodeOK, true, 202},
		{"resend", "", 202, aapay.CodeResend, false, 202},
		{"pending", "", 202, aapay.CodePending, true, 202},
	} {
		t.Run(row.name, func(t *testing.T) {
			amount := named(t, row.name).AmountHundredths
			key, req := wire.NewKey(), payment("T-"+row.name, amount)
			reply, err := client.InitializeWithIdempotency(t.Context(), key, aapay.Payment, req)
			if row.first == "" {
				require.NoError(t, err)
				require.Equal(t, row.status, reply.HTTPStatus)
				require.NotNil(t, reply.Response)
				require.Equal(t, row.code, reply.Response.ResponseCode)
			} else {
				require.Equal(t, row.first, wire.CodeOf(err), "%v", err)
			}
			_, err = b.Aapay().Status(t.Context(), req.TerminalReference, "")
			require.Equal(t, row.effect, err == nil, "%v", err)
			again, err := client.InitializeWithIdempotency(t.Context(), key, aapay.Payment, req)
			require.NoError(t, err)
			require.Equal(t, row.again, again.HTTPStatus)
			st, err := client.Status(t.Context(), req.TerminalReference, "")
			require.NoError(t, err)
			require.Equal(t, st.NAA2ECR.PPRef, again.Response.NAA2ECR.PPRef)
		})
	}
	seen := map[string]bool{}
	for _, e := range entriesOf(t, b) {
		require.False(t, seen[e.Reference], "%s came twice", e.Reference)
		seen[e.Reference] = true
	}
}

// Every row about the reply to a status read: spoilt once (or always lying in a field that decides nothing), then whole.
func TestStatusRows(t *testing.T) {
	_, _, client := shop(t, time.Hour)
	for _, row := range []struct {
		name  string
		first wire.Code
	}{
		{"lost-status", wire.Unavailable}, {"status-500", wire.Internal}, {"status-429", wire.TooMany},
		{"status-garbage", wire.Unavailable}, {"status-truncated", wire.Unavailable},
	} {
		t.Run(row.name, func(t *testing.T) {
			req := payment("T-"+row.name, named(t, row.name).AmountHundredths)
			_, err := client.Initialize(t.Context(), aapay.Payment, req)
			require.NoError(t, err)
			_, err = client.Status(t.Context(), req.TerminalReference, "")
			require.Equal(t, row.first, wire.CodeOf(err), "%v", err)
			if row.first == wire.TooMany {
				var e *wire.Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, 2*time.Second, e.RetryAfter)
			}
			st, err := client.Status(t.Context(), req.TerminalReference, "")
			require.NoError(t, err)
			require.Equal(t, aapay.Initialized, st.State)
		})
	}
	t.Run("huge-qr", func(t *testing.T) {
		req := payment("T-huge", named(t, "huge-qr").AmountHundredths)
		_, err := client.Initialize(t.Context(), aapay.Payment, req)
		require.NoError(t, err)
		st, err := client.Status(t.Context(), req.TerminalReference, "")
		require.NoError(t, err)
		require.Greater(t, len(st.QRCodePayload), 100<<10)
	})
	t.Run("other-amount", func(t *testing.T) {
		req := payment("T-amount", named(t, "other-amount").AmountHundredths)
		_, err := client.Initialize(t.Context(), aapay.Payment, req)
		require.NoError(t, err)
		st, err := client.Status(t.Context(), req.TerminalReference, "")
		require.NoError(t, err)
		require.Equal(t, "XAF", st.Receipt.Currency)
	})
	t.Run("other-id", func(t *testing.T) {
		req := payment("T-other", named(t, "other-id").AmountHundredths)
		reply, err := client.Initialize(t.Context(), aapay.Payment, req)
		require.NoError(t, err)
		wrong, err := client.Status(t.Context(), req.TerminalReference, "")
		require.NoError(t, err)
		require.Equal(t, aapay.Finalized, wrong.State)
		require.NotEqual(t, reply.Response.NAA2ECR.PPRef, wrong.NAA2ECR.PPRef)
		right, err := client.Status(t.Context(), req.TerminalReference, "")
		require.NoError(t, err)
		require.Equal(t, aapay.Initialized, right.State)
		require.Equal(t, reply.Response.NAA2ECR.PPRef, right.NAA2ECR.PPRef)
	})
}

// Undo rows over HTTP: the reply is lost or refused, the same Key again proves what happened, money moves once.
func TestUndoReplies(t *testing.T) {
	b, _, client := shop(t, 0)
	for _, row := range []struct {
		name   string
		typ    aapay.Type
		first  wire.Code
		effect bool
	}{
		{"lost-reversal", aapay.Reversal, wire.UnknownOutcome, true},
		{"reversal-500", aapay.Reversal, wire.UnknownOutcome, true},
		{"reversal-429", aapay.Reversal, wire.TooMany, false},
		{"lost-refund", aapay.Refund, wire.UnknownOutcome, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			amount := named(t, row.name).AmountHundredths
			sale := payment("T-"+row.name, amount)
			reply, err := client.Initialize(t.Context(), aapay.Payment, sale)
			require.NoError(t, err)
			original := sale.TerminalReference
			if row.typ == aapay.Refund {
				original = reply.Response.NAA2ECR.PPRef
			}
			key, req := wire.NewKey(), undo("U-"+row.name, original, amount)
			_, err = client.InitializeWithIdempotency(t.Context(), key, row.typ, req)
			require.Equal(t, row.first, wire.CodeOf(err), "%v", err)
			require.Equal(t, row.effect, backend.NetByReference(entriesOf(t, b))[sale.TerminalReference] == 0)
			again, err := client.InitializeWithIdempotency(t.Context(), key, row.typ, req)
			require.NoError(t, err)
			require.Equal(t, 202, again.HTTPStatus)
			st, err := client.Status(t.Context(), req.TerminalReference, "")
			require.NoError(t, err)
			require.Equal(t, aapay.Commit, st.AccountState)
			require.Zero(t, backend.NetByReference(entriesOf(t, b))[sale.TerminalReference])
		})
	}
	balanced(t, entriesOf(t, b))
}

// What stands on the wire where the client hides it.
func TestSpoiltWire(t *testing.T) {
	_, url, client := shop(t, time.Hour)
	post := func(name string) *http.Response {
		req := payment("W-"+name, named(t, name).AmountHundredths)
		body := `{"merchantId":"M1","method":"SWISH_E_COM","terminalReference":"` + req.TerminalReference +
			`","trigger":"2","purchaseAmount":{"currencyCode":"EUR","vatAmount":0,"nominalAmount":1,"totalAmount":` +
			strconv.FormatInt(req.PurchaseAmount.TotalAmount, 10) + `},"consumer":{"consumerId":"","name":""}}`
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/ms/aapay/v2/transaction/payment/initialize", strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", aapay.ContentType)
		transport := &http.Transport{DisableKeepAlives: true}
		resp, err := bearer{doTrip{transport}, demoBearer}.Do(r)
		require.NoError(t, err)
		t.Cleanup(func() { _ = resp.Body.Close() })
		return resp
	}
	resp := post("redirect")
	require.Equal(t, http.StatusFound, resp.StatusCode)
	require.True(t, strings.HasPrefix(resp.Header.Get("Location"), "http://scheme.example/"))
	resp = post("old-date")
	require.Contains(t, resp.Header.Get("Date"), "1970")
	require.Len(t, post("cookies").Header.Values("Set-Cookie"), 200)
	require.Equal(t, http.StatusNoContent, post("no-content").StatusCode)
	resp = post("429")
	require.Equal(t, "2", resp.Header.Get("Retry-After"))
	body, err := io.ReadAll(post("composite-fault").Body)
	require.NoError(t, err)
	require.Contains(t, string(body), `"compositeFault"`)
	require.NotContains(t, string(body), `"componsiteFault"`)
	require.NotNil(t, client)
}

// doTrip is a Doer that follows nothing.
type doTrip struct{ *http.Transport }

func (d doTrip) Do(r *http.Request) (*http.Response, error) { return d.RoundTrip(r) }

func named(t *testing.T, name string) scenario.Row {
	t.Helper()
	row := scenario.Named(name)
	require.Equal(t, name, row.Name, "no such row")
	return row
}

func entriesOf(t *testing.T, b *backend.Backend) []backend.Entry {
	t.Helper()
	list, err := b.Books(t.Context())
	require.NoError(t, err)
	return list
}
