package salesapi_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// TestMain lets the tests run side by side: they wait for one another's seconds far more than they compute. A -parallel of the command
// line counts.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "8"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(m.Run())
}
