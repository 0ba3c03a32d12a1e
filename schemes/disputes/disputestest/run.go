package disputestest

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/disputes"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

// Purchase is a card payment at the service.
type Purchase struct {
	ID       string
	PAN      wire.PAN
	Amount   money.Minor
	Currency string
	Date     string // disputes.DateLayout
}

// Fixture is a service to be proven. A fresh service serves one run.
type Fixture struct {
	Service disputes.Service
	Keys    disputes.Keys
	// Buy makes a purchase of minor units in EUR; amount differs from call to call unless twins are wanted.
	Buy func(t *testing.T, amount money.Minor) Purchase
	// Refund gives a purchase back as a whole.
	Refund func(t *testing.T, p Purchase)
	// Answer lets the operator answer what was submitted.
	Answer func(t *testing.T)
	// Wire is the same service over HTTP; nil: this row has no wire.
	Wire *wiretest.Site
}

// Run proves the fixture's service.
func Run(t *testing.T, f Fixture) {
	require.NotNil(t, f.Service)
	require.NotNil(t, f.Keys)
	require.NotNil(t, f.Buy)
	r := &run{Fixture: f, mark: fmt.Sprintf("page-%08x", rand.Uint32()), last: 3 * rand.N[money.Minor](1_000_000)}
	var err error
	r.key, err = f.Keys.PublicKey(t.Context())
	require.NoError(t, err)
	require.Equal(t, disputes.OAEP, r.key.Algorithm)
	require.Len(t, r.key.ID, 16)
	wiretest.Groups{
		{"reasons", r.reasons}, {"codes", r.codes}, {"search", r.search}, {"groups", r.groups},
		{"case", r.whole}, {"documents", r.documents}, {"moves", r.moves}, {"updates", r.updates},
		{"paging", r.paging}, {"idempotency", r.idempotency}, {"unknown", r.unknown},
		{"validation", r.validation}, {"secrets", r.secrets},
	}.Run(t, f.Wire != nil, r.wire)
}

type run struct {
	Fixture
	key  disputes.PublicKey
	mark string      // of this run: the suite may run on books of another one
	last money.Minor // of purchases
}

// buy makes a purchase of an amount that no other has.
func (r *run) buy(t *testing.T) Purchase {
	t.Helper()
	r.last += 3
	return r.Buy(t, 100_000+r.last)
}

func (r *run) seal(t *testing.T, pan wire.PAN) wire.Secret {
	t.Helper()
	s, err := r.key.Seal(pan)
	require.NoError(t, err)
	return s
}

func amount(m money.Minor) json.Number { return json.Number(strconv.FormatInt(int64(m), 10)) }

// request is a good request on a purchase: a case that is not straight through.
func (r *run) request(t *testing.T, p Purchase) disputes.CreateRequest {
	return disputes.CreateRequest{
		CardNumber: r.seal(t, p.PAN), CardBlocked: disputes.Yes, CardExpiryDate: "2031-12-31", CardHolderName: "Canary Holder",
		CaseHandlerID: "handler-7", ClaimValidationRequired: disputes.Yes, DisputeAmount: amount(p.Amount), DisputeCurrency: p.Currency,
		InterimAccount: "1920", IssuerSuperCaseID: "super-1", IssuerTransactionID: "issuer-tx-1", OperatorDisputeReasonCode: "D002",
		Notes: "the customer says no", TransactionAmount: amount(p.Amount), TransactionCurrency: p.Currency, TransactionDate: p.Date,
		TransactionTime: "00:00:00", AdditionalDataList: []disputes.Pair{{Name: "branch", Value: "12"}},
	}
}

func (r *run) made(t *testing.T, req disputes.CreateRequest) disputes.CreateReply {
	t.Helper()
	out, err := r.Service.Create(t.Context(), wire.NewKey(), req)
	require.NoError(t, err)
	require.NotEmpty(t, out.CaseNumber)
	require.NotEmpty(t, out.GroupNumber)
	return out
}

// read finds one case by its number, history and all.
func (r *run) read(t *testing.T, number string) disputes.Case {
	t.Helper()
	out, err := r.Service.List(t.Context(), disputes.ListRequest{CaseNumber: number, History: disputes.Yes})
	require.NoError(t, err)
	require.Equal(t, disputes.Done, out.ResponseCode)
	require.Len(t, out.Cases, 1)
	require.EqualValues(t, 1, out.Count)
	require.Equal(t, disputes.No, out.More)
	return out.Cases[0]
}

func refused(t *testing.T, err error, reason string) {
	t.Helper()
	require.Equal(t, reason, wire.ReasonOf(err), "%v", err)
	want := disputes.Refused("", reason, "").Code
	require.Equal(t, want, wire.CodeOf(err), "%v", err)
}

// reasons is the table of the three rules of S1 2.3.
func (r *run) reasons(t *testing.T) {
	type set struct{ dispute, fraud, retrieval string }
	for _, c := range []struct {
		name             string
		claim            string
		scheme, operator set
		missing          bool   // DIS0004E
		reason, kind     string // of the case
	}{
		{"1: straight, no scheme code", disputes.No, set{}, set{}, true, "", ""},
		{"1: straight, an operator code alone", disputes.No, set{}, set{dispute: "D002"}, true, "", ""},
		{"1: straight, dispute code", disputes.No, set{dispute: "4853"}, set{dispute: "D002"}, false, "D002", disputes.ReasonDispute},
		{"1: straight, fraud code", disputes.No, set{fraud: "10.4"}, set{fraud: "F001"}, false, "F001", disputes.ReasonFraud},
		{"1: straight, retrieval code", disputes.No, set{retrieval: "6305"}, set{retrieval: "R001"}, false, "R001", disputes.ReasonRetrieval},
		{"1: straight, all scheme codes", disputes.No, set{"4853", "10.4", "6305"}, set{dispute: "D002"}, false, "D002", disputes.ReasonDispute},
		{"2: straight, no operator code", disputes.No, set{dispute: "4853"}, set{}, false, disputes.DefaultReason, disputes.ReasonDispute},
		{"2: straight, no operator code, fraud", disputes.No, set{fraud: "10.4"}, set{}, false, disputes.DefaultReason, disputes.ReasonDispute},
		{"3: not straight, no code", disputes.Yes, set{}, set{}, true, "", ""},
		{"3: not straight, a scheme code alone", disputes.Yes, set{dispute: "4853"}, set{}, true, "", ""},
		{"3: not straight, dispute code", disputes.Yes, set{}, set{dispute: "D002"}, false, "D002", disputes.ReasonDispute},
		{"3: not straight, fraud code", disputes.Yes, set{}, set{fraud: "F001"}, false, "F001", disputes.ReasonFraud},
		{"3: not straight, retrieval code and a scheme's", disputes.Yes, set{retrieval: "6305"}, set{retrieval: "R001"}, false, "R001", disputes.ReasonRetrieval},
		{"3: not straight, two codes", disputes.Yes, set{}, set{dispute: "D002", fraud: "F001"}, true, "", ""},
		{"3: not straight, three codes", disputes.Yes, set{}, set{"D002", "F001", "R001"}, true, "", ""},
		{"3: absent means not straight", "", set{dispute: "4853"}, set{}, true, "", ""},
		{"3: absent, one code", "", set{}, set{fraud: "F001"}, false, "F001", disputes.ReasonFraud},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := r.buy(t)
			req := r.request(t, p)
			req.ClaimValidationRequired = c.claim
			req.CardSchemeDisputeReasonCode, req.CardSchemeFraudReasonCode, req.CardSchemeRetrvRequestReasonCode = c.scheme.dispute, c.scheme.fraud, c.scheme.retrieval
			req.OperatorDisputeReasonCode, req.OperatorFraudReasonCode, req.OperatorRetrievalRequestReasonCode = c.operator.dispute, c.operator.fraud, c.operator.retrieval
			if c.missing {
				_, err := r.Service.Create(t.Context(), wire.NewKey(), req)
				refused(t, err, disputes.Missing)
				good := r.request(t, p)
				require.Empty(t, r.made(t, good).ErrorCode, "no dispute was created")
				return
			}
			one := r.read(t, r.made(t, req).CaseNumber)
			queue := disputes.Issuer
			if c.claim == disputes.No {
				queue = disputes.FirstLineOperator
			}
			require.Equal(t, queue.String(), one.Statuses[len(one.Statuses)-1].Status)
			var got disputes.Reason
			for _, reason := range one.Reasons {
				if reason.Operator != "" {
					require.Empty(t, got.Operator, "one operator code")
					got = reason
				}
			}
			require.Equal(t, c.reason, got.Operator)
			require.Equal(t, c.kind, got.Type)
			for kind, code := range map[string]string{disputes.ReasonDispute: c.scheme.dispute, disputes.ReasonFraud: c.scheme.fraud, disputes.ReasonRetrieval: c.scheme.retrieval} {
				have := ""
				for _, reason := range one.Reasons {
					if reason.Type == kind {
						have = reason.CardScheme
					}
				}
				require.Equal(t, code, have, kind)
			}
		})
	}
}

// codes is the table of S1 7; SystemError has its test where a service can be broken.
func (r *run) codes(t *testing.T) {
	type change func(*disputes.CreateRequest)
	for _, c := range []struct {
		name, code string
		change     change
	}{
		{"another day", disputes.NoMatch, func(q *disputes.CreateRequest) { q.TransactionDate = "2001-01-01" }},
		{"another amount", disputes.NoMatch, func(q *disputes.CreateRequest) { q.TransactionAmount = "19999" }},
		{"another currency", disputes.NoMatch, func(q *disputes.CreateRequest) { q.TransactionCurrency = "SEK" }},
		{"another card", disputes.NoMatch, func(q *disputes.CreateRequest) { q.CardNumber = r.seal(t, wire.NewPAN("6759649826438453")) }},
		{"an unknown reference", disputes.NoMatch, func(q *disputes.CreateRequest) { q.AcqReferenceData = "74000012345678901234567" }},
		{"an unknown payment", disputes.NoMatch, func(q *disputes.CreateRequest) { q.OperatorTransactionID = strings.Repeat("0", 32) }},
		{"no card", disputes.Missing, func(q *disputes.CreateRequest) { q.CardNumber = "" }},
		{"no day", disputes.Missing, func(q *disputes.CreateRequest) { q.TransactionDate = "" }},
		{"no amount", disputes.Missing, func(q *disputes.CreateRequest) { q.TransactionAmount = "" }},
		{"amount 0", disputes.Missing, func(q *disputes.CreateRequest) { q.TransactionAmount = "0" }},
		{"no dispute amount", disputes.BadAmount, func(q *disputes.CreateRequest) { q.DisputeAmount = "" }},
		{"dispute amount 0", disputes.BadAmount, func(q *disputes.CreateRequest) { q.DisputeAmount = "0" }},
		{"negative dispute amount", disputes.BadAmount, func(q *disputes.CreateRequest) { q.DisputeAmount = "-" + q.DisputeAmount }},
		{"dispute amount above the transaction's", disputes.BadAmount, func(q *disputes.CreateRequest) { q.DisputeAmount += "0" }},
		{"a fraction of a minor unit", disputes.BadAmount, func(q *disputes.CreateRequest) { q.DisputeAmount = "12.5" }},
		{"an exponent", disputes.BadAmount, func(q *disputes.CreateRequest) { q.DisputeAmount = "1e3" }},
		{"another dispute currency", disputes.BadAmount, func(q *disputes.CreateRequest) { q.DisputeCurrency = "SEK" }},
		{"30th of February", disputes.BadDate, func(q *disputes.CreateRequest) { q.TransactionDate = "2026-02-30" }},
		{"day first", disputes.BadDate, func(q *disputes.CreateRequest) { q.TransactionDate = "31-12-2026" }},
		{"date and time", disputes.BadDate, func(q *disputes.CreateRequest) { q.TransactionDate += "T00:00:00Z" }},
		{"expiry as on a card", disputes.BadDate, func(q *disputes.CreateRequest) { q.CardExpiryDate = "12/31" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := r.buy(t)
			req := r.request(t, p)
			c.change(&req)
			_, err := r.Service.Create(t.Context(), wire.NewKey(), req)
			refused(t, err, c.code)
			require.ErrorContains(t, err, disputes.Meaning(c.code))
			r.made(t, r.request(t, p)) // nothing was created
		})
	}
	t.Run("disputed already", func(t *testing.T) {
		p := r.buy(t)
		first := r.made(t, r.request(t, p))
		_, err := r.Service.Create(t.Context(), wire.NewKey(), r.request(t, p))
		refused(t, err, disputes.Exists)
		_, err = r.Service.Update(t.Context(), "", first.CaseNumber, disputes.UpdateRequest{CloseDispute: disputes.Yes})
		require.NoError(t, err)
		_, err = r.Service.Create(t.Context(), "", r.request(t, p))
		refused(t, err, disputes.Exists)
	})
	t.Run("more than one", func(t *testing.T) {
		r.last += 3
		older := r.Buy(t, 100_000+r.last)
		later := r.Buy(t, 100_000+r.last)
		out := r.made(t, r.request(t, later))
		require.Equal(t, disputes.ManyMatches, out.ErrorCode)
		require.Equal(t, disputes.Meaning(disputes.ManyMatches), out.ErrorText)
		require.Equal(t, disputes.Done, out.ResponseCode)
		found, err := r.Service.List(t.Context(), disputes.ListRequest{AdditionalSearchIndex: []disputes.Index{{Name: "providerTransactionID", Value: later.ID}}})
		require.NoError(t, err)
		require.Len(t, found.Cases, 1, "on the latest")
		require.Equal(t, out.CaseNumber, found.Cases[0].CaseNumber)
		req := r.request(t, older)
		req.OperatorTransactionID = older.ID
		out = r.made(t, req)
		require.Empty(t, out.ErrorCode, "an id leaves no doubt")
	})
	t.Run("list and queue", func(t *testing.T) {
		_, err := r.Service.List(t.Context(), disputes.ListRequest{})
		refused(t, err, disputes.Missing)
		_, err = r.Service.List(t.Context(), disputes.ListRequest{History: disputes.Yes, NextPageKey: "1"})
		refused(t, err, disputes.Missing)
		_, err = r.Service.List(t.Context(), disputes.ListRequest{CreatedDate: "2026-2-1"})
		refused(t, err, disputes.BadDate)
		_, err = r.Service.List(t.Context(), disputes.ListRequest{ModifiedDate: "today"})
		refused(t, err, disputes.BadDate)
		_, err = r.Service.Queue(t.Context(), disputes.QueueRequest{})
		refused(t, err, disputes.Missing)
		_, err = r.Service.Update(t.Context(), "", "500001", disputes.UpdateRequest{CloseDispute: disputes.No})
		refused(t, err, disputes.Missing)
	})
}

// search: every way to name the transaction leads to the same purchase.
func (r *run) search(t *testing.T) {
	for name, change := range map[string]func(*disputes.CreateRequest, Purchase){
		"card, day, amount":      func(*disputes.CreateRequest, Purchase) {},
		"amount with zeros":      func(q *disputes.CreateRequest, p Purchase) { q.TransactionAmount += ".00" },
		"payment":                func(q *disputes.CreateRequest, p Purchase) { q.CardNumber, q.OperatorTransactionID = "", p.ID },
		"payment as scheme's id": func(q *disputes.CreateRequest, p Purchase) { q.CardNumber, q.CardSchemeTransactionID = "", p.ID },
		"payment as reference":   func(q *disputes.CreateRequest, p Purchase) { q.CardNumber, q.AcqReferenceData = "", p.ID },
		"payment alone": func(q *disputes.CreateRequest, p Purchase) {
			q.CardNumber, q.TransactionDate, q.TransactionAmount, q.TransactionCurrency, q.OperatorTransactionID = "", "", "", "", p.ID
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := r.buy(t)
			req := r.request(t, p)
			change(&req, p)
			out := r.made(t, req)
			one := r.read(t, out.CaseNumber)
			require.Equal(t, amount(p.Amount), one.TransactionAmount)
			require.Equal(t, p.PAN.Masked(), one.MaskedCardNumber)
			_, err := r.Service.Create(t.Context(), "", r.request(t, p))
			refused(t, err, disputes.Exists)
		})
	}
}

func (r *run) groups(t *testing.T) {
	a, b := r.made(t, r.request(t, r.buy(t))), r.made(t, r.request(t, r.buy(t)))
	require.NotEqual(t, a.CaseNumber, b.CaseNumber)
	require.Equal(t, a.GroupNumber, b.GroupNumber, "one card, one day")
	out, err := r.Service.List(t.Context(), disputes.ListRequest{GroupNumber: a.GroupNumber, Limit: disputes.MaxPage})
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(out.Cases), 2)
	require.NotEmpty(t, out.GroupQueue)
	for _, c := range out.Cases {
		require.Equal(t, a.GroupNumber, c.GroupNumber)
		require.Equal(t, "OPEN", c.GroupStatus)
	}
}

// whole reads a case back in every way.
func (r *run) whole(t *testing.T) {
	p := r.buy(t)
	req := r.request(t, p)
	req.IssuerSuperCaseID = "super-of-" + p.ID
	out := r.made(t, req)
	require.Equal(t, disputes.Done, out.ResponseCode)
	require.Empty(t, out.Documents)
	require.Equal(t, req.IssuerSuperCaseID, out.IssuerSuperCaseID)
	require.Equal(t, "issuer-tx-1", out.IssuerTransactionID)
	one := r.read(t, out.CaseNumber)
	require.Equal(t, out.GroupNumber, one.GroupNumber)
	require.Equal(t, amount(p.Amount), one.DisputeAmount)
	require.Equal(t, p.Currency, one.DisputeCurrency)
	require.Equal(t, amount(p.Amount), one.SettlementAmount)
	require.Equal(t, p.Currency, one.TransactionCurrency)
	require.Equal(t, p.Date, one.TransactionDate)
	require.Equal(t, []disputes.Pair{{Name: "branch", Value: "12"}}, one.AdditionalData)
	require.Equal(t, disputes.Issuer.Name(), one.QueueName)
	require.NotEmpty(t, one.CardScheme)
	require.NotEmpty(t, one.MerchantName)
	require.NotEmpty(t, one.DueDate)
	require.Len(t, one.Statuses, 1)
	require.Equal(t, disputes.Issuer.String(), one.Statuses[0].Status)
	require.Equal(t, "the customer says no", one.Statuses[0].FreeText)
	require.NotEmpty(t, one.PanID)
	for name, q := range map[string]disputes.ListRequest{
		"number":      {CaseNumber: out.CaseNumber},
		"group":       {GroupNumber: out.GroupNumber},
		"card":        {CardNumber: r.seal(t, p.PAN)},
		"card id":     {CardID: one.PanID},
		"status":      {CaseStatus: disputes.Issuer.String()},
		"created":     {CreatedDate: one.CreatedDate},
		"modified":    {ModifiedDate: one.CreatedDate},
		"super case":  {AdditionalSearchIndex: []disputes.Index{{Name: "issuerSuperCaseID", Value: req.IssuerSuperCaseID}}},
		"purchase":    {AdditionalSearchIndex: []disputes.Index{{Name: "providerTransactionID", Value: p.ID}}},
		"all of it":   {CaseNumber: out.CaseNumber, CardID: one.PanID, GroupNumber: out.GroupNumber, CreatedDate: one.CreatedDate},
		"own data":    {AdditionalSearchIndex: []disputes.Index{{Name: "branch", Value: "12"}}},
		"issuer's id": {AdditionalSearchIndex: []disputes.Index{{Name: "issuerTransactionID", Value: "issuer-tx-1"}}},
		"handler":     {AdditionalSearchIndex: []disputes.Index{{Name: "caseHandlerID", Value: "handler-7"}}},
	} {
		require.True(t, r.has(t, q, out.CaseNumber), name)
	}
	for name, q := range map[string]disputes.ListRequest{
		"number": {CaseNumber: "1"}, "words for a number": {CaseNumber: "five"}, "group": {GroupNumber: "1"}, "card id": {CardID: "none"},
		"card": {CardNumber: r.seal(t, wire.NewPAN("6759649826438453"))}, "status": {CaseStatus: "NEW"}, "day": {CreatedDate: "2001-01-01"},
		"another's group": {CaseNumber: out.CaseNumber, GroupNumber: "1"},
		"index":           {AdditionalSearchIndex: []disputes.Index{{Name: "branch", Value: "14"}}},
		"unknown index":   {AdditionalSearchIndex: []disputes.Index{{Name: "none", Value: "12"}}},
	} {
		found, err := r.Service.List(t.Context(), q)
		require.NoError(t, err, name)
		require.Empty(t, found.Cases, name)
		require.Equal(t, disputes.Done, found.ResponseCode, name)
	}
}

// has pages through a list.
func (r *run) has(t *testing.T, q disputes.ListRequest, number string) bool {
	t.Helper()
	for {
		out, err := r.Service.List(t.Context(), q)
		require.NoError(t, err)
		for _, c := range out.Cases {
			if c.CaseNumber == number {
				return true
			}
		}
		if q.NextPageKey = out.NextPageKey; q.NextPageKey == "" {
			return false
		}
	}
}

func content(t *testing.T, b disputes.Binary) string {
	t.Helper()
	r, err := b.Open()
	require.NoError(t, err)
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.EqualValues(t, len(data), b.Size)
	return string(data)
}

func (r *run) idempotency(t *testing.T) {
	p, key := r.buy(t), wire.NewKey()
	first, err := r.Service.Create(t.Context(), key, r.request(t, p))
	require.NoError(t, err)
	again, err := r.Service.Create(t.Context(), key, r.request(t, p)) // the number is encrypted anew
	require.NoError(t, err)
	require.Equal(t, first, again)
	other := r.request(t, p)
	other.Notes += "!"
	_, err = r.Service.Create(t.Context(), key, other)
	require.Equal(t, wire.KeyReused, wire.CodeOf(err), "%v", err)
	_, err = r.Service.Create(t.Context(), "a b", r.request(t, p))
	require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
	t.Run("update", func(t *testing.T) {
		key := wire.NewKey()
		submit := disputes.UpdateRequest{SubmitDispute: disputes.Yes, Notes: "go"}
		for range 3 {
			out, err := r.Service.Update(t.Context(), key, first.CaseNumber, submit)
			require.NoError(t, err)
			require.Equal(t, disputes.Done, out.ResponseCode)
		}
		require.Len(t, r.read(t, first.CaseNumber).Statuses, 2, "one effect")
		submit.Notes = "stop"
		_, err := r.Service.Update(t.Context(), key, first.CaseNumber, submit)
		require.Equal(t, wire.KeyReused, wire.CodeOf(err), "%v", err)
	})
	t.Run("at once", func(t *testing.T) {
		req := r.request(t, r.buy(t))
		reasons := wiretest.AtOnce(func(int) string {
			_, err := r.Service.Create(t.Context(), wire.NewKey(), req)
			if err == nil {
				return "made"
			}
			return wire.ReasonOf(err)
		})
		require.Equal(t, map[string]int{"made": 1, disputes.Exists: 15}, reasons, "one purchase, one case")
	})
}

func (r *run) unknown(t *testing.T) {
	for _, id := range []string{string(wire.NewKey()), "-1", "0", "007", "1;2", "1 OR 1=1", "１", "a/b", "%2f", "ünï", "9223372036854775808"} {
		_, err := r.Service.Update(t.Context(), "", id, disputes.UpdateRequest{CloseDispute: disputes.Yes})
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "%q: %v", id, err)
		require.Empty(t, wire.ReasonOf(err))
		_, err = r.Service.Document(t.Context(), id, 0)
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "%q: %v", id, err)
	}
	for _, id := range []string{"", "..", "a\x00b", "a\nb", strings.Repeat("x", 300)} {
		_, err := r.Service.Update(t.Context(), "", id, disputes.UpdateRequest{CloseDispute: disputes.Yes})
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%q: %v", id, err)
		_, err = r.Service.Document(t.Context(), id, 0)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%q: %v", id, err)
	}
}
