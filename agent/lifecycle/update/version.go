package update

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// newer reports whether version a comes after b: by the numbers with dots that both begin with, as 1.10.0 or 2026.11.23. It fails
// where one of them has none.
func newer(a, b string) (bool, error) {
	as, err := numbers(a)
	if err != nil {
		return false, err
	}
	bs, err := numbers(b)
	if err != nil {
		return false, err
	}
	for i := range max(len(as), len(bs)) {
		x, y := at(as, i), at(bs, i)
		if x != y {
			return x > y, nil
		}
	}
	return false, nil
}

func at(list []int64, i int) int64 {
	if i < len(list) {
		return list[i]
	}
	return 0
}

// numbers are those that a version begins with.
func numbers(version string) ([]int64, error) {
	head := strings.TrimPrefix(version, "v")
	if i := strings.IndexFunc(head, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }); i >= 0 {
		head = head[:i]
	}
	var list []int64
	for word := range strings.SplitSeq(strings.TrimSuffix(head, "."), ".") {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("the version %q does not begin with numbers and dots", version)
		}
		list = append(list, n)
	}
	return list, nil
}

// share is the part of all boxes, 0 to 99, to which a box belongs for a version. It is another one for each version, so that not the
// same shops are always the first.
func share(box, version string) int {
	sum := sha256.Sum256([]byte(box + "\n" + version))
	return int(binary.BigEndian.Uint64(sum[:8]) % 100)
}
