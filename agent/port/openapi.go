package port

import (
	"net"
	"net/http"
	"sync"

	"posagent/schemes/contracts"
	"posagent/schemes/wire"
	"posagent/schemes/wire/rest/openapi"
)

// byHook names the proof of a webhook's sender in the document.
const byHook = "hook"

// document is the OpenAPI description of what is mounted. It is made when it is first asked for.
type document struct {
	*auth
	version string
	ln      net.Listener
	mounts  []mount
	made    func() ([]byte, error)
}

func newDocument(a *auth, version string, ln net.Listener) *document {
	d := &document{auth: a, version: version, ln: ln}
	d.made = sync.OnceValues(d.describe)
	return d
}

// describe writes the document of what is mounted. The error is that of a type that cannot be
// described.
func (d *document) describe() ([]byte, error) {
	text := openapi.Document{
		Title: "posagent: the terminal", Version: d.version, Stores: true,
		About: "The services of the backend, with the network down too: a write that cannot be sent now is stored and answered 202. " +
			"/agent/v1 shows the terminal itself.",
		Proofs: append(contracts.Proofs("the terminal's token, in port.token of its state directory, or a client's own of [port.clients]"),
			openapi.Proof{Name: byHook, Type: "apiKey", In: "header", Field: "Authorization", About: "what the webhook was registered with"}),
	}
	if d.ln != nil {
		text.Server = "http://" + d.ln.Addr().String()
	}
	for _, m := range d.mounts {
		text.Groups = append(text.Groups, m.Group)
	}
	return text.JSON()
}

// serve answers with the description.
func (d *document) serve(w http.ResponseWriter, r *http.Request) {
	data, err := d.made()
	if err != nil {
		d.problem(w, r, wire.AsError("port", err))
		return
	}
	_ = wire.WriteBody(w, http.StatusOK, jsonBody, data) // a lost connection has no reader
}
