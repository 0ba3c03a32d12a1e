// Package fleet is the enrolment desk of the embedded backend. It implements fleet.Service and
// fleet.Desk over a store.
//
// It owns the tables fleet_authority, fleet_enrolment and fleet_revision. It guarantees:
//   - A code stands nowhere: the store has its keyed digest. The authority's private key and the
//     configurations are sealed.
//   - A code that was redeemed answers the same device the same until it is burned by the device's
//     confirmation. Another device gets nothing for it.
//   - A confirmed enrolment and the end of those it replaces are one commit.
//   - Wrong codes lock their address out, and all addresses together where there are too many.
//
// It must not import another room of the backend besides room and scenario.
package fleet
