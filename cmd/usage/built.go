package usage

import (
	"strings"
	"time"
)

// BuiltAt is the day a version names, the zero time where it names none.
func BuiltAt(version string) time.Time {
	day, _, _ := strings.Cut(version, "-")
	for _, form := range []string{"2006.01.02.150405", "2006.01.02"} {
		if at, err := time.Parse(form, day); err == nil {
			return at.Truncate(24 * time.Hour)
		}
	}
	return time.Time{}
}
