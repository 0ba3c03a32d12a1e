package upstream

import (
	"crypto/tls"
	"strings"
	"sync"

	"posagent/device/names"
)

// Shared is what the clients of one terminal have in common, so that each service of a backend does not cost the same again: a token
// for each account, how names are found, and the TLS sessions. It is safe for concurrent use.
type Shared struct {
	names    names.Finder
	sessions tls.ClientSessionCache

	mu     sync.Mutex
	tokens map[string]*authorizer // by the token service's address, and the account there
}

// sessions is how many hosts' TLS sessions are kept: a terminal has a handful.
const sessions = 8

// NewShared makes an empty one.
func NewShared() *Shared {
	return &Shared{sessions: tls.NewLRUClientSessionCache(sessions), tokens: map[string]*authorizer{}}
}

// one gives the clients of an account at one token service one authorizer: they share its token, and how often it is asked for.
func (s *Shared) one(z *authorizer) *authorizer {
	if s == nil || z.tokenURL == "" {
		return z
	}
	account := strings.Join([]string{z.tokenURL, z.id.Reveal(), z.key.Reveal()}, "\x00")
	s.mu.Lock()
	defer s.mu.Unlock()
	if was := s.tokens[account]; was != nil {
		return was
	}
	s.tokens[account] = z
	return z
}
