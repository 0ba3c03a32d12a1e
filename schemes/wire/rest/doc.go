// Package rest is the engine of the services: a service is a table of Endpoints, and the engine makes of it the Handler, the
// Client, and the description that the local port, the store-and-forward queue and OpenAPI read.
//
// An Endpoint says what is its own: name, method, path, status, and how the service is asked. What
// a body knows stands on its type: the tags `wire:"required"`, `wire:"notnull"`, `wire:"masked"`,
// `wire:"nullable"`, `wire:"list"`, `path:"…"`, `query:"…"`, `max:"…"` and `rest:"status"`, a method
// Check for its rules, a method Flaw for what a reply must not be, a method Normal for other
// spellings, and Secret and PAN for what only a wire body shows.
//
// It guarantees:
//   - A Handler refuses in the order that costs a bad request the least: path (404, 405), Idempotency-Key, parameters, content
//     type, size, strict JSON, required fields, rules; the service is asked about a good request only.
//   - A service with its own form of bodies opens, proves and writes its requests itself (Options.Open, Client.Write); nothing else
//     of a request is looked at before its proof.
//   - A request is decoded once. Asked.Body writes its canonical bytes once, for whoever needs them.
//   - A Client sends each call once, and takes no reply that is not exactly a success of its endpoint. 202 and a pending
//     operation come together or not at all. No error repeats a secret of the request.
//   - A mistake in a table panics when it is bound, that is at start-up, never at a request.
//
// It imports schemes/wire, schemes/wire/check and the standard library. It must not import a service, the store or the agent.
package rest
