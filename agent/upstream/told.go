package upstream

import (
	"context"
	"log/slog"
	"net/http"
	"time"
)

// told tells the log what is sent. Of a request it tells method and route, never its address, its headers or its body.
type told struct {
	log   *slog.Logger
	route func(path string) string
}

// tried tells of one try: the status of its reply, or the kind of its fault, and how long the reply's beginning took.
func (t told) tried(req *http.Request, resp *http.Response, err error, took time.Duration) {
	if !t.log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	args := []any{"method", req.Method, "route", t.route(req.URL.Path), "ms", took.Milliseconds()}
	kind := Kind("")
	if err == nil {
		args = append(args, "status", resp.StatusCode)
		kind, _ = FaultOfReply(resp)
	} else if kind, _ = FaultOf(err); kind == "" {
		kind = "other"
	}
	if kind != "" {
		args = append(args, "fault", string(kind))
	}
	t.log.Debug("request", args...)
}

// unsent tells of a request that is kept back while the backend does not answer.
func (t told) unsent(req *http.Request) {
	if !t.log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	t.log.Debug("request", "method", req.Method, "route", t.route(req.URL.Path), "fault", "not sent")
}
