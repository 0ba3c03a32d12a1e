package tokens_test

import (
	"testing"

	"posagent/schemes/tokens"
	"posagent/schemes/wire/wiretest"
)

func TestEveryFieldOfTheSpecification(t *testing.T) {
	wiretest.Fields(t, "testdata/fields.txt",
		map[string]any{
			"create": tokens.CreateRequest{}, "recurring": tokens.RecurringRequest{}, "created": tokens.Created{},
			"token": tokens.TokenReply{}, "fault": tokens.Fault{},
		},
		// ours: the specification knows no stored operation
		"created.operation", "created.operation.key", "created.operation.status", "created.operation.note")
}
