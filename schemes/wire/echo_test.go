package wire_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire"
)

type answering func(r *http.Request) *http.Response

func (a answering) Do(r *http.Request) (*http.Response, error) { return a(r), nil }

// An answer that names another Key is another request's, whatever its status: what became of ours is not
// known. Services need not name it. Every write of every service, the hosted builds among them, goes by
// Call.Do; a read has no Key.
func TestField2_M16AnAnswerOfAnotherKeyIsAnothers(t *testing.T) {
	for name, c := range map[string]struct {
		names string
		ours  bool
		err   error
	}{
		"ours": {"key-1", true, nil}, "in another case": {"KEY-1", true, nil}, "none": {"", false, nil}, "another's": {"key-2", false, wire.ErrAnothers},
	} {
		for _, status := range []int{http.StatusOK, http.StatusAccepted, http.StatusConflict, http.StatusInternalServerError} {
			ctx, echo := wire.WithEcho(context.Background())
			got, err := wire.Call{Op: "test", Write: true}.Send(ctx, answering(func(r *http.Request) *http.Response {
				h := http.Header{}
				if c.names != "" {
					h.Set(wire.KeyHeader, c.names)
				}
				return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader("{}"))}
			}), http.MethodPost, "http://backend.test/", "key-1", []byte("{}"))
			require.Equal(t, c.ours, echo.Named(), name)
			if c.err == nil {
				require.NoError(t, err, name)
				require.Equal(t, status, got.Status, name)
				continue
			}
			require.True(t, errors.Is(err, c.err), name)
			require.Equal(t, wire.UnknownOutcome, wire.CodeOf(err), name)
		}
	}
}
