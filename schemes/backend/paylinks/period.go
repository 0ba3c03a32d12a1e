package paylinks

import (
	"time"

	"posagent/schemes/paylinks"
)

// after gives the moment n periods after start, in UTC. A day that the month does not have is its last one, always
// counted from start, so that the 31st comes back after February.
func after(start time.Time, p paylinks.Period, n int) time.Time {
	start = start.UTC()
	month := start.Month() + time.Month((12*p.Years+p.Months)*n)
	first := time.Date(start.Year(), month, 1, start.Hour(), start.Minute(), start.Second(), start.Nanosecond(), time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(start.Day(), last)-1+p.Days*n)
}

// renewal is when a subscription begun at start is charged for the nth time after the first, 0 = never: its period is over.
func (o *options) renewal(start int64, n int) int64 {
	every, ok := paylinks.ParsePeriod(o.Interval)
	if !ok {
		return 0
	}
	begun := time.UnixMilli(start)
	at := after(begun, every, n)
	if whole, ok := paylinks.ParsePeriod(o.Period); ok && !at.Before(after(begun, whole, 1)) {
		return 0
	}
	return at.UnixMilli()
}

// stoppable says that a subscription begun at start may be ended by its customer at now.
func (o *options) stoppable(start, now int64) bool {
	p, ok := paylinks.ParsePeriod(o.Cancellation)
	return !ok || now < after(time.UnixMilli(start), p, 1).UnixMilli()
}
