package payments_test

import (
	"strings"
	"testing"

	"posagent/schemes/payments"
	"posagent/schemes/wire/wiretest"
)

func TestEveryFieldOfTheSpecification(t *testing.T) {
	ours := []string{ // ids for readers, and the specification knows no stored operation
		"created.operation", "created.operation.key", "created.operation.status", "created.operation.note",
		"done.operation", "done.operation.key", "done.operation.status", "done.operation.note",
		"payment.operation", "payment.operation.key", "payment.operation.status", "payment.operation.note",
		"payment.paymentId", "payment.cancellations", "payment.cancellations[].amount", "payment.cancellations[].dateTime",
		"payment.cancellations[].description", "payment.cancellations[].transactionRef",
		"create.paymentMethodDetails.secret", // an older name
		"payment.authorizations[].transactionRef", "payment.captures[].transactionRef", "payment.refunds[].transactionRef",
	}
	for _, op := range []string{"capture", "refund"} { // the list has the item once
		for _, f := range strings.Fields("itemNumber title quantity unitPrice vatPercentage discountPercentage includesHandling includesShipping unitCode") {
			ours = append(ours, op+".basket[]."+f)
		}
	}
	types := map[string]any{
		"create": payments.CreateRequest{}, "authorize": payments.AuthorizeRequest{}, "cancel": payments.CancelRequest{},
		"capture": payments.CaptureRequest{}, "refund": payments.RefundRequest{},
		"created": payments.Created{}, "done": payments.Done{}, "payment": payments.Payment{},
	}
	wiretest.Fields(t, "testdata/fields.txt", types, ours...)
	wiretest.Compared(t, payments.Table().Infos(), types, nil)
}

// TestEveryFieldIsExercised: each name of the list stands in a request or response of a transcript that client and
// handler agree with.
func TestEveryFieldIsExercised(t *testing.T) {
	wiretest.Exercised(t, "testdata/fields.txt")
}
