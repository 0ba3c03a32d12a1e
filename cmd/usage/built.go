package usage

import (
	"strings"
	"time"
)

// BuiltAt is the day a version names, the zero time where it names none.
func BuiltAt(version string) time.Time {
	day, _, _ := strings.Cut(version, "-")
	at, err := time.Parse("2006.01.02", day)
	if err != nil {
		return time.Time{}
	}
	return at
}
