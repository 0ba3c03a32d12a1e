// Package offlinetest is both ends of the campaigns on local clients' writes: what clients write, and a small backend.
//
// It owns the stories: every kind that the operation table stores for local clients stands in one of them at least, with what
// depends on it, named by the id that its client was told. The bank is what a service of these contracts is: it honours Keys for
// payments, tokens and links, and none for what is done to a link or its transaction; an id that it has not given is unknown to it.
//
// It guarantees that a story is the same however often its writes are repeated, and that the bank tells of every effect once, as it
// happens, and can begin with those of another bank.
//
// It must not import anything but the contracts.
package offlinetest
