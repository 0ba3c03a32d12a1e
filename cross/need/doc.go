// Package need lets a test say what it needs: a tool of the machine, the level that runs it, or a limit to wait within.
//
// `make test` runs every test with -short and with Go alone; `make verify` runs them without it. A test says where it
// belongs, and what it waits for:
//
//	zbarimg := need.Tool(t, "zbarimg")           // skipped by make test; in make verify the tool's path
//	need.Verify(t, "starts a kernel")            // skipped by make test
//	sales := need.Size(20, 500)                  // the first in make test, the second in make verify
//	need.Until(t, "the line is free", free)      // fails after Limit and says what it waited for
//	answer := need.Receive(t, "an answer", ch)   // the same for a channel
//
// It guarantees:
//   - With -short, Tool and Verify skip the test, whatever is installed: make test is the same everywhere.
//   - Without it, a missing tool skips the test and appends a line to the file that NOT_RUN names (if set);
//     under REQUIRE_ALL=1 it fails the test. Both name the package to install.
//   - Limit grows with the load of the machine, which is measured once in a test binary.
//
// ClosedPort is an address where nobody listens.
//
// Only test files and the campaigns import this package. It must not import any other package of the module.
package need
