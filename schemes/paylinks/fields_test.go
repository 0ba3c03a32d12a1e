package paylinks_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/paylinks"
	"posagent/schemes/wire/wiretest"
)

// parameters of queries and paths have no Go type of their own; the names are the wire's (S1 4.1).
type parameters struct {
	ID           int32  `json:"id"`
	Instance     string `json:"instance"`
	ApiSignature string `json:"ApiSignature"`
	After        string `json:"filterDatetimeUtcGreaterThan"`
	Before       string `json:"filterDatetimeUtcLessThan"`
	Offset       int32  `json:"offset"`
	Limit        int32  `json:"limit"`
}

// ours: what real clients send and read besides, what stands for a file, and the mark of a stored operation.
var ours = [...]string{
	"create.subscriptionPeriodMinAmount", "create.fields{}.active", "create.fields{}.names", "create.fields{}.names.de", "create.fields{}.names.en",
	"create.fields{}.names.fr", "create.fields{}.names.it", "create.attachments[].name", "create.attachments[].contentType",
	"create.attachments[].size", "create.attachments[].sha256",
	"transaction.invoice.paymentRequestId", "transaction.invoice.paymentLink", "transaction.invoice.paymentLink.hash",
	"transaction.invoice.paymentLink.referenceId", "transaction.invoice.paymentLink.email", "transaction.invoice.originalAmount", "transaction.invoice.refundedAmount",
	"deleted.operation", "deleted.operation.key", "deleted.operation.status", "deleted.operation.note", "done.operation", "done.operation.key", "done.operation.status", "done.operation.note",
	// the specification calls the items of a link related, and shows none
	"link.invoices[].number", "link.invoices[].referenceId", "link.invoices[].paymentRequestId", "link.invoices[].amount", "link.invoices[].currency",
	"link.invoices[].transactions",
}

func TestEveryFieldOfTheSpecification(t *testing.T) {
	data, err := os.ReadFile("testdata/fields.txt")
	require.NoError(t, err)
	besides := ours[:]
	for _, line := range append(strings.Split(string(data), "\n"), ours[:]...) {
		if rest, ok := strings.CutPrefix(line, "transaction."); ok {
			name, _, _ := strings.Cut(rest, " ")
			besides = append(besides, "link.invoices[].transactions[]."+name)
		}
	}
	types := map[string]any{
		"parameters": parameters{}, "create": paylinks.CreateRequest{}, "charge": paylinks.ChargeRequest{}, "refund": paylinks.RefundRequest{},
		"link": paylinks.Link{}, "deleted": paylinks.Deleted{}, "done": paylinks.Done{}, "transaction": paylinks.Transaction{},
	}
	wiretest.Fields(t, "testdata/fields.txt", types, besides...)
	wiretest.Compared(t, paylinks.Table().Infos(), types, map[string]string{
		"paylinks.Created": "a link, and the mark of a stored operation", "paylinks.Filter": "parameters stand for it",
		"paylinks.idRecord": "the id of a test of signatures, which no table of the specification shows",
	})
}
