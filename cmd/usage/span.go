package usage

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// timespan is the value of a flag that takes a length of time: as Go writes it, and in days.
type timespan time.Duration

// SpanVar defines a flag that takes a length of time, with days: 90m, 24h, 1d, 2d12h.
func SpanVar(fs *flag.FlagSet, to *time.Duration, name string, usual time.Duration, help string) {
	*to = usual
	fs.Var((*timespan)(to), name, help)
}

func (s *timespan) String() string { return time.Duration(*s).String() }

// Set implements flag.Value.
func (s *timespan) Set(text string) error {
	d, err := ParseSpan(text)
	if err == nil {
		*s = timespan(d)
	}
	return err
}

// mostDays keeps a length of time within what it is stored in.
const mostDays = 36500

// ParseSpan reads a length of time. Its error says what is accepted.
func ParseSpan(text string) (time.Duration, error) {
	rest, days := text, time.Duration(0)
	if number, after, found := strings.Cut(text, "d"); found {
		n, err := strconv.ParseUint(number, 10, 32)
		if err != nil || n > mostDays {
			return 0, ErrNoSpan
		}
		rest, days = after, time.Duration(n)*24*time.Hour
		if rest == "" {
			return days, nil
		}
	}
	d, err := time.ParseDuration(rest)
	switch _, bare := strconv.ParseUint(text, 10, 32); {
	case err == nil && (days == 0 || d >= 0):
		return days + d, nil
	case bare == nil:
		return 0, fmt.Errorf("it has no unit: %ss are seconds, %[1]sm minutes, %[1]sh hours, %[1]sd days", text)
	}
	return 0, ErrNoSpan
}

// ErrNoSpan is the answer to a text that is no length of time.
var ErrNoSpan = errors.New("want a length of time, such as 30s, 90m, 24h or 1d")
