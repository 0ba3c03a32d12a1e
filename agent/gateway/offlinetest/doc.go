// Package offlinetest has both ends of the campaigns on local clients' writes: the clients'
// writes, and a small backend, the bank.
//
// It owns the stories. Each is a sequence of writes with the writes that depend on them, named by
// the ids that the client was told. Every kind that the operation table stores for local clients
// is in at least one story. The bank honours idempotency keys for payments, tokens and links, and
// none for an action on a link or its transaction. It does not know an id that it has not given.
//
// It guarantees that a story is the same however often its writes are repeated. The bank reports
// each effect once, as it happens, and can begin with the effects of another bank.
//
// payments.go, tokens.go and links.go each have the stories of a service, its writes and the bank's
// side of it; stories.go and bank.go join them.
//
// It must not import anything but the contracts.
package offlinetest
