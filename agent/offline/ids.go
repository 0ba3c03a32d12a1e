package offline

import (
	"strings"

	"posagent/agent/outbox"
	"posagent/store"
)

// IDs gives the local id of the thing that an operation is about, and the backend's where it is known; "" where it is not about
// a thing of ours. What it reads is not verified: it is for showing only.
func IDs(r store.Reader, op outbox.Op) (local, backend string) {
	about, id, _ := strings.Cut(op.Aggregate, "/")
	if r.QueryRow(`SELECT local, backend FROM offline_things WHERE about = ? AND local = ?`, about, id).Scan(&local, &backend) != nil {
		return "", ""
	}
	return local, backend
}
