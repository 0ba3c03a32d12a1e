package webhooks

import "time"

// Schedule says when a failed delivery is tried again and how long one try may take. It is stored by name.
type Schedule string

// The schedules.
const (
	// Standard is S0 6.1: at once, then after the first ten intervals of the list; 10 s per try.
	Standard Schedule = ""
	// Links is the payment links' own: five short intervals, then five daily ones; 20 s per try.
	Links Schedule = "links"
)

// Gaps are the intervals between the starts of one try and the next.
func (s Schedule) Gaps() []time.Duration {
	minutes := []time.Duration{2, 5, 10, 15, 20, 25, 30, 40, 50, 60}
	if s == Links {
		const day = 24 * 60
		minutes = []time.Duration{1, 15, 60, 120, 240, day, day, day, day, day}
	}
	for i := range minutes {
		minutes[i] *= time.Minute
	}
	return minutes
}

// Limit is how long one try may take, from the question for the address to the end of the reply.
func (s Schedule) Limit() time.Duration {
	if s == Links {
		return 20 * time.Second
	}
	return 10 * time.Second
}
