package port

import (
	"net/http"
	"net/url"

	"posagent/schemes/wire"
)

const (
	jsonBody    = "application/json"
	problemBody = "application/problem+json"
	formBody    = "application/x-www-form-urlencoded"
)

// terminalPrefix is where the terminal shows itself.
const terminalPrefix = "/agent/v1/"

// operationURL is where a write that is stored (202) is asked for.
func operationURL(key wire.Key) string {
	return terminalPrefix + "operations/" + url.PathEscape(string(key))
}

// failFunc answers with an error as a service does.
type failFunc func(w http.ResponseWriter, r *http.Request, e *wire.Error)

// unread lets an answer out that the server would keep until the request's body is there: it does
// so where a connection goes on.
func unread(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		w.Header().Set("Connection", "close")
	}
}
