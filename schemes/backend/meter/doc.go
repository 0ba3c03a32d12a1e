// Package meter counts what a running backend does, and writes it down: as the text that Prometheus
// reads, and as one line of the log for each request.
//
// Files: meter.go (what is counted), requests.go (the handler around all routes), histogram.go,
// text.go (the format).
//
// It guarantees:
//   - No figure names a merchant, a payment or an address. The number of label values is bounded: a
//     request that no route takes is counted under "other".
//   - A line of the log has no query, no body and no path, and nothing that reads like a card number.
//
// It must not import a service, nor a room of the backend, nor an engine of the store.
package meter
