// Package perform does what a decision asks for once it is durable: it sends, asks, shows, tells
// and waits, and applies what comes of it.
//
// It guarantees:
//   - effects follow the commit; what a crash swallows is done again by the next start, from the
//     row alone;
//   - the code has left the screen before an outcome is told;
//   - an outcome is told once to each caller that waits, and none is undone while it is being told;
//   - an event that must not be lost waits for a store in trouble;
//   - no sale is asked about faster than Config.Poll.
//
// It must not import what a register can ask (agent/checkout/drive), the lines of registers, or the
// embedded backend.
package perform
