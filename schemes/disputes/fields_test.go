package disputes_test

import (
	"testing"

	"posagent/schemes/disputes"
	"posagent/schemes/wire/wiretest"
)

func TestEveryFieldOfTheSpecification(t *testing.T) {
	types := map[string]any{
		"create": disputes.CreateRequest{}, "created": disputes.CreateReply{}, "list": disputes.ListRequest{}, "listed": disputes.ListReply{},
		"queue": disputes.QueueRequest{}, "queued": disputes.QueueReply{}, "update": disputes.UpdateRequest{}, "updated": disputes.UpdateReply{},
		"download": disputes.Download{},
	}
	wiretest.Compared(t, disputes.Table().Infos(), types, map[string]string{"disputes.File": "it stands in a disputes.Download on the wire"})
	wiretest.Fields(t, "testdata/fields.txt", types, "download.inputStream.encoding", "download.inputStream.length", "download.inputStream.content") // ours: no structure is shown
}

// TestEveryFieldIsExercised: each name of the list stands in a request or response of a transcript that client and
// handler agree with.
func TestEveryFieldIsExercised(t *testing.T) {
	wiretest.Exercised(t, "testdata/fields.txt")
}
