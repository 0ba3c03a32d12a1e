package sqlite

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
)

// A journal from before the mark counts its starts and ends in itself and, in that order, in a file
// beside it.
const generationMagic = "posagent-generation-1 "

func generationPath(db string) string { return db + ".generation" }

// readGeneration answers -1 where there is no counter, or one that cannot be read.
func readGeneration(path string) (int64, error) {
	f, err := openBeside(path)
	if errors.Is(err, fs.ErrNotExist) {
		return -1, nil
	}
	if err != nil {
		return 0, fmt.Errorf("store: generation: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 1<<10))
	if err != nil {
		return 0, fmt.Errorf("store: generation: %w", err)
	}
	digits, ours := strings.CutPrefix(strings.TrimSuffix(string(text), "\n"), generationMagic)
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ours || err != nil || n < 0 {
		return -1, nil
	}
	return n, nil
}
