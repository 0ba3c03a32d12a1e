package zvt

import (
	"fmt"
	"strings"

	"posagent/ecr/zvt/apdu"
)

// mostFields is how many fields of a message an outline names. No message of the field has more.
const mostFields = 16

// Outline names a message, how it ended, and which fields it has. It tells no value of a field, no
// password and no text.
func Outline(data []byte) string {
	m, err := apdu.Decode(data)
	if err != nil {
		return strings.TrimSpace(fmt.Sprintf("% X not understood", data[:min(len(data), 2)]))
	}
	text := m.Cmd.String() + " " + m.Cmd.Name()
	if m.Cmd.IsOK() {
		text = m.Cmd.String() + " " + apdu.Ack.Name()
	}
	if code, ok := m.Result(); ok {
		text += fmt.Sprintf(", result %02X %s", code, apdu.ResultName(code))
	} else if m.Cmd.IsReply() && !m.Cmd.IsOK() {
		text += ", " + apdu.ResultName(m.Cmd.Code())
	}
	if status, _, ok := m.IntermediateStatus(); ok {
		text += fmt.Sprintf(", status %02X %s", status, apdu.StatusName(status))
	}
	if len(m.Fields) > 0 {
		text += ", fields"
		for _, f := range m.Fields[:min(len(m.Fields), mostFields)] {
			text += fmt.Sprintf(" %02X", f.BMP)
		}
	}
	return strings.TrimSpace(text)
}
