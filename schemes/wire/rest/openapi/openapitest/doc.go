// Package openapitest reads an OpenAPI document as a client would, for tests of the servers that
// serve one.
//
// It guarantees that a document passes Read only if:
//   - Each reference resolves, and each operationId is the only one.
//   - Each parameter of a path is described, and each authentication that an operation requires is
//     defined.
//   - Each write describes 422 and 504, and takes an Idempotency-Key.
//   - Each body has a schema and an example, and the example fits the schema.
//
// routes.go has the one list of the services' routes, written by hand, that all servers are tested
// by.
//
// It judges by a small JSON Schema validator of its own. It imports no other package of the
// project.
package openapitest
