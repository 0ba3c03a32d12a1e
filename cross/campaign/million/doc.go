// Package million is the campaign on a long outage. A million operations are accepted in the real
// store through the real Accept. Then the built binary starts on them with no backend.
//
// It measures the start until a register may ask, the status, a page of the list, the report, the
// memory, an Accept beside one on an empty queue in the same run, and how fast the queue drains to
// a backend that answers at once. It prints each figure with its goal. The test fails if one misses
// its goal by twice: a busy machine passes, a scan of the whole table does not.
//
// It must not be imported.
package million
