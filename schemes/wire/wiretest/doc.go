// Package wiretest replays transcripts of one HTTP exchange against a Client alone and against a Handler
// alone, so that the two cannot agree on something the specification does not say.
//
// A transcript is a call, its request on the wire, an answer to it and what the call comes to. A txtar file has all answers to one
// request: -- call -- and -- request -- once, then -- NAME: what the answer shows -- and -- result -- for each transcript. Calls and
// results are JSON, requests and answers are HTTP with \n for line ends. `make goldens` writes the lengths in requests, and the list
// of hashes by which cross/check knows each transcript. Service replays the transcripts of any service that is a table of rest.Endpoints, and proves what
// all such services have in common. FindsBugs proves that a conformance suite fails on each bug that it must find.
//
// A service has one transcript of each case. These make a case:
//   - a success in testdata/both: the operation, the status, the key, and which members the request
//     and the answer have;
//   - a refusal in testdata/both: its code and its reason;
//   - a reply in testdata/client: what is unusual about it, that is its status, its content type, its
//     encoding, the form of its body or one member. For a member the type of the answer counts, too.
//
// One engine reads and writes the refusals of all operations, so the operation is no part of those
// cases: any operation shows them. A write shows a reply that leaves its outcome unknown. A service
// keeps more than its cases where an operation has no other refusal, where a read comes to a code
// that no other read comes to, and where a transcript alone runs a branch of the code or alone fails
// when a rule is broken.
//
// It imports testify, txtar, schemes/wire, schemes/wire/rest and the standard library. It must not import a service.
package wiretest
