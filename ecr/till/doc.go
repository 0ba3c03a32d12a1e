// Package till is the till's end of every protocol that a terminal speaks: a sale, the question how it
// ended, an abort, the sums. `posagent register`, `posagent torture`, the campaigns and the benchmarks
// ask through it.
//
// Files: till.go is the interface and the table; zvt.go, jsonl.go, ecr17.go, caisseap.go, nexo.go and
// http.go are a row each, and what stands beside one is how its messages go. place.go is where a terminal
// is, and which certificate it may have. What only registers of ZVT do is ecr/till/zvt's.
//
// It guarantees:
//   - An answer is one that was read whole. Without one, nothing is known of the sale.
//   - Settings and options print no secret.
//
// It is written from the descriptions of the protocols, so that a mistake of the terminal's is not
// repeated here. It must not import a dialogue of the terminal: it shares the codec of ZVT only.
package till
