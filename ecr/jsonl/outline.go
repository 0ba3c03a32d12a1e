package jsonl

import (
	"encoding/json"
	"slices"

	"posagent/ecr"
)

// Ours reports whether a message is one of the terminal's own: a cable that is plugged into itself
// brings them back.
func Ours(data []byte) bool {
	var m map[string]json.RawMessage
	if json.Unmarshal(data, &m) != nil || m["op"] != nil {
		return false
	}
	for _, key := range []string{"accepted", "step", "outcome", "acknowledged", "abort", "hello", "status", "totals", "notice", "error"} {
		if m[key] != nil {
			return true
		}
	}
	return false
}

// Outline names a message, with its outcome. It tells nothing else that the message carries.
func Outline(data []byte) string {
	var m struct {
		Op, Outcome, Abort           string
		Accepted, Acknowledged       bool
		Hello, Status, Totals, Error json.RawMessage
		Step                         string
		Notice                       string
	}
	if json.Unmarshal(data, &m) != nil {
		return "not understood"
	}
	results := []ecr.Result{ecr.Approved, ecr.Declined, ecr.Aborted, ecr.InProgress, refused, notFound}
	switch {
	case slices.Contains(opNames[:], m.Op):
		return m.Op
	case slices.Contains(results, ecr.Result(m.Outcome)):
		return "outcome " + m.Outcome
	case m.Accepted:
		return "accepted"
	case m.Acknowledged:
		return "acknowledged"
	case m.Abort == "accepted" || m.Abort == "too_late":
		return "abort " + m.Abort
	case m.Error != nil:
		return "error"
	case m.Totals != nil:
		return "totals"
	case m.Hello != nil:
		return "hello"
	case m.Status != nil:
		return "status"
	case m.Step != "":
		return "progress"
	case m.Notice != "":
		return "notice"
	}
	return "not understood"
}
