package hosted_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/hosted"
	"posagent/schemes/wire/wiretest"
)

// What has no exported type of its own.
type (
	sessionCall struct {
		SessionID string `json:"sessionId"`
	}
	additional struct {
		AuthorizationCode       string `json:"authorizationCode"`
		CardCountry             string `json:"cardCountry"`
		ThreeDS                 string `json:"threeDS"`
		SchemaTID               string `json:"schemaTID"`
		MultiCurrencyConversion struct {
			Amount       string `json:"amount"`
			Currency     string `json:"currency"`
			ExchangeRate string `json:"exchangeRate"`
		} `json:"multiCurrencyConversion"`
	}
	errorList struct {
		Errors []struct {
			Code        string `json:"code"`
			Description string `json:"description"`
		} `json:"errors"`
	}
)

func TestEveryFieldOfTheSpecification(t *testing.T) {
	data, err := os.ReadFile("testdata/fields.txt")
	require.NoError(t, err)
	ours := []string{ // what real clients and services send besides
		"build.version", "build.order.invoiceId", "build.paymentSession.paymentService", "built.state", "built.url", "state.fieldSet.state", "state.fieldSet.url",
	}
	for line := range strings.Lines(string(data)) { // the list has what is shared once
		name, _, _ := strings.Cut(line, " ")
		if rest, ok := strings.CutPrefix(name, "operation."); ok {
			ours = append(ours, "state.operation."+rest, "notice.operation."+rest)
		}
	}
	types := map[string]any{
		"build": hosted.BuildRequest{}, "customerInfo": hosted.CustomerInfo{}, "operation": hosted.Operation{}, "additionalData": additional{},
		"built": hosted.Built{}, "call": sessionCall{}, "state": hosted.SessionState{}, "notice": hosted.Notice{}, "error": errorList{},
	}
	wiretest.Fields(t, "testdata/fields.txt", types, ours...)
	const none = "no table of the specification shows it"
	wiretest.Compared(t, slices.Concat(hosted.SessionsTable().Infos(), hosted.OrdersTable().Infos()), types, map[string]string{
		"hosted.sessionCall": "call stands for it", "hosted.CardData": none, "hosted.Report": none, "hosted.ofOperation": none, "hosted.Posted": none, "hosted.MethodList": none,
	})
}

// TestEveryFieldIsExercised: each name of the list stands in a request or response of a transcript that client and
// handler agree with, or in the notification that notice_test.go writes and reads.
func TestEveryFieldIsExercised(t *testing.T) {
	wiretest.Exercised(t, "testdata/fields.txt", notification)
}
