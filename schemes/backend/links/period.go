package links

import (
	"errors"
	"strings"
	"time"
)

// period is an ISO 8601 duration of whole days or more, as subscriptions have them: P1M, P1Y6M, P2W.
type period struct{ months, days int }

var errPeriod = errors.New("want an ISO 8601 duration such as P1M, P2W or P1Y")

// parsePeriod reads a duration. Times of day are refused, as is a duration of nothing.
func parsePeriod(s string) (period, error) {
	rest, ok := strings.CutPrefix(s, "P")
	if !ok || len(s) > 20 {
		return period{}, errPeriod
	}
	var p period
	units, n, digits := "YMWD", 0, 0
	for _, c := range []byte(rest) {
		if c >= '0' && c <= '9' {
			if n, digits = n*10+int(c-'0'), digits+1; digits > 4 {
				return period{}, errPeriod
			}
			continue
		}
		at := strings.IndexByte(units, c)
		if at < 0 || digits == 0 {
			return period{}, errPeriod
		}
		switch c {
		case 'Y':
			p.months += 12 * n
		case 'M':
			p.months += n
		case 'W':
			p.days += 7 * n
		case 'D':
			p.days += n
		}
		units, n, digits = units[at+1:], 0, 0
	}
	if digits > 0 || p == (period{}) {
		return period{}, errPeriod
	}
	return p, nil
}

// after gives the moment n periods after start, in UTC. A day that the month does not have is its last one, always
// counted from start, so that the 31st comes back after February.
func (p period) after(start time.Time, n int) time.Time {
	start = start.UTC()
	first := time.Date(start.Year(), start.Month()+time.Month(p.months*n), 1, start.Hour(), start.Minute(), start.Second(), start.Nanosecond(), time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(start.Day(), last)-1+p.days*n)
}
