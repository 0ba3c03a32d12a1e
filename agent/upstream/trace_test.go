package upstream

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire"
)

// Each try is a span of its own in the trace of its context, else in that of its Key.
func TestEachTryIsASpan(t *testing.T) {
	var mu sync.Mutex
	var headers []string
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		headers = append(headers, r.Header.Get("traceparent"))
		if len(headers)%2 == 1 {
			reset(w)
		}
	})
	c := client(t, srv.URL, nil)
	const trace = wire.Trace("4bf92f3577b34da6a3ce929d0e0e4736")
	for _, given := range []wire.Trace{trace, ""} {
		req, err := http.NewRequestWithContext(wire.WithTrace(t.Context(), given), http.MethodPost, srv.URL+"/x", strings.NewReader("{}"))
		require.NoError(t, err)
		req.Header.Set(wire.KeyHeader, "k1")
		_, err = wire.Call{Op: "x", Write: true}.Do(c.Unanswered(), req)
		require.NoError(t, err)
	}
	require.Len(t, headers, 4)
	spans := map[string]bool{}
	for i, want := range []wire.Trace{trace, trace, wire.TraceOfKey("k1"), wire.TraceOfKey("k1")} {
		require.Equal(t, want, wire.TraceFrom(http.Header{"Traceparent": {headers[i]}}), headers)
		spans[headers[i]] = true
	}
	require.Len(t, spans, 4, headers)
}
