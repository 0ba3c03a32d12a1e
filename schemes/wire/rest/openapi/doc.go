// Package openapi writes the OpenAPI 3.1 document of a server from the descriptions of its
// endpoints.
//
// A Group is a service: its prefix, its endpoints (rest.Info), how callers authenticate, and its
// refusals. The schemas of bodies come from the types of an endpoint's request and reply, by
// reflection.
//
// It guarantees:
//   - Each operation has an operationId of its own, its parameters, its headers, an example of its
//     request and of its reply, and the statuses it refuses with.
//   - A field of a request is required where its tag says wire:"required", a field of a reply where
//     it is always written. A type that stands in both is described as in a request.
//   - The same groups make the same bytes.
//   - An example of a request is the group's own. Without one, and for each reply, it is made from
//     the type, and fits its schema.
//
// It imports schemes/wire, schemes/wire/rest and the standard library. It must not import a
// service.
package openapi
