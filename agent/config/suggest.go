package config

import (
	"slices"
	"strings"
)

// suggest finds the known name that was meant, "" when none is near.
func suggest(name string, known []string) string {
	best, distance := "", max(2, len(name)/4)+1
	for _, k := range known {
		if d := edits(name, k); d < distance {
			best, distance = k, d
		}
	}
	if best == "" { // the right key in the wrong section
		last := name[strings.LastIndexByte(name, '.')+1:]
		i := slices.IndexFunc(known, func(k string) bool { return strings.HasSuffix(k, "."+last) })
		if i >= 0 {
			best = known[i]
		}
	}
	return best
}

// edits is the Levenshtein distance.
func edits(a, b string) int {
	if len(a) > 200 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
