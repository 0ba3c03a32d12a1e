// Package sweep lets time pass for what a service keeps and nobody touches.
//
// It guarantees that what is due is looked for at least every second, so that a wall clock that jumped is noticed, and that
// a look that ends in an error is followed by another.
//
// It imports the standard library only; what is due, and what happens to it, is the service's business.
package sweep
