// Package decisions is the table of the decisions about money: which function decides, by which facts,
// where each fact stands, and what becomes of the decision when the world changes around it.
//
// Files: table.go says what a row is; sales.go, undos.go, writes.go, operations.go and books.go hold the rows;
// memory.go lists what the running program knows beside the journal. README.md is the same for reading.
//
// It guarantees, by its tests:
//   - Each decision has a cell for each change. A cell names tests that show it, or says why the change
//     cannot meet the decision.
//   - Each function, table, column, read of a service and setting that is named exists, and so does
//     each test.
//   - Each field of the running structs that changes while they run is listed in memory.go, with what
//     makes it harmless.
//   - README.md says what the table says. DECISIONS=write writes it anew.
//
// A new decision, fact or change is a row, a line or a column here first. It is data alone and imports
// nothing. It must not be imported by the program.
package decisions
