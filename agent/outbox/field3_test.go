package outbox_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
	"posagent/schemes/wire"
)

// TestField3_OutboxB2ARefusalWithoutTheServicesBodyIsNobodysWord: a proxy that looks through answers put
// a 403 in the place of one, behind a payment that was made. The operation counted as never sent: it was
// withdrawn, or it expired, and its client was told that nothing was sent (MONEY law II). The kind: 401
// and 403, with and without the service's own body, and a token service that refused before anything left.
func TestField3_OutboxB2ARefusalWithoutTheServicesBodyIsNobodysWord(t *testing.T) {
	for status, code := range map[int]wire.Code{http.StatusUnauthorized: wire.Unauthorized, http.StatusForbidden: wire.Forbidden} {
		for name, c := range map[string]struct {
			body string
			want outbox.State
		}{
			"nothing":     {"", outbox.Sent},
			"a page":      {"<html>blocked</html>", outbox.Sent},
			"other JSON":  {`{"message":"no"}`, outbox.Sent},
			"its own":     {`{"valid":false,"error":{"message":"no"}}`, outbox.Pending},
			"its problem": {`{"type":"urn:problem:` + string(code) + `","title":"no","status":` + map[bool]string{true: "401", false: "403"}[status == 401] + `}`, outbox.Pending},
		} {
			head := http.Header{"Content-Type": {"application/json"}}
			if name == "its problem" {
				head.Set("Content-Type", "application/problem+json")
			}
			call, answer := wire.Call{Op: "t", Write: true}, wire.Answer{Status: status, Header: head, Body: []byte(c.body)}
			err := call.Refusal(answer, true)
			if name == "its problem" {
				err = call.Problem(answer, true, nil)
			}
			require.Equal(t, code, err.Code, name)
			for _, was := range []outbox.State{outbox.Pending, outbox.Sent} {
				v := outbox.FromError(outbox.Op{State: was}, outbox.SameKey, err)
				require.Equal(t, c.want, v.State, "%d with %s", status, name)
				require.Equal(t, outbox.Refused, v.Reach, "it pauses the service all the same")
			}
		}
	}
	unsent := &wire.Error{Code: wire.Unauthorized, Op: "t", Unsent: true, Err: errors.New("no token")}
	require.Equal(t, outbox.Pending, outbox.FromError(outbox.Op{State: outbox.Pending}, outbox.SameKey, unsent).State, "nothing had left")
}
