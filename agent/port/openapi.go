package port

import (
	"net/http"

	"posagent/schemes/contracts"
	"posagent/schemes/wire"
	"posagent/schemes/wire/rest/openapi"
)

// describe writes the document of what is mounted. The error is that of a type that cannot be described.
func (a *api) describe() ([]byte, error) {
	d := openapi.Document{
		Title: "posagent: the terminal", Version: a.o.Version, Stores: true,
		About: "The services of the backend, with the network down too: a write that cannot be sent now is stored and answered 202. " +
			"/agent/v1 shows the terminal itself.",
		Proofs: append(contracts.Proofs("the terminal's token, in port.token of its state directory, or a client's own of [port.clients]"),
			openapi.Proof{Name: byHook, Type: "apiKey", In: "header", Field: "Authorization", About: "what the webhook was registered with"}),
	}
	if a.o.Listener != nil {
		d.Server = "http://" + a.o.Listener.Addr().String()
	}
	for _, m := range a.mounts {
		d.Groups = append(d.Groups, m.Group)
	}
	return d.JSON()
}

// document serves the OpenAPI description, which is made when it is first asked for.
func (a *api) document(w http.ResponseWriter, r *http.Request) {
	data, err := a.described()
	if err != nil {
		a.problem(w, r, wire.AsError("port", err))
		return
	}
	_ = wire.WriteBody(w, http.StatusOK, jsonBody, data) // a lost connection has no reader
}
