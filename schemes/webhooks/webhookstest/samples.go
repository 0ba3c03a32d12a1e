package webhookstest

import (
	"time"

	"posagent/schemes/webhooks"
)

// At is when the samples happened.
func At() time.Time {
	return time.Date(2021, 5, 4, 22, 44, 10, 118_500_000, time.FixedZone("", 2*60*60))
}

// Samples gives one event of each name, in the specification's order, with every field that the event has.
func Samples() []webhooks.Event {
	amount := func() *webhooks.Amount { return &webhooks.Amount{Amount: 5500, Currency: "SEK"} }
	items := webhooks.OrderItems{{
		Reference: "Sneaky NE2816-82", Name: "Sneaky", Quantity: 2, Unit: "pcs", UnitPrice: 2500, TaxRate: 1000, TaxAmount: 500,
		NetTotalAmount: 5000, GrossTotalAmount: 5500,
	}}
	failure := &webhooks.Error{Message: "Error occurred", Code: "911", Source: "Internal"}
	order := &webhooks.Order{Amount: *amount(), Reference: "42369", OrderItems: items}
	consumer := &webhooks.Consumer{Country: "SWE", Email: "john.doe@example.com", IP: "192.0.2.7"}
	address := &webhooks.Address{AddressLine1: "Solgatan 4", AddressLine2: "c/o Doe", City: "Stockholm", Country: "SWE", Postcode: "11522", ReceiverLine: "John Doe"}
	person := &webhooks.Consumer{
		FirstName: "John", LastName: "Doe", Country: "SWE", Email: "john.doe@example.com", IP: "192.0.2.7",
		PhoneNumber: &webhooks.PhoneNumber{Prefix: "+46", Number: "12345678"}, BillingAddress: address, ShippingAddress: address,
		MerchantReference: "1234567890",
	}
	invoice := &webhooks.InvoiceDetails{
		DistributionType: "Email", InvoiceDueDate: "2021-06-04", InvoiceNumber: "800328091",
		AccountNumber: "1234567890", OCROrKID: "0081800328091", OurReference: "ours", YourReference: "yours",
	}
	const (
		payment = "025400006091b1ef6937598058c4e487"
		charge  = "01ee00006091b2196937598058c4e488"
		refund  = "00be00006091b2f96937598058c4e489"
		cancel  = "df0c00006091b2f96937598058c4e48a"
		recon   = "MRJhJvEDCx1y7uWlKfb6O3z78"
	)
	data := []struct {
		name webhooks.Name
		data any
	}{
		{webhooks.PaymentCreated, &webhooks.Checkout{PaymentID: payment, Order: order, MyReference: "mine", SubscriptionID: "b015690c89d141f7b98b99dee769be62"}},
		{webhooks.ReservationCreated, &webhooks.Reservation{
			CardDetails: &webhooks.CardDetails{
				CreditDebitIndicator: "D", ExpiryMonth: "01", ExpiryYear: "24", IssuerCountry: "NO", TruncatedPan: "492500******0004",
				ThreeDSecure: &webhooks.ThreeDSecure{AcsURL: "https://acs.example", AuthenticationEnrollmentStatus: "Y", AuthenticationStatus: "Y", ECI: "05"},
			},
			PaymentMethod: "Visa", PaymentType: webhooks.TypeCard, Consumer: consumer, ReservationReference: "683884",
			ReserveID: "6f2c00006091b2196937598058c4e486", Amount: amount(), PaymentID: payment, MyReference: "mine", ReconciliationReference: recon,
		}},
		{webhooks.ReservationCreatedV2, &webhooks.Reservation{
			PaymentMethod: "Visa", PaymentType: webhooks.TypeCard, Amount: amount(), PaymentID: payment, MyReference: "mine",
			SubscriptionID: "b015690c89d141f7b98b99dee769be62", ReconciliationReference: recon,
		}},
		{webhooks.ReservationFailed, &webhooks.Movement{PaymentID: payment, Error: failure, OrderItems: &items, Amount: amount()}},
		{webhooks.CheckoutCompleted, &webhooks.Checkout{PaymentID: payment, Order: order, Consumer: person}},
		{webhooks.ChargeCreated, &webhooks.Movement{
			PaymentID: payment, SubscriptionID: "b015690c89d141f7b98b99dee769be62", ChargeID: charge, OrderItems: &items, PaymentMethod: "Visa",
			PaymentType: webhooks.TypeCard, Amount: amount(), ReconciliationReference: recon,
		}},
		{webhooks.ChargeFailed, &webhooks.Movement{
			PaymentID: payment, Error: failure, ChargeID: charge, OrderItems: &items, ReservationID: "6f2c0000-6091-b219-6937-598058c4e486",
			Amount: amount(), ReconciliationReference: recon,
		}},
		{webhooks.RefundInitiated, &webhooks.Movement{
			PaymentID: payment, RefundID: refund, ChargeID: charge, OrderItems: &items, Amount: amount(), ReconciliationReference: recon,
			Executed: webhooks.FormatTime(At()), PaymentActionID: refund,
		}},
		{webhooks.RefundCompleted, &webhooks.Movement{PaymentID: payment, RefundID: refund, Amount: amount(), InvoiceDetails: invoice}},
		{webhooks.RefundFailed, &webhooks.Movement{
			PaymentID: payment, RefundID: refund, Error: failure, Amount: amount(), ReconciliationReference: recon, InvoiceDetails: invoice,
		}},
		{webhooks.CancelCreated, &webhooks.Movement{PaymentID: payment, CancelID: cancel, OrderItems: &items, Amount: amount()}},
		{webhooks.CancelFailed, &webhooks.Movement{PaymentID: payment, Error: failure, CancelID: cancel, OrderItems: &items, Amount: amount(), MyReference: "mine"}},
		{webhooks.OnboardingInitiated, &webhooks.Onboarding{OnboardingID: 4711, Status: webhooks.StatusInitiated}},
		{webhooks.OnboardingAwaitingSignature, &webhooks.Onboarding{OnboardingID: 4711, Status: webhooks.StatusAwaitingSignature}},
		{webhooks.OnboardingSignatureFailed, &webhooks.Onboarding{OnboardingID: 4711, Status: webhooks.StatusSignatureFailed, Reason: "expired"}},
		{webhooks.OnboardingProcessing, &webhooks.Onboarding{OnboardingID: 4711, Status: webhooks.StatusProcessing}},
		{webhooks.OnboardingApproved, &webhooks.Onboarding{OnboardingID: 4711, Status: webhooks.StatusApproved}},
		{webhooks.OnboardingAbandoned, &webhooks.Onboarding{OnboardingID: 4711, Status: webhooks.StatusAbandoned}},
	}
	list := make([]webhooks.Event, 0, len(data))
	for _, d := range data {
		e := webhooks.Event{ID: webhooks.NewID(), MerchantNumber: 100017120, Time: At(), Name: d.name, Data: d.data}
		if _, ok := d.data.(*webhooks.Onboarding); ok {
			e.MerchantUUID = "00000000-0000-4000-8000-000000000001"
		}
		list = append(list, e)
	}
	return list
}
