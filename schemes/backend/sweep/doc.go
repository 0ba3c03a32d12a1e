// Package sweep runs a service's work that becomes due by time alone.
//
// It guarantees:
//   - It looks for due work at least every second, so a jump of the wall clock is noticed.
//   - A look that ends in an error is followed by another.
//
// It must not import anything but the standard library: the service decides what is due and what to
// do.
package sweep
