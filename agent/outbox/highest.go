package outbox

import (
	"fmt"

	"posagent/store"
)

// Highest is the highest number that an operation of the journal has or had; 0 = there was none.
func Highest(r store.Reader) (id int64, err error) {
	err = r.QueryRow(`SELECT MAX(COALESCE((SELECT MAX(id) FROM outbox_ops), 0), (SELECT purged_id FROM outbox_clock))`).Scan(&id)
	if err != nil {
		return 0, fmt.Errorf("highest operation: %w", err)
	}
	return id, nil
}
