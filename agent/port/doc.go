// Package port owns the terminal's local HTTP port: the guard that closes it to the web, the local credentials, the services'
// routes, what the terminal shows of itself, the probes, and the document that describes them.
//
// It guarantees:
//   - a request reaches a handler only when its Host is one of the port's own names and it carries neither Origin, Referer
//     nor Sec-Fetch-Site (a web page cannot leave all of them out), and the port listens on this machine alone;
//   - a service's route, /agent/v1 and /metrics want the terminal's token, each in its service's own form, compared in a
//     time that tells nothing; no refusal says more than that;
//   - bodies, headers and time are bounded, and so is the number of connections;
//   - nothing changes state on GET;
//   - a write's caller learns the backend's own answer, that it is stored (202, Location names its operation), that it was
//     provably not sent (503 with Retry-After), or that its outcome is not known (504);
//   - the OpenAPI document is made of the table that mounts the routes.
//
// It must not import the store, the outbox's writers, the register link, the configuration or any third-party module.
package port
