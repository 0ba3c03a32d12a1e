// Package contracts lists the services for whoever describes them: the OpenAPI documents of the terminal's port and of the backend.
//
// A function per service returns its group: the endpoints of its table, how it refuses, and an example of each request body. What a
// service's own shape adds to its table, as the envelope of payment links, is added here.
//
// It guarantees:
//   - An example of a request is one that the service takes: its strict reader and its rules accept it.
//   - Both servers describe a service in the same words.
//
// It imports the services and schemes/wire/rest/openapi. It must not import the store, the backend or the agent.
package contracts
