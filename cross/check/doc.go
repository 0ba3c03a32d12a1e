// Package check holds the tests that keep the house in order; it has no code of its own.
//
// It owns five things:
//
//   - the import table (table_test.go): which room may import which, and which room alone imports a third-party module, each row
//     with its reason. A forbidden import fails, a package without a row fails, and so does a row that no longer matches;
//   - the rules of the three COREs: no os, net, database/sql, and no clock of their own;
//   - house rules that a compiler does not know: doc.go everywhere, file sizes, no init, no sleep outside a synctest bubble, no skipped
//     test, no names like util, no path of somebody's machine;
//   - what the linker makes of it: the libc pin of the SQLite engine, nothing that switches off dead-code elimination, and the size budget;
//   - the comparison of each service's testdata/fields.txt with the specification (fields_test.go), where the folder SPEC names it.
//
// Exceptions are rows with a reason, and a row that is no longer needed fails too. The package imports no other room but cross/need.
package check
