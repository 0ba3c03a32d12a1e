package usage

import "flag"

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

// Nearest returns the name of list that word was meant to be: at most one letter is wrong, missing, too many or swapped with its
// neighbour, or two of at least six letters. It returns "" where no name is as close.
func Nearest(word string, list []string) string {
	best, least := "", 2
	if len(word) >= 6 {
		least = 3
	}
	for _, s := range list {
		if len(word) > longestWord {
			break
		}
		if d := edits(word, s); d < least && d < len(word) {
			best, least = s, d
		}
	}
	return best
}

// longestWord is how many bytes a word has, at most, that is compared with names.
const longestWord = 64

// edits counts the letters of a that are replaced, added, taken out or swapped with their neighbour where it becomes b.
func edits(a, b string) int {
	var before, row, next = make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(next[j]+1, row[j+1]+1, row[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
