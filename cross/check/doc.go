// Package check holds the tests of the house rules; it has no code of its own.
//
// It owns:
//   - The import table (table_test.go): which room may import which, and the one importer of each
//     third-party module, each row with its reason. A forbidden import fails, and so does a package
//     without a row.
//   - The rules of the three pure cores (checkout, zvt, books): no os, net or database/sql, and no
//     clock.
//   - The rules that a compiler does not know: a short doc.go everywhere, dated decisions, file
//     sizes, no init, no sleep outside a synctest bubble, no skipped test, no names like util, no
//     path of a developer's machine.
//   - The linked binary: the pinned libc version of the SQLite engine, dead-code elimination on,
//     one binary per target, and its size budget.
//   - The comparison of each service's testdata/fields.txt with the specification (fields_test.go),
//     if SPEC names its folder.
//
// An exception is a row with a reason. A row that is no longer needed fails too. The package must
// not import any room but cross/need.
package check
