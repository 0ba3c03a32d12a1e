package webhooks

import (
	"testing"

	"posagent/schemes/wire/wiretest"
)

func TestEveryFieldOfTheSpecification(t *testing.T) {
	ours := []string{
		// what receivers in the field demand or know besides
		"checkout.myReference", "checkout.subscriptionId", "checkout.consumer.merchantReference",
		"reservation.myReference", "reservation.subscriptionId", "reservation.reconciliationReference",
		"movement.reconciliationReference", "movement.executed", "movement.paymentActionId", "movement.myReference",
		"movement.invoiceDetails.accountNumber", "movement.invoiceDetails.ocrOrkid", "movement.invoiceDetails.ourReference",
		"movement.invoiceDetails.yourReference",
		// the consumer's type is shared with checkout.completed
		"reservation.consumer.firstName", "reservation.consumer.lastName", "reservation.consumer.merchantReference",
		"reservation.consumer.phoneNumber", "reservation.consumer.phoneNumber.prefix", "reservation.consumer.phoneNumber.number",
	}
	for _, which := range []string{"billingAddress", "shippingAddress"} {
		at := "reservation.consumer." + which
		ours = append(ours, at)
		for _, name := range []string{"addressLine1", "addressLine2", "city", "country", "postcode", "receiverLine"} {
			ours = append(ours, at+"."+name)
		}
	}
	wiretest.Fields(t, "testdata/fields.txt", map[string]any{
		"envelope": envelope{}, "checkout": Checkout{}, "reservation": Reservation{}, "movement": Movement{}, "onboarding": Onboarding{},
	}, ours...)
}
