package tokens_test

import (
	"testing"

	"posagent/schemes/tokens"
	"posagent/schemes/wire/wiretest"
)

func TestEveryFieldOfTheSpecification(t *testing.T) {
	types := map[string]any{
		"create": tokens.CreateRequest{}, "recurring": tokens.RecurringRequest{}, "created": tokens.Created{},
		"token": tokens.TokenReply{}, "fault": tokens.Fault{},
	}
	wiretest.Compared(t, tokens.Table().Infos(), types, nil)
	wiretest.Fields(t, "testdata/fields.txt", types,
		// ours: the specification knows no stored operation
		"created.operation", "created.operation.key", "created.operation.status", "created.operation.note")
}
