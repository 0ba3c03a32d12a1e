package sqlite

import "sync"

// news tells those who wait of the next commit.
type news struct {
	mu   sync.Mutex
	next chan struct{} // nil = no reader waits
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
