// Package upstream is the campaign on the network between terminal and backend. Requests and
// replies are lost, later than each timeout, doubled, reordered, cut short, or answered with errors
// and odd Retry-After headers. The network refuses, swallows and resets connections, and fails on
// and off for hours.
//
// It guarantees, once the network is up again:
//   - Each undo is done within 60 s.
//   - The books have one net payment for each sale whose register was told approved, and none for
//     the others.
//   - No operation was asked for in a hot loop.
//
// It drives the product through cross/stack. It must not be imported.
package upstream
