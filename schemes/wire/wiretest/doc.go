// Package wiretest replays transcripts of one HTTP exchange against a Client alone and against a Handler
// alone, so that the two cannot agree on something the specification does not say.
//
// A transcript is a txtar file: -- call -- and -- result -- are JSON in words of the service's own test,
// -- request -- and -- response -- are HTTP with \n for line ends. It imports testify, schemes/wire
// and the standard library; it must not import a service.
package wiretest
