package payments_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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
		"payment.authorizations[].transactionRef", "payment.captures[].transactionRef", "payment.refunds[].transactionRef",
	}
	for _, op := range []string{"capture", "refund"} { // the list has the item once
		for _, f := range strings.Fields("itemNumber title quantity unitPrice vatPercentage discountPercentage includesHandling includesShipping unitCode") {
			ours = append(ours, op+".basket[]."+f)
		}
	}
	wiretest.Fields(t, "testdata/fields.txt", map[string]any{
		"create": payments.CreateRequest{}, "authorize": payments.AuthorizeRequest{}, "cancel": payments.CancelRequest{},
		"capture": payments.CaptureRequest{}, "refund": payments.RefundRequest{},
		"created": payments.Created{}, "done": payments.Done{}, "payment": payments.Payment{},
	}, ours...)
}

// TestEveryFieldIsExercised: each name of the list stands in a request or response of a transcript that client and
// handler agree with.
func TestEveryFieldIsExercised(t *testing.T) {
	list, err := os.ReadFile("testdata/fields.txt")
	require.NoError(t, err)
	files, err := os.ReadDir("testdata/both")
	require.NoError(t, err)
	var all strings.Builder
	for _, f := range files {
		data, err := os.ReadFile("testdata/both/" + f.Name())
		require.NoError(t, err)
		_, wired, ok := strings.Cut(string(data), "-- request --")
		require.True(t, ok)
		wired, _, ok = strings.Cut(wired, "-- result --")
		require.True(t, ok)
		all.WriteString(wired)
	}
	for line := range strings.Lines(string(list)) {
		if path, _, ok := strings.Cut(line, " "); ok && path[0] != '#' {
			name := path[strings.LastIndexAny(path, ".")+1:]
			require.Contains(t, all.String(), `"`+name+`":`, path)
		}
	}
}
