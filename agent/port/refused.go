package port

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"posagent/schemes/wire"
)

const login = "consumer_key and consumer_secret, or bearer" // what most services are asked with

// theirs serves what calls the backend: a 401 or 403 that a proven caller gets is the backend's, about the terminal. One that is not
// proven yet is by h. keys are those of [upstream.auth] that the service is asked with.
func theirs(keys string, proven bool, fail shape, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(&refused{ResponseWriter: w, ctx: r.Context(), crowd: crowdOf(r), proven: proven, tell: func() {
			fail(w, r, wire.Errorf(wire.Unavailable, "port", "the backend refuses the terminal's own credentials: check [upstream.auth] %s", keys))
		}}, r)
	})
}

// refused tells something else in place of a 401 or 403.
type refused struct {
	http.ResponseWriter
	ctx          context.Context // of the request, once it is known who asks
	crowd        *crowd
	tell         func()
	proven, told bool
}

// WriteHeader implements http.ResponseWriter.
func (f *refused) WriteHeader(status int) {
	if f.proven && !wire.Denied(f.ctx) && (status == http.StatusUnauthorized || status == http.StatusForbidden) {
		f.told = true
		f.tell()
		return
	}
	if !f.proven && status == http.StatusForbidden {
		f.crowd.wait(f.ctx.Done())
	}
	if key := wire.OperationOf(f.ctx); key != "" && f.Header().Get("Location") == "" {
		f.Header().Set("Location", operationURL(key))
	}
	if since, held := wire.HeldSince(f.ctx); held {
		f.Header().Set("Age", strconv.FormatInt(max(0, int64(time.Since(since)/time.Second)), 10))
		f.Header().Set("Warning", `111 posagent "the backend does not answer: this is the list that the terminal holds"`)
	}
	f.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (f *refused) Write(p []byte) (int, error) {
	if f.told {
		return len(p), nil
	}
	return f.ResponseWriter.Write(p)
}
