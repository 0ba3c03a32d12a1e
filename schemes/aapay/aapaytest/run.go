package aapaytest

import (
	"context"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/aapay"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

// Fixture is a service to be proven, with the knobs the suite turns. Every terminalReference and Key is fresh, so
// one service serves the whole run.
type Fixture struct {
	Service    aapay.Service
	MerchantID string
	Method     string // supports PAYMENT, REFUND and REVERSAL and the QR trigger; its money moves with FINALIZED
	Currency   string // "" means EUR
	Approve    int64  // hundredths: initialize is answered 202
	Reject     int64  // hundredths: initialize is answered 201
	// Pay lets the customer pay the payment with this terminalReference, Cancel lets him refuse; a service whose customers cannot refuse
	// has none.
	Pay, Cancel func(t *testing.T, terminalReference string)
	// Tick lets some time pass between two reads of a status that is not final yet; nil: nothing needs time.
	Tick func(t *testing.T)
	// Wire is the same service over HTTP; nil: this row has no wire.
	Wire *wiretest.Site
}

// Run proves the fixture's service.
func Run(t *testing.T, f Fixture) {
	require.NotNil(t, f.Service)
	require.NotNil(t, f.Pay)
	if f.Currency == "" {
		f.Currency = "EUR"
	}
	wiretest.Groups{
		{"initialize", f.initialize}, {"idempotency", f.idempotency}, {"status", f.status}, {"undo", f.undo},
		{"validation", f.validation},
	}.Run(t, f.Wire != nil, f.wire)
}

// Request makes a good QR payment with a fresh terminalReference.
func (f Fixture) Request(amount int64) aapay.Request {
	ref := string(wire.NewKey())
	return aapay.Request{
		MerchantID: f.MerchantID, Method: f.Method, TerminalReference: ref, Trigger: aapay.TriggerQR,
		PurchaseAmount: &aapay.Amount{CurrencyCode: f.Currency, NominalAmount: amount, TotalAmount: amount},
		Consumer:       &aapay.Consumer{ConsumerID: ref},
	}
}

func (f Fixture) start(t *testing.T, amount int64) (aapay.Request, aapay.Reply) {
	t.Helper()
	req := f.Request(amount)
	reply, err := f.Service.InitializeWithIdempotency(t.Context(), wire.NewKey(), aapay.Payment, req)
	require.NoError(t, err)
	return req, reply
}

func (f Fixture) paid(t *testing.T) (aapay.Request, aapay.Status) {
	t.Helper()
	req, reply := f.start(t, f.Approve)
	require.Equal(t, http.StatusAccepted, reply.HTTPStatus)
	f.Pay(t, req.TerminalReference)
	return req, f.until(t, req.TerminalReference, func(s aapay.Status) bool { return s.AccountState == aapay.Commit })
}

// until reads a status until ok.
func (f Fixture) until(t *testing.T, id string, ok func(aapay.Status) bool) aapay.Status {
	t.Helper()
	var st aapay.Status
	for range 200 {
		var err error
		st, err = f.Service.Status(t.Context(), id, f.Method)
		require.NoError(t, err)
		if ok(st) {
			return st
		}
		if f.Tick != nil {
			f.Tick(t)
		}
	}
	require.Failf(t, "status does not come", "still %s %s", st.State, st.AccountState)
	return st
}

func ppref(t *testing.T, n *aapay.NAA2ECR) string {
	t.Helper()
	require.NotNil(t, n)
	require.NotEmpty(t, n.PPRef)
	return n.PPRef
}

func (f Fixture) initialize(t *testing.T) {
	t.Run("live", func(t *testing.T) {
		_, reply := f.start(t, f.Approve)
		require.Equal(t, http.StatusAccepted, reply.HTTPStatus)
		require.True(t, reply.Valid)
		require.Nil(t, reply.Error)
		require.NotNil(t, reply.Response)
		require.Contains(t, []int{aapay.CodeOK, aapay.CodePending}, reply.Response.ResponseCode)
		ppref(t, reply.Response.NAA2ECR)
	})
	t.Run("rejected", func(t *testing.T) {
		req, reply := f.start(t, f.Reject)
		require.Equal(t, http.StatusCreated, reply.HTTPStatus)
		require.NotNil(t, reply.Response)
		require.Contains(t, []int{aapay.CodeReject, aapay.CodeCancel}, reply.Response.ResponseCode)
		st, err := f.Service.Status(t.Context(), req.TerminalReference, "")
		require.NoError(t, err)
		require.Contains(t, []aapay.State{aapay.Rejected, aapay.Cancelled, aapay.Failed}, st.State)
		require.NotEqual(t, aapay.Commit, st.AccountState)
	})
	t.Run("plain route", func(t *testing.T) {
		a, err := f.Service.Initialize(t.Context(), aapay.Payment, f.Request(f.Approve))
		require.NoError(t, err)
		b, err := f.Service.Initialize(t.Context(), aapay.Payment, f.Request(f.Approve))
		require.NoError(t, err)
		require.NotEqual(t, ppref(t, a.Response.NAA2ECR), ppref(t, b.Response.NAA2ECR))
	})
}

func (f Fixture) idempotency(t *testing.T) {
	key, req := wire.NewKey(), f.Request(f.Approve)
	first, err := f.Service.InitializeWithIdempotency(t.Context(), key, aapay.Payment, req)
	require.NoError(t, err)
	t.Run("same body gives the same answer", func(t *testing.T) {
		again, err := f.Service.InitializeWithIdempotency(t.Context(), key, aapay.Payment, req)
		require.NoError(t, err)
		require.Equal(t, first, again)
	})
	t.Run("other body is refused", func(t *testing.T) {
		other := req
		other.PurchaseAmount = &aapay.Amount{CurrencyCode: f.Currency, NominalAmount: f.Approve + 100, TotalAmount: f.Approve + 100}
		_, err := f.Service.InitializeWithIdempotency(t.Context(), key, aapay.Payment, other)
		require.Equal(t, wire.KeyReused, wire.CodeOf(err), "%v", err)
	})
	t.Run("other type is refused", func(t *testing.T) {
		other := req
		other.OriginalReference = req.TerminalReference
		_, err := f.Service.InitializeWithIdempotency(t.Context(), key, aapay.Reversal, other)
		require.Equal(t, wire.KeyReused, wire.CodeOf(err), "%v", err)
	})
	t.Run("a rejection is replayed", func(t *testing.T) {
		key, req := wire.NewKey(), f.Request(f.Reject)
		a, err := f.Service.InitializeWithIdempotency(t.Context(), key, aapay.Payment, req)
		require.NoError(t, err)
		b, err := f.Service.InitializeWithIdempotency(t.Context(), key, aapay.Payment, req)
		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, b.HTTPStatus)
		require.Equal(t, a, b)
	})
	t.Run("an invalid request does not use the key up", func(t *testing.T) {
		key, req := wire.NewKey(), f.Request(f.Approve)
		broken := req
		broken.PurchaseAmount = nil
		_, err := f.Service.InitializeWithIdempotency(t.Context(), key, aapay.Payment, broken)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
		_, err = f.Service.InitializeWithIdempotency(t.Context(), key, aapay.Payment, req)
		require.NoError(t, err)
	})
	t.Run("at once", func(t *testing.T) {
		key, req := wire.NewKey(), f.Request(f.Approve)
		refs := wiretest.AtOnce(func(int) string {
			reply, err := f.Service.InitializeWithIdempotency(t.Context(), key, aapay.Payment, req)
			if err != nil || reply.Response == nil || reply.Response.NAA2ECR == nil {
				return ""
			}
			return reply.Response.NAA2ECR.PPRef
		})
		delete(refs, "")
		require.Len(t, refs, 1, "one key, one transaction")
	})
}

func (f Fixture) status(t *testing.T) {
	t.Run("by each id", func(t *testing.T) {
		req, reply := f.start(t, f.Approve)
		pp := ppref(t, reply.Response.NAA2ECR)
		byRef, err := f.Service.Status(t.Context(), req.TerminalReference, f.Method)
		require.NoError(t, err)
		require.NotZero(t, byRef.TransactionID)
		for _, id := range []string{pp, strconv.FormatInt(byRef.TransactionID, 10)} {
			st, err := f.Service.Status(t.Context(), id, "")
			require.NoError(t, err)
			require.Equal(t, byRef.TransactionID, st.TransactionID)
			require.Equal(t, pp, ppref(t, st.NAA2ECR))
		}
		_, err = time.Parse(time.RFC3339, byRef.TimeStamp)
		require.NoError(t, err)
		require.True(t, byRef.Valid)
	})
	t.Run("qr payload", func(t *testing.T) {
		req, _ := f.start(t, f.Approve)
		st := f.until(t, req.TerminalReference, func(s aapay.Status) bool { return s.QRCodePayload != "" })
		require.Equal(t, "1", st.QRTrigger)
	})
	t.Run("paid", func(t *testing.T) {
		_, st := f.paid(t)
		require.Equal(t, aapay.Finalized, st.State)
	})
	if f.Cancel != nil {
		t.Run("cancelled", func(t *testing.T) {
			req, _ := f.start(t, f.Approve)
			f.Cancel(t, req.TerminalReference)
			st := f.until(t, req.TerminalReference, func(s aapay.Status) bool {
				return s.State == aapay.Cancelled || s.State == aapay.Rejected || s.State == aapay.Failed
			})
			require.NotEqual(t, aapay.Commit, st.AccountState)
		})
	}
	t.Run("unknown ids", func(t *testing.T) {
		for _, id := range []string{string(wire.NewKey()), "-1", "9223372036854775807", "9223372036854775808", "1;2", "1 OR 1=1", "１", "a/b", "%2f", "ünï"} {
			_, err := f.Service.Status(t.Context(), id, "")
			require.Equal(t, wire.NotFound, wire.CodeOf(err), "%q: %v", id, err)
		}
	})
	t.Run("broken ids", func(t *testing.T) {
		for _, id := range []string{"", "..", "a\x00b", "a\nb", string(make([]byte, 300))} {
			_, err := f.Service.Status(t.Context(), id, "")
			require.Equal(t, wire.Invalid, wire.CodeOf(err), "%q: %v", id, err)
		}
	})
}

func undone(s aapay.Status) bool {
	switch s.State {
	case aapay.Finalized, "REVERSED", "REFUNDED":
		return s.AccountState != aapay.Rollback
	}
	return false
}

func (f Fixture) undo(t *testing.T) {
	begin := func(t *testing.T, typ aapay.Type, original string, amount int64) (aapay.Request, aapay.Reply) {
		req := f.Request(amount)
		req.Trigger, req.OriginalReference = aapay.TriggerManual, original
		reply, err := f.Service.InitializeWithIdempotency(t.Context(), wire.NewKey(), typ, req)
		require.NoError(t, err)
		return req, reply
	}
	t.Run("reversal of a paid sale", func(t *testing.T) {
		orig, _ := f.paid(t)
		rev, reply := begin(t, aapay.Reversal, orig.TerminalReference, f.Approve)
		require.Equal(t, http.StatusAccepted, reply.HTTPStatus)
		f.until(t, rev.TerminalReference, undone)
	})
	t.Run("reversal of a waiting sale", func(t *testing.T) {
		orig, _ := f.start(t, f.Approve)
		rev, reply := begin(t, aapay.Reversal, orig.TerminalReference, f.Approve)
		require.Equal(t, http.StatusAccepted, reply.HTTPStatus)
		f.until(t, rev.TerminalReference, undone)
		st, err := f.Service.Status(t.Context(), orig.TerminalReference, "")
		require.NoError(t, err)
		require.NotEqual(t, aapay.Commit, st.AccountState)
		require.NotContains(t, []aapay.State{aapay.Initialized, aapay.Pending, aapay.Reserved, aapay.Authorized}, st.State)
	})
	t.Run("reversal before the sale arrives", func(t *testing.T) {
		late := f.Request(f.Approve)
		_, reply := begin(t, aapay.Reversal, late.TerminalReference, f.Approve)
		require.Contains(t, []int{http.StatusAccepted, http.StatusCreated}, reply.HTTPStatus)
		lateReply, err := f.Service.InitializeWithIdempotency(t.Context(), wire.NewKey(), aapay.Payment, late)
		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, lateReply.HTTPStatus, "a sale undone before it came never begins")
	})
	t.Run("refund", func(t *testing.T) {
		_, st := f.paid(t)
		ref, reply := begin(t, aapay.Refund, strconv.FormatInt(st.TransactionID, 10), f.Approve)
		require.Equal(t, http.StatusAccepted, reply.HTTPStatus)
		f.until(t, ref.TerminalReference, undone)
	})
	t.Run("never twice", func(t *testing.T) {
		orig, st := f.paid(t)
		ref, _ := begin(t, aapay.Refund, strconv.FormatInt(st.TransactionID, 10), f.Approve)
		f.until(t, ref.TerminalReference, undone)
		for _, again := range []struct {
			typ      aapay.Type
			original string
		}{{aapay.Refund, strconv.FormatInt(st.TransactionID, 10)}, {aapay.Reversal, orig.TerminalReference}} {
			req := f.Request(f.Approve)
			req.OriginalReference = again.original
			reply, err := f.Service.InitializeWithIdempotency(t.Context(), wire.NewKey(), again.typ, req)
			if err == nil {
				require.Equal(t, http.StatusCreated, reply.HTTPStatus, "%s of a refunded sale", again.typ)
			} else {
				require.Contains(t, []wire.Code{wire.Conflict, wire.Invalid}, wire.CodeOf(err))
			}
		}
	})
}

func (f Fixture) validation(t *testing.T) {
	for _, c := range Broken() {
		t.Run(c.Name, func(t *testing.T) {
			req := f.Request(f.Approve)
			c.Break(&req)
			_, err := f.Service.Initialize(context.WithoutCancel(t.Context()), c.Type, req)
			require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
			require.ErrorContains(t, err, c.Names)
			_, err = f.Service.InitializeWithIdempotency(t.Context(), wire.NewKey(), c.Type, req)
			require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
		})
	}
}
