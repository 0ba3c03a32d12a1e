package port

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"posagent/agent/httpd"
	"posagent/schemes/wire"
)

// gateway serves what calls the backend, for clients alone and within bounds.
type gateway struct {
	*auth
	dir     string        // where attachments lie while a request is served; "" = the system's folder
	within  time.Duration // of one call to the backend
	touched func()        // is called after each request that may have carried card data; nil = nothing
	work    context.Context
	cut     context.CancelFunc // ends the calls in flight
}

func newGateway(a *auth, dir string, within time.Duration, touched func()) *gateway {
	g := &gateway{auth: a, dir: dir, within: within, touched: touched}
	g.work, g.cut = context.WithCancel(context.Background())
	return g
}

// calling serves what calls the backend: within its time, whether its caller waits or not, and with
// a hint when to come back.
func (g *gateway) calling(limit int64, h http.Handler) http.Handler {
	return http.MaxBytesHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && g.touched != nil {
			defer g.touched()
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), readTime+g.within+5*time.Second)
		defer cancel()
		defer context.AfterFunc(g.work, cancel)()
		ctx, answers := wire.WithAnswers(ctx)
		h.ServeHTTP(hint{w}, r.WithContext(ctx))
		answers.Heard(func() bool {
			return http.NewResponseController(w).Flush() == nil && r.Context().Err() == nil && httpd.Heard(r.Context(), heardWithin)
		})
	}), limit)
}

// heardWithin is how long a caller's machine has to acknowledge an answer.
const heardWithin = 5 * time.Second

// hint says when to come back where a service does not.
type hint struct{ http.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (h hint) WriteHeader(status int) {
	if status == http.StatusServiceUnavailable && h.Header().Get("Retry-After") == "" {
		h.Header().Set("Retry-After", "2")
	}
	h.ResponseWriter.WriteHeader(status)
}

// The keys of [upstream.auth] that the services of S0 and S1 are asked with.
const (
	loginS0 = "bearer, or client_id and client_secret"
	loginS1 = "consumer_key and consumer_secret"
)

// answered serves what calls the backend: a 401 or 403 that a proven caller gets is the backend's,
// about the terminal. One that is not proven yet is by h. keys are those of [upstream.auth] that
// the service is asked with.
func answered(keys string, proven bool, fail failFunc, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(&answerWriter{ResponseWriter: w, ctx: r.Context(), throttle: throttleOf(r), proven: proven, deny: func() {
			fail(w, r, wire.Errorf(wire.Unavailable, "port", "the backend refuses the terminal's own credentials: check [upstream.auth] %s", keys))
		}}, r)
	})
}

// answerWriter writes what the backend answers, and something else in place of its 401 or 403.
type answerWriter struct {
	http.ResponseWriter
	ctx            context.Context // of the request, once its client is known
	throttle       *throttle
	deny           func()
	proven, denied bool
}

// WriteHeader implements http.ResponseWriter.
func (a *answerWriter) WriteHeader(status int) {
	if a.proven && !wire.Denied(a.ctx) && (status == http.StatusUnauthorized || status == http.StatusForbidden) {
		a.denied = true
		a.deny()
		return
	}
	if !a.proven && status == http.StatusForbidden {
		a.throttle.wait(a.ctx.Done())
	}
	if key := wire.OperationOf(a.ctx); key != "" && a.Header().Get("Location") == "" {
		a.Header().Set("Location", operationURL(key))
	}
	if since, held := wire.HeldSince(a.ctx); held {
		a.Header().Set("Age", strconv.FormatInt(max(0, int64(time.Since(since)/time.Second)), 10))
		a.Header().Set("Warning", `111 posagent "the backend does not answer: this is the list that the terminal holds"`)
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (a *answerWriter) Write(p []byte) (int, error) {
	if a.denied {
		return len(p), nil
	}
	return a.ResponseWriter.Write(p)
}
