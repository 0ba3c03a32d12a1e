// Package port is the terminal's local HTTP port. It owns the guard against web pages, the local
// credentials, the services' routes, the terminal's own views, the probes and the OpenAPI document.
//
// It guarantees:
//   - A request reaches a handler only if its Host is one of the port's names and it carries
//     neither Origin, Referer nor Sec-Fetch-Site. A web page cannot leave all of them out. The port
//     listens on this machine alone.
//   - A service's route, /agent/v1 and /metrics need a client's token in the form of that service.
//     The comparison takes constant time, and a refusal says nothing about the token.
//   - Bodies, headers, time and the number of connections are bounded.
//   - No GET changes state.
//   - The caller of a write learns one of four results: the backend's own answer; stored (202,
//     Location names the operation); provably not sent (503 with Retry-After); outcome not known
//     (504).
//   - The OpenAPI document comes from what is mounted: the tables of the services and of the terminal itself.
//
// It must not import the store, the outbox's writers, the register link, the configuration or any
// third-party module.
package port
