package daily

import (
	"fmt"
	"time"
)

// ParseAt reads a time of day such as 03:00.
func ParseAt(text string) (sinceMidnight time.Duration, err error) {
	at, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("15:04") {
		return 0, fmt.Errorf("%q is no time of day such as \"03:00\"", text)
	}
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute, nil
}

// Day is the day of a moment, as its date in the zone, where days begin at a time of day: the newest one
// whose time has come. In a zone that changes its clock a time that does not exist is the one an hour later.
func Day(now time.Time, at time.Duration, zone *time.Location) string {
	now = now.In(zone)
	y, m, d := now.Date()
	if begins := time.Date(y, m, d, int(at/time.Hour), int(at/time.Minute)%60, 0, 0, zone); now.Before(begins) {
		d--
	}
	return time.Date(y, m, d, 12, 0, 0, 0, zone).Format(time.DateOnly)
}
