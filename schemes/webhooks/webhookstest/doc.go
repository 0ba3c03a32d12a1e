// Package webhookstest proves a receiver of webhooks: Run is the conformance suite, Samples one good event of each kind,
// Strict a receiver as it is met in the field, which takes exactly the keys it knows.
//
// It must not import the backend or the inbox: it proves both.
package webhookstest
