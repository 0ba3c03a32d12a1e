// Package life is what every transport of a register has: the queue of what came in, its counters, and
// an end with one cause. A transport embeds a Life, and adds how its messages lie on the line.
//
// It guarantees:
//   - Every error of an ended transport is an ecr.ErrClosed; the first cause stays.
//   - What was received before the end is given before it.
//   - Close returns when everything that Go has begun has returned.
//
// It must not import a protocol.
package life
