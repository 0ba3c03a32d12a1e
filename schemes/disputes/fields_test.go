package disputes_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/disputes"
	"posagent/schemes/wire/wiretest"
)

func TestEveryFieldOfTheSpecification(t *testing.T) {
	wiretest.Fields(t, "testdata/fields.txt", map[string]any{
		"create": disputes.CreateRequest{}, "created": disputes.CreateReply{}, "list": disputes.ListRequest{}, "listed": disputes.ListReply{},
		"queue": disputes.QueueRequest{}, "queued": disputes.QueueReply{}, "update": disputes.UpdateRequest{}, "updated": disputes.UpdateReply{},
		"download": disputes.Download{},
	}, "download.inputStream.encoding", "download.inputStream.length", "download.inputStream.content") // ours: no structure is shown
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
	fields := 0
	for line := range strings.Lines(string(list)) {
		if path, _, ok := strings.Cut(line, " "); ok && path[0] != '#' {
			fields++
			require.Contains(t, all.String(), `"`+path[strings.LastIndex(path, ".")+1:]+`":`, path)
		}
	}
	t.Logf("%d of %d fields are exercised: 100 %%", fields, fields)
}
