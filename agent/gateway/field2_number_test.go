package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/schemes/paylinks"
)

// A create that its service has answered has made something. Where no use can be made of the answer it is not made again for ever by a
// service that honours no Keys: it is in doubt after the first such answer (a number of the range that the terminal gives, no number, a
// record that cannot be read), and after the second that is another create's, because a gateway that slips does not slip for ever. The
// services of payments and stored cards honour Keys: there a repeat makes nothing.
func TestField2_M51ACreateThatWasAnsweredIsNotMadeAgainForEver(t *testing.T) {
	record := func(id, reference string, amount int) string {
		return fmt.Sprintf(`{"status":"success","data":[{"id":%s,"hash":"h","link":null,"referenceId":%q,"amount":%d,"currency":"EUR"}]}`, id, reference, amount)
	}
	link := func(t *testing.T, s *shop) {
		_, err := s.front.Links().Create(t.Context(), "k1", order(func(r *paylinks.CreateRequest) { r.ReferenceID = "mine" }))
		require.NoError(t, err)
	}
	for name, c := range map[string]struct {
		body  string
		calls int
	}{
		"a link of the terminal's own range": {record("2100000001", "mine", 1250), 1},
		"a link without a number":            {record("0", "mine", 1250), 1},
		"a link that cannot be read":         {record(`"many"`, "mine", 1250), 1},
		"another reference":                  {record("7", "theirs", 1250), 2},
		"another amount":                     {record("7", "mine", 1), 2},
	} {
		t.Run(name, func(t *testing.T) {
			inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
				calls := 0
				s.cable.set(false, func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
					if r.Method == http.MethodGet {
						return answer()
					}
					calls++
					return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(c.body)), Request: r}, nil
				})
				link(t, s)
				s.pass(time.Hour)
				require.Equal(t, c.calls, calls)
				require.Len(t, s.ops(), 1)
				require.Equal(t, outbox.Doubt, s.ops()[0].State, s.ops()[0].Reason)
			})
		})
	}
}

// An answer that is lost on its way says nothing of the kind: a link that nobody knows is made again until its answer comes.
func TestField2_M51ALostAnswerIsAskedForAgain(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		s.cable.set(false, lost)
		made, err := s.front.Links().Create(context.WithoutCancel(t.Context()), "k1", order())
		require.NoError(t, err)
		require.NotNil(t, made.Operation)
		s.pass(10 * time.Minute)
		s.mend()
		s.pass(time.Minute)
		s.is(made.Operation.Key, outbox.Done)
	})
}
