// Package wiretest replays transcripts of one HTTP exchange against a Client alone and against a Handler
// alone, so that the two cannot agree on something the specification does not say.
//
// A transcript is a txtar file: -- call -- and -- result -- are JSON, -- request -- and -- response -- are HTTP with \n for
// line ends. Service replays the transcripts of any service that is a table of rest.Endpoints, and proves what
// all such services have in common. FindsBugs proves that a conformance suite fails on each bug that it must find.
//
// It imports testify, schemes/wire, schemes/wire/rest and the standard library. It must not import a service.
package wiretest
