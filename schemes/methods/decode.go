package methods

import (
	"bytes"
	"encoding/json"
	"fmt"

	"posagent/schemes/wire"
)

// MaxDefinitions is how many definitions of one list are read; the rest is reported as a problem.
const MaxDefinitions = 1000

// DecodeList reads a method list: an array of definitions, or one definition. Items that cannot be read
// are left out and returned as problems; err is set when the text is no list or when no item of
// a non-empty one could be read.
func DecodeList(data []byte) (defs []Definition, problems []error, err error) {
	if err := wire.Check(data); err != nil {
		return nil, nil, err
	}
	var items []json.RawMessage // never begins as data itself: Unmarshal would write into it
	switch bytes.TrimLeft(data, " \t\r\n")[0] {
	case '[':
		if err := json.Unmarshal(data, &items); err != nil {
			return nil, nil, fmt.Errorf("method list: %w", err)
		}
	case '{':
		items = []json.RawMessage{data}
	default:
		return nil, nil, &wire.FieldError{Reason: "an array or an object is wanted", Code: wire.Invalid}
	}
	defs = []Definition{}
	for i, item := range items {
		if i == MaxDefinitions {
			problems = append(problems, fmt.Errorf("%d definitions, only the first %d are read", len(items), MaxDefinitions))
			break
		}
		var d Definition
		if err := wire.Decode(item, &d); err != nil {
			problems = append(problems, fmt.Errorf("definition %d: %w", i, err))
			continue
		}
		defs = append(defs, d)
	}
	if len(defs) == 0 && len(items) > 0 {
		return nil, problems, fmt.Errorf("none of %d definitions could be read: %w", len(items), problems[0])
	}
	return defs, problems, nil
}
