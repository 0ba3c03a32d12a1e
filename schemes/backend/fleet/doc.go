// Package fleet is the enrolment desk of the embedded backend. It implements fleet.Service and
// fleet.Desk over a store.
//
// It owns the tables fleet_authority, fleet_enrolment, fleet_revision, fleet_outcome, fleet_hold,
// fleet_roll and fleet_roll_box. It guarantees:
//   - A code stands nowhere: the store has its keyed digest. The authority's private key and the
//     configurations are sealed.
//   - A code that was redeemed answers the same device the same until it is burned by the device's
//     confirmation. Another device gets nothing for it.
//   - A confirmed enrolment and the end of those it replaces are one commit.
//   - A bundle is made only where no other box is, or may be, the terminal.
//   - A version that several boxes took back is held for all others until the operator lifts it. A box
//     counts once.
//   - One roll-out of settings is open at a time. A stage begins only while failures are below the bound of
//     a version. What is taken back gets a newer number. A paused one is handed to no other terminal.
//   - What has ended is purged after 90 days. A device that was revoked is told so for ever.
//   - Wrong codes lock their address out, and all addresses together where there are too many.
//
// It must not import another room of the backend besides room and scenario.
package fleet
