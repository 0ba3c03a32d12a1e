package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A journal from before the mark counts its starts and ends in itself and, in that order, in a file beside it.
const generationMagic = "posagent-generation-1 "

func generationPath(db string) string { return db + ".generation" }

// readGeneration answers -1 where there is no counter, or one that cannot be read.
func readGeneration(path string) (int64, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return -1, nil
	}
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

// writeDurably replaces a small private file; after a power cut it is the old one or the new one.
func writeDurably(path string, data []byte) error {
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}
