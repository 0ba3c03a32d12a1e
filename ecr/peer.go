package ecr

import "context"

// Peer is a register at the other end of a line.
type Peer struct {
	Line    string // Request.Line
	Address string // of its connection; "" = a serial line
}

type peerKey struct{}

// WithPeer returns a context for what a register asks for. A session gives it to each call of Desk,
// Till and Memory.
func WithPeer(ctx context.Context, p Peer) context.Context {
	return context.WithValue(ctx, peerKey{}, p)
}

// PeerOf returns the register that asks; ok is false where none does.
func PeerOf(ctx context.Context) (p Peer, ok bool) {
	p, ok = ctx.Value(peerKey{}).(Peer)
	return p, ok
}
