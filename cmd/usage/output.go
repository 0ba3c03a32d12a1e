package usage

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"syscall"
	"time"
)

// Output remembers that output was lost, so that a full disk is not an exit 0.
type Output struct {
	To      io.Writer
	Err     error // of the first write that failed for another reason than a reader who has read enough
	Written bool  // something was printed
	JSON    bool  // the verb was asked for JSON, and has some
}

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	o.Written = true
	n, err := o.To.Write(p)
	if err != nil && !errors.Is(err, syscall.EPIPE) {
		o.Err = err
	}
	return n, err
}

// PrintJSON writes v indented, one document.
func PrintJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// PrintReply writes what a backend has replied as a document of this program's. It fails where the reply is no object.
func PrintReply(w io.Writer, schema string, reply []byte) error {
	var v map[string]json.RawMessage
	if err := json.Unmarshal(reply, &v); err != nil || v == nil {
		return Fail(ExitFailed, "the backend's answer is not JSON: %v", err)
	}
	v["schema"] = json.RawMessage(strconv.Quote(schema))
	return PrintJSON(w, v)
}

// LocalTime writes a moment of RFC 3339 for people here; what is none stays as it is.
func LocalTime(s string) string {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return s
	}
	return t.Local().Format(time.DateTime)
}
