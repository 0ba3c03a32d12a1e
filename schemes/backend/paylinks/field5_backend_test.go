package paylinks_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
)

// TestField5_AnAttachmentThatWasSweptIsNotTaken is the sister of the documents of a case (schemes/backend/disputes): a link whose contract
// was swept away by a clock that jumped is not made.
func TestField5_AnAttachmentThatWasSweptIsNotTaken(t *testing.T) {
	w := newWorld(t)
	req, jumps := w.request(1250), true
	file := func(text string, jump bool) paylinks.Attachment {
		return paylinks.Attachment{Name: text, ContentType: "text/plain", Size: int64(len(text)), Open: func() (io.ReadCloser, error) {
			if jump && jumps {
				w.Pass(2 * time.Hour)
			}
			return io.NopCloser(strings.NewReader(text)), nil
		}}
	}
	req.Attachments = []paylinks.Attachment{file("first", false), file("second", true)}
	key := wire.NewKey()
	_, err := w.Create(t.Context(), key, req)
	require.Equal(t, wire.Unavailable, wire.CodeOf(err), "%v", err)
	jumps = false
	_, err = w.Create(t.Context(), key, req)
	require.NoError(t, err)
}
