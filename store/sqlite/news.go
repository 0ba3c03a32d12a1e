package sqlite

import "sync"

// news tells those who wait of the next commit.
type news struct {
	mu   sync.Mutex
	next chan struct{} // nil = no reader waits
}

// Committed is closed by the next commit, once what it wrote can be read. Take it before reading:
// what is committed in between closes it too.
func (s *Store) Committed() <-chan struct{} {
	s.news.mu.Lock()
	defer s.news.mu.Unlock()
	if s.news.next == nil {
		s.news.next = make(chan struct{})
	}
	return s.news.next
}

// tell ends the wait.
func (n *news) tell() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.next != nil {
		close(n.next)
		n.next = nil
	}
}
