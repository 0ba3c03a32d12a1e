// Package perform carries out the effects of a decision once the decision is durable. It sends
// requests, reads statuses, shows codes, tells outcomes, runs timers, and applies the results.
//
// Files: perform.go and apply.go run effects and events, send.go calls the backend, route.go says
// whether the backend's idempotent route is missing, screen.go shows, tell.go tells outcomes, late.go answers before the register's time-out, words.go has the
// texts.
//
// It guarantees:
//   - Effects follow the commit. After a crash, the next start repeats unfinished effects from the
//     stored row.
//   - The code has left the screen before an outcome is told.
//   - An outcome is told once to each caller that waits. No sale is undone while it is being told.
//   - If the store fails, an event that must not be lost is retried until it is stored.
//   - The status of a sale is never read faster than Config.Poll.
//
// It must not import agent/checkout/drive, the lines of registers, or the embedded backend.
package perform
