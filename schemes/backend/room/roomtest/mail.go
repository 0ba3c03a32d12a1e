package roomtest

import (
	"posagent/schemes/backend/deliver"
	"posagent/store"
)

type hooks = map[string][]deliver.Hook

// Mail is the Emitter of a room under test. It keeps what was registered and emitted.
type Mail struct {
	Hooks  map[string][]deliver.Hook // by subject
	Sent   []deliver.Message
	Broken error // what Emit answers; it keeps nothing then
}

// Take gives what was emitted since the last Take.
func (m *Mail) Take() []deliver.Message {
	sent := m.Sent
	m.Sent = nil
	return sent
}

// Check is deliver's.
func (m *Mail) Check(url string) error { return (&deliver.Deliver{}).Check(url) }

// Register keeps the hooks of a subject.
func (m *Mail) Register(_ store.Tx, subject string, list []deliver.Hook) error {
	m.Hooks[subject] = list
	return nil
}

// Emit keeps a message.
func (m *Mail) Emit(_ store.Tx, msg deliver.Message) (int, error) {
	if m.Broken == nil {
		m.Sent = append(m.Sent, msg)
	}
	return 1, m.Broken
}
