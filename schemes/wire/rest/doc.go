// Package rest is the engine of the services: a service is a table of Endpoints. From the table
// the engine makes the Handler, the Client, and the description that the local port, the
// store-and-forward queue and OpenAPI read.
//
// An Endpoint has a name, method, path, status, and the function that calls the service. Field
// rules are struct tags and methods of the body types: the tags `wire:"required"`,
// `wire:"notnull"`, `wire:"given"`, `wire:"masked"`, `wire:"nullable"`, `wire:"list"`, `path:"…"`, `query:"…"`,
// `max:"…"`, `rest:"status"` and `rest:"date"`, a method Check for its rules, Flaw for a wrong reply, Normal for
// other spellings, and the types Secret and PAN for values that only a wire body shows.
//
// It guarantees:
//   - A Handler checks the cheapest rule first: path (404, 405), Idempotency-Key, parameters,
//     content type, size, strict JSON, required fields, rules; only a good request reaches the
//     service.
//   - A service with its own form of bodies opens, proves and writes its requests itself
//     (Options.Open, Client.Write); nothing else of a request is read before its proof.
//   - A request is decoded once. Asked.Body encodes its canonical bytes once for all readers.
//   - A Client sends each call once, and takes no reply that is not exactly a success of its
//     endpoint. 202 and a pending operation come together or not at all. No error repeats a secret
//     of the request.
//   - A mistake in a table panics when it is bound, that is at start-up, never at a request.
//
// It imports schemes/wire, schemes/wire/check and the standard library. It must not import a
// service, the store or the agent.
package rest
