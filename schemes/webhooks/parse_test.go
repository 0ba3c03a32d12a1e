package webhooks_test

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"posagent/schemes/webhooks"
	"posagent/schemes/webhooks/webhookstest"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

func TestTheListIsClosed(t *testing.T) {
	require.Len(t, webhooks.Names(), 18)
	require.Len(t, webhookstest.Samples(), 18)
	for i, e := range webhookstest.Samples() {
		require.Equal(t, webhooks.Names()[i], e.Name)
		require.True(t, webhooks.Known(string(e.Name)))
	}
	for _, name := range []string{"", "payment", "payment.charge.created", "payment.refund.initiated", "Payment.created", "onboarding.initated"} {
		require.False(t, webhooks.Known(name), name)
	}
}

// A receiver that takes exactly the keys it knows understands all twelve payment events, with every optional field set and
// with none.
func TestAStrictReceiverUnderstandsEveryPaymentEvent(t *testing.T) {
	n := 0
	for _, e := range webhookstest.Samples()[:12] {
		body, err := webhooks.Marshal(e)
		require.NoError(t, err, e.Name)
		require.NoError(t, webhookstest.Strict(body), "%s", body)
		n++
	}
	require.Equal(t, 12, n)
	sent := 0
	for _, tr := range wiretest.Load(t, "testdata/both") {
		if !strings.HasPrefix(tr.Name, "payment.") {
			continue
		}
		sent++
		_, rest, _ := strings.Cut(tr.Text(), "charset=utf-8\n\n")
		body, _, _ := strings.Cut(rest, "\n")
		require.NoError(t, webhookstest.Strict([]byte(body)), tr.Name)
	}
	require.Equal(t, 12, sent)
}

// Nothing that a receiver reads is left out for being zero or empty.
func TestAStrictReceiverUnderstandsTheLeast(t *testing.T) {
	for _, e := range webhookstest.Samples()[:12] {
		least := webhooks.OrderItems{{}}
		switch d := e.Data.(type) {
		case *webhooks.Checkout:
			d.Order = &webhooks.Order{OrderItems: least}
			d.MyReference, d.SubscriptionID = "", ""
			if d.Consumer != nil {
				d.Consumer = &webhooks.Consumer{}
			}
		case *webhooks.Reservation:
			d.Amount, d.MyReference, d.ReconciliationReference, d.SubscriptionID = &webhooks.Amount{}, "", "", ""
			if d.Consumer != nil {
				d.Consumer, d.CardDetails = &webhooks.Consumer{}, &webhooks.CardDetails{ThreeDSecure: &webhooks.ThreeDSecure{}}
			}
		case *webhooks.Movement:
			d.Amount, d.MyReference, d.ReservationID, d.SubscriptionID = &webhooks.Amount{}, "", "", ""
			if d.Error != nil {
				d.Error = &webhooks.Error{}
			}
			if d.InvoiceDetails != nil {
				d.InvoiceDetails = &webhooks.InvoiceDetails{}
			}
			d.OrderItems = nil
			if e.Name == webhooks.ChargeCreated {
				d.OrderItems = &least
			}
		}
		body, err := webhooks.Marshal(e)
		require.NoError(t, err, e.Name)
		require.NoError(t, webhookstest.Strict(body), "%s", body)
		if e.Name == webhooks.ReservationCreated {
			e.Data.(*webhooks.Reservation).CardDetails.ThreeDSecure = nil
			body, err := webhooks.Marshal(e)
			require.NoError(t, err)
			require.NoError(t, webhookstest.Strict(body), "without 3-D Secure: %s", body)
		}
	}
}

func TestTheStrictReceiverIsStrict(t *testing.T) {
	for i, cut := range []struct{ old, new string }{
		{`"order":`, `"o":`}, {`"acsUrl":"https://acs.example",`, ``}, {`"merchantNumber":`, `"merchantId":`}, {`"orderItems":`, `"items":`},
		{`"email":`, `"mail":`}, {`"taxRate":1000,`, ``}, {`"reconciliationReference":`, `"r":`}, {`"executed":`, `"at":`}, {`"currency":"SEK"`, `"currency":"SEK","x":1`},
		{`"source":"Internal"`, `"source":null`}, {`"cancelId":`, `"id":`}, {`"unit":`, `"vat":1,"unit":`},
	} {
		body, err := webhooks.Marshal(webhookstest.Samples()[i])
		require.NoError(t, err)
		broken := strings.Replace(string(body), cut.old, cut.new, 1)
		require.NotEqual(t, string(body), broken, i)
		require.Error(t, webhookstest.Strict([]byte(broken)), broken)
	}
}

func TestMarshalRefusesWhatReceiversMiss(t *testing.T) {
	sample := func(i int) webhooks.Event { return webhookstest.Samples()[i] }
	movement := func(i int, change func(*webhooks.Movement)) webhooks.Event {
		e := sample(i)
		change(e.Data.(*webhooks.Movement))
		return e
	}
	with := func(i int, change func(*webhooks.Event)) webhooks.Event {
		e := sample(i)
		change(&e)
		return e
	}
	for name, e := range map[string]webhooks.Event{
		"nothing":                {},
		"no id":                  with(0, func(e *webhooks.Event) { e.ID = "" }),
		"no time":                with(0, func(e *webhooks.Event) { e.Time = time.Time{} }),
		"no merchant":            with(0, func(e *webhooks.Event) { e.MerchantNumber = 0 }),
		"no merchant UUID":       with(12, func(e *webhooks.Event) { e.MerchantUUID = "" }),
		"unknown name":           with(0, func(e *webhooks.Event) { e.Name = "payment.charge.created" }),
		"no data":                with(0, func(e *webhooks.Event) { e.Data = nil }),
		"nil data":               with(0, func(e *webhooks.Event) { e.Data = (*webhooks.Checkout)(nil) }),
		"other data":             with(0, func(e *webhooks.Event) { e.Data = sample(3).Data }),
		"data by value":          with(0, func(e *webhooks.Event) { e.Data = webhooks.Checkout{} }),
		"no consumer":            with(4, func(e *webhooks.Event) { e.Data.(*webhooks.Checkout).Consumer = nil }),
		"no order":               with(0, func(e *webhooks.Event) { e.Data.(*webhooks.Checkout).Order = nil }),
		"reservation's consumer": with(1, func(e *webhooks.Event) { e.Data.(*webhooks.Reservation).Consumer = nil }),
		"payment type":           with(2, func(e *webhooks.Event) { e.Data.(*webhooks.Reservation).PaymentType = "card" }),
		"charge without lines":   movement(5, func(m *webhooks.Movement) { m.OrderItems = nil }),
		"charge without id":      movement(5, func(m *webhooks.Movement) { m.ChargeID = "" }),
		"no error":               movement(3, func(m *webhooks.Movement) { m.Error = nil }),
		"no amount":              movement(3, func(m *webhooks.Movement) { m.Amount = nil }),
		"no reconciliation":      movement(6, func(m *webhooks.Movement) { m.ReconciliationReference = "" }),
		"refund not executed":    movement(7, func(m *webhooks.Movement) { m.Executed = "" }),
		"other status":           with(12, func(e *webhooks.Event) { e.Data.(*webhooks.Onboarding).Status = webhooks.StatusApproved }),
		"failed for no reason":   with(14, func(e *webhooks.Event) { e.Data.(*webhooks.Onboarding).Reason = "" }),
		"reason of nothing":      with(12, func(e *webhooks.Event) { e.Data.(*webhooks.Onboarding).Reason = "failed" }),
		"not a number": with(0, func(e *webhooks.Event) {
			e.Data.(*webhooks.Checkout).Order.OrderItems[0].Quantity = math.NaN()
		}),
	} {
		_, err := webhooks.Marshal(e)
		require.Error(t, err, name)
	}
}

func TestIDsAndTimesLookLikeTheServices(t *testing.T) {
	require.Regexp(t, regexp.MustCompile(`^[0-9a-f]{32}$`), webhooks.NewID())
	require.NotEqual(t, webhooks.NewID(), webhooks.NewID())
	require.Equal(t, "2021-05-04T22:44:10.1185+02:00", webhooks.FormatTime(webhookstest.At()))
	require.Equal(t, "2021-05-04T20:44:10.1185+00:00", webhooks.FormatTime(webhookstest.At().UTC()))
}

// S0 6.5: delivered names deviate from the table.
func TestMisspeltOnboardingNamesAreKnownByTheirStatus(t *testing.T) {
	for sent, want := range map[string]webhooks.Name{
		"onboarding.initated":                        webhooks.OnboardingInitiated,
		"onboarding.intiated":                        webhooks.OnboardingInitiated,
		"onboarding.Initiated":                       webhooks.OnboardingInitiated,
		"Onboarding.initiated":                       webhooks.OnboardingInitiated,
		"onboarding.SIGNATURE_FAILED":                webhooks.OnboardingSignatureFailed,
		"onboarding.signature_failed (expired)":      webhooks.OnboardingSignatureFailed,
		"onboarding.status SIGNATURE_FAILED expired": webhooks.OnboardingSignatureFailed,
	} {
		for _, e := range webhookstest.Samples() {
			if e.Name != want {
				continue
			}
			body, err := webhooks.Marshal(e)
			require.NoError(t, err)
			got, err := webhooks.Parse([]byte(strings.Replace(string(body), string(want), sent, 1)))
			require.NoError(t, err, sent)
			require.Equal(t, want, got.Name, sent)
			require.Equal(t, e.Data, got.Data)
		}
	}
}

func TestUnknownEventsAreHandedOn(t *testing.T) {
	for _, body := range []string{
		`{"id":"1","timestamp":"2026-11-21T00:00:00Z","event":"payment.reversed","data":{"x":1}}`,
		`{"id":"1","merchantId":5,"timestamp":"2026-11-21T00:00:00Z","event":"payment.reversed","data":{"x":1}}`,
		`{"id":"1","merchantId":"u","timestamp":"2026-11-21T00:00:00Z","event":"onboarding.x","data":{"status":"OTHER"}}`,
	} {
		e, err := webhooks.Parse([]byte(body))
		require.NoError(t, err, body)
		require.IsType(t, json.RawMessage{}, e.Data)
		require.False(t, webhooks.Known(string(e.Name)))
		_, err = webhooks.Marshal(e)
		require.Error(t, err, "and never sent")
	}
}

// Either name of the merchant number is read.
func TestTheMerchantUnderEitherName(t *testing.T) {
	for _, e := range webhookstest.Samples()[:12] {
		body, err := webhooks.Marshal(e)
		require.NoError(t, err)
		for _, name := range []string{"merchantId", "merchantNumber"} {
			text := regexp.MustCompile(`"merchant(Id|Number)":100017120,`).ReplaceAllString(string(body), "")
			got, err := webhooks.Parse([]byte(strings.Replace(text, `"timestamp"`, `"`+name+`":7,"timestamp"`, 1)))
			require.NoError(t, err)
			require.EqualValues(t, 7, got.MerchantNumber)
		}
	}
}

// A service that has no number for one of the names writes 0 there.
func TestANumberOfZeroSaysNothing(t *testing.T) {
	for _, text := range []string{`"merchantId":5,"merchantNumber":0`, `"merchantId":0,"merchantNumber":5`} {
		e, err := webhooks.Parse([]byte(`{"id":"1",` + text + `,"timestamp":"2026-11-21T00:00:00Z","event":"payment.reversed","data":{"x":1}}`))
		require.NoError(t, err, text)
		require.EqualValues(t, 5, e.MerchantNumber, text)
	}
	_, err := webhooks.Parse([]byte(`{"id":"1","merchantId":4,"merchantNumber":5,"timestamp":"2026-11-21T00:00:00Z","event":"payment.reversed","data":{"x":1}}`))
	require.Equal(t, wire.Invalid, wire.CodeOf(err))
}

func TestCodesSurviveTheWire(t *testing.T) {
	for _, code := range wire.Codes() {
		h := webhooks.Handler(refusing{&wire.Error{Code: code, Msg: "because"}}, webhooks.HandlerOptions{})
		err := (&webhooks.Client{URL: "http://receiver.test/", Doer: wiretest.Direct(h)}).Receive(t.Context(), webhookstest.Samples()[0])
		require.Equal(t, code, wire.CodeOf(err))
	}
}

// No error text carries what was sent.
func TestErrorsTellNothingOfTheEvent(t *testing.T) {
	body, err := webhooks.Marshal(webhookstest.Samples()[4])
	require.NoError(t, err)
	for name, bad := range webhookstest.Broken(string(body)) {
		if _, err := webhooks.Parse([]byte(bad)); err != nil {
			for _, s := range []string{"john", "Doe", "Solgatan", "Sneaky", "12345678"} {
				require.NotContains(t, err.Error(), s, name)
			}
		}
	}
}

func TestEveryEventRoundTrips(t *testing.T) {
	samples := webhookstest.Samples()
	rapid.Check(t, func(t *rapid.T) {
		e := samples[rapid.IntRange(0, 17).Draw(t, "event")]
		e.ID = rapid.StringMatching(`[0-9a-f]{32}`).Draw(t, "id")
		e.MerchantNumber = rapid.Int64Range(1, math.MaxInt64).Draw(t, "merchant")
		e.Time = time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "time")).UTC()
		if m, ok := e.Data.(*webhooks.Movement); ok {
			c := *m
			c.Amount = &webhooks.Amount{Amount: rapid.Int32().Draw(t, "amount"), Currency: "EUR"}
			c.PaymentID = rapid.String().Draw(t, "payment")
			if !strings.ContainsRune(c.PaymentID, '\uFFFD') {
				e.Data = &c
			}
		}
		body, err := webhooks.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		got, err := webhooks.Parse(body)
		if err != nil {
			t.Fatal(err)
		}
		again, err := webhooks.Marshal(got)
		if err != nil || string(again) != string(body) || !got.Time.Equal(e.Time) || got.ID != e.ID || fmt.Sprint(got.MerchantNumber) != fmt.Sprint(e.MerchantNumber) {
			t.Fatalf("%v\n%s\n%s", err, body, again)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, e := range webhookstest.Samples() {
		body, err := webhooks.Marshal(e)
		require.NoError(f, err)
		f.Add(body)
	}
	f.Add([]byte(`{"id":"1","timestamp":"2026-11-21T00:00:00Z","event":"onboarding.initated","merchantId":"u","data":{"onboardingId":1,"status":"initiated"}}`))
	f.Add([]byte(`{"id":"1","timestamp":"2026-11-21T00:00:00Z","event":"x","data":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := webhooks.Parse(data)
		if err != nil {
			require.NotEmpty(t, wire.CodeOf(err))
			return
		}
		require.NotEmpty(t, e.ID)
		require.NotEmpty(t, e.Name)
		require.NotNil(t, e.Data)
		require.False(t, e.Time.IsZero() && e.Time.Year() != 1)
		body, err := webhooks.Marshal(e)
		if err != nil {
			return // less than a receiver needs
		}
		again, err := webhooks.Parse(body)
		require.NoError(t, err)
		body2, err := webhooks.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(body), string(body2))
	})
}
