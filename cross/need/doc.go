// Package need lets a test say which tool of the machine it needs.
//
// A test that needs a program asks for it and ends early when it is not there:
//
//	zbarimg := need.Tool(t, "zbarimg")
//	if zbarimg == "" {
//		return
//	}
//
// Guarantees:
//
//   - the tool is there: its path is returned, nothing else happens;
//   - it is not there and REQUIRE_ALL=1: the test fails, naming the package to install;
//   - it is not there otherwise: the test logs what was not run, appends one line to the file named by
//     POSAGENT_NOT_RUN (when set) and gets "". `make test` prints those lines at its end, so that a part which did
//     not run is always seen. There is no t.Skip in this tree.
//
// Only test files import this package. It must not import any other package of the module.
package need
