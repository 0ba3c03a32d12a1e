package webhooks

import "context"

// Service receives events.
type Service interface {
	// Receive takes one event over. The sender repeats it until the answer is nil, so an event may come again, and
	// events may come in any order.
	//  1. nil: stored durably, now or at an earlier delivery; it is not sent again;
	//  2. any error: it may or may not have been stored, and is sent again.
	Receive(ctx context.Context, e Event) error
}
