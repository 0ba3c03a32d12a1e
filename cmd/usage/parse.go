package usage

import (
	"flag"
	"strings"
)

// Parse reads flags that stand before, between and after positional arguments; "--" ends them. before is how many arguments stand
// before it, -1 where there is none.
func Parse(fs *flag.FlagSet, args []string) (rest []string, before int, err error) {
	for {
		if err := fs.Parse(args); err != nil {
			return nil, -1, err
		}
		left := fs.Args()
		if n := len(args) - len(left); n > 0 && args[n-1] == "--" {
			return append(rest, left...), len(rest), nil
		}
		if len(left) == 0 {
			return rest, -1, nil
		}
		rest, args = append(rest, left[0]), left[1:]
	}
}

// Nearest finds a name that shares most of its letters in order, "" when none is close.
func Nearest(word string, list []string) string {
	best, score := "", 0
	for _, s := range list {
		n := 0
		for i := 0; i < len(word) && n < len(s); i++ {
			if j := strings.IndexByte(s[n:], word[i]); j >= 0 && j < 2 {
				n += j + 1
			}
		}
		if n*2 > max(len(s), len(word)) && n > score {
			best, score = s, n
		}
	}
	return best
}
