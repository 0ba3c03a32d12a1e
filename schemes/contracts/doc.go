// Package contracts provides the OpenAPI groups of all services, for the documents of the
// terminal's port and of the backend.
//
// Each service has a function that returns its group: the endpoints of its table, its refusals,
// and an example of each request body. A service whose requests have a form of their own, as the
// signed forms of payment links, gets that added here.
//
// It guarantees:
//   - An example of a request is one that the service takes: its strict reader and its rules accept
//     it.
//   - Both servers describe a service in the same words.
//
// It imports the services and schemes/wire/rest/openapi. It must not import the store, the backend
// or the agent.
package contracts
