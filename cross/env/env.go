package env

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// Number returns what a variable says, a number from 1 on, or otherwise.
func Number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
		return n
	}
	return otherwise
}

// Seed returns SEED, or one that differs from run to run.
func Seed() uint64 { return uint64(Number("SEED", int(time.Now().UnixNano()&0xffffff))) }

// Report fails the test for the first few things that are wrong.
func Report(t testing.TB, seed uint64, wrong []string) {
	t.Helper()
	for _, w := range wrong[:min(5, len(wrong))] {
		t.Errorf("seed %d: %s", seed, w)
	}
}
