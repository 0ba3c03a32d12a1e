package roomtest

import (
	"posagent/schemes/backend/webhooks"
	"posagent/store"
)

type hooks = map[string][]webhooks.Hook

// Mail is the Emitter of a room under test. It keeps what was registered and emitted.
type Mail struct {
	Hooks  map[string][]webhooks.Hook // by subject
	Sent   []webhooks.Message
	Broken error // what Emit answers; it keeps nothing then
}

// Take gives what was emitted since the last Take.
func (m *Mail) Take() []webhooks.Message {
	sent := m.Sent
	m.Sent = nil
	return sent
}

// Check is deliver's.
func (m *Mail) Check(url string) error { return (&webhooks.Deliver{}).Check(url) }

// Register keeps the hooks of a subject.
func (m *Mail) Register(_ store.Tx, subject string, list []webhooks.Hook) error {
	m.Hooks[subject] = list
	return nil
}

// Emit keeps a message.
func (m *Mail) Emit(_ store.Tx, msg webhooks.Message) (int, error) {
	if m.Broken == nil {
		m.Sent = append(m.Sent, msg)
	}
	return 1, m.Broken
}
