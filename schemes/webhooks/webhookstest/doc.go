// Package webhookstest tests receivers of webhooks: Run is the conformance suite, Samples returns
// one good event of each kind, and Strict is a receiver as found in the field, which takes exactly
// the keys it knows.
//
// It must not import the backend or the inbox: it tests both.
package webhookstest
