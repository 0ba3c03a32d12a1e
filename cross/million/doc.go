// Package million is the campaign on a long outage: a million operations are accepted, in the real store through the real
// Accept, and then the built binary starts on them with nobody at the other end.
//
// It says how long the start takes until a register may ask, how long the status, a page of the list and the report take, what
// the process has in memory, what a further Accept costs beside the same on an empty queue in the same run, and how fast the
// queue drains against a backend that answers at once. The figures are printed beside their goals; the test fails where one is
// missed by twice, so that a busy machine does not fail it and a scan of the whole table does.
//
// It must not be imported.
package million
