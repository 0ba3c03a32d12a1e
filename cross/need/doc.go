// Package need lets a test say which tool of the machine it needs.
//
// A test asks for a program and returns if it is not installed:
//
//	zbarimg := need.Tool(t, "zbarimg")
//	if zbarimg == "" {
//		return
//	}
//
// It guarantees:
//   - An installed tool: its path is returned, and nothing else happens.
//   - A missing tool and REQUIRE_ALL=1: the test fails and names the package to install.
//   - A missing tool otherwise: the test logs what was not run, appends one line to the file that
//     POSAGENT_NOT_RUN names (if set), and gets "". `make test` prints those lines at its end. This
//     tree has no t.Skip.
//
// ClosedPort is an address where nobody listens.
//
// Only test files import this package. It must not import any other package of the module.
package need
