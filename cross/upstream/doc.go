// Package upstream is the campaign on the network between terminal and backend: requests and replies are lost, late beyond every
// time-out, doubled, reordered, cut short, answered with errors and odd Retry-After headers; the network refuses, swallows,
// resets, and flaps for hours.
//
// Whatever it did, once it is up again every undo is done within 60 s, the books have one net payment for each sale whose
// register was told approved and nothing for the others, and no operation was asked for in a hot loop.
//
// It drives the product through cross/stack and must not be imported.
package upstream
