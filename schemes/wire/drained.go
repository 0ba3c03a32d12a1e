package wire

import (
	"io"
	"net/http"
	"time"
)

// Bounds of what is read after an answer.
const (
	drainFrom = 256 << 10 // bytes; net/http itself reads less than that
	drainMost = 32 << 20
	drainTime = 2 * time.Second
)

// Drained lets a client read an answer that comes before its large body was read, such as a refusal of its credentials: what it
// still sends is thrown away, within bounds. A connection that is closed on unread bytes is reset, and the reset takes the answer
// with it. It belongs around everything else that a server does.
func Drained(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := http.NewResponseController(w)
		small := r.ContentLength >= 0 && r.ContentLength <= drainFrom
		if small || r.Header.Get("Expect") != "" || c.EnableFullDuplex() != nil { // who expects 100 sends nothing after a refusal
			h.ServeHTTP(w, r)
			return
		}
		body := r.Body
		h.ServeHTTP(w, r)
		if c.Flush() == nil && c.SetReadDeadline(time.Now().Add(drainTime)) == nil {
			_, _ = io.CopyN(io.Discard, body, drainMost) // the answer has left; a client that sends more has had its time
		}
	})
}
