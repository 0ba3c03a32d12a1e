package disputes_test

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/disputes"
	"posagent/schemes/wire"
)

// TestField5_EvidenceThatWasSweptIsNotTaken: a clock that was set two hours on between two documents of a case let the second one's upload
// sweep the first one's pieces away: the case answered that it had both, and the first was empty. The kind: what is uploaded before the
// commit that claims it, a case's documents (here) and a link's attachments, swept by the same process or by another one whose clock is
// ahead. The request fails as one of which nothing was begun, and is whole when it is sent again under its Key.
func TestField5_EvidenceThatWasSweptIsNotTaken(t *testing.T) {
	c, b := desk(t)
	jumps := true
	second := disputes.Bytes([]byte("second"))
	open := second.Open
	second.Open = func() (io.ReadCloser, error) {
		if jumps {
			b.Pass(2 * time.Hour)
		}
		return open()
	}
	req := byID(b.buy(1250))
	req.DocumentsList = []disputes.Document{{ID: "first", Binary: disputes.Bytes([]byte("first"))}, {ID: "second", Binary: second}}
	key := wire.NewKey()
	_, err := c.Create(t.Context(), key, req)
	require.Equal(t, wire.Unavailable, wire.CodeOf(err), "%v", err)
	list, err := c.List(t.Context(), disputes.ListRequest{CardID: "card-1111"})
	require.NoError(t, err)
	require.Empty(t, list.Cases, "nothing was begun")

	jumps = false
	made, err := c.Create(t.Context(), key, req)
	require.NoError(t, err)
	require.Empty(t, made.Documents, "none was refused")
	for _, name := range []string{"first", "second"} {
		f, err := c.Document(t.Context(), name, 0)
		require.NoError(t, err)
		r, err := f.Content.Open()
		require.NoError(t, err)
		data, err := io.ReadAll(r)
		require.NoError(t, err)
		require.Equal(t, name, string(data))
	}
}
