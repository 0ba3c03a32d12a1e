// Package doctor is the campaign that seeds one fault at a time into a terminal and asks
// `posagent doctor` for its name. It runs the built binary against a real backend on loopback.
//
// It guarantees that each expectation is written by hand beside its fault, and that an examination
// which names another id, or a second one, or takes ten seconds, fails. `make verify` plays the rows
// that are quick, `make doctor-bench` all of them. It must not import any room of the product.
package doctor
