package nexo

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"posagent/ecr"
	"posagent/ecr/life"
	"posagent/ecr/socket"
)

// Limits of a connection.
const (
	maxHead      = 16 << 10
	headWithin   = 10 * time.Second // TLS, then a request's line and header
	bodyWithin   = 10 * time.Second
	idleWithin   = 2 * time.Minute // between two requests of a till that keeps its connection
	writeWithin  = 10 * time.Second
	ackWithin    = 5 * time.Second
	blankEvery   = 20 * time.Second // tills give up after 30 s without a byte
	stampSize    = 9
	kindMessage  = 'M' // a message in clear, as it came or decrypted
	kindStranger = 'X' // its encryption is not right: ServiceID, then what key it named
)

// What the dialogue sends begins with the status of the response, or with one of these.
const (
	accepted = "102" // the request is accepted: keep the till waiting
	hangUp   = "000" // no answer can be given: end the connection
)

// link is the HTTP server of one connection. It hands one request at a time to the dialogue.
type link struct {
	life.Life
	conn net.Conn // decrypted
	raw  net.Conn
	in   *bufio.Reader
	keys []*derived
	slow bool // blanks keep the till waiting
	old  bool // the request is HTTP/1.0, as of a proxy that was told nothing else: it takes no chunks

	answered chan struct{} // one token for each answer

	send   sync.Mutex
	open   bool     // a request waits for its answer; under send
	begun  bool     // its response has begun
	key    *derived // of the request
	last   bool     // the till wants the connection closed
	blanks *time.Timer
}

func serve(conn net.Conn, o *shared) *link {
	l := &link{conn: conn, raw: conn, keys: o.keys, slow: o.KeepAlive, answered: make(chan struct{}, 1)}
	if o.TLS != nil {
		l.conn = tls.Server(conn, o.TLS)
	}
	l.in = bufio.NewReaderSize(l.conn, maxHead)
	l.Begin(conn, 0)
	l.Go(l.read)
	return l
}

// read takes requests until the connection is gone.
func (l *link) read() {
	err := l.greet()
	for {
		if err == nil {
			err = l.request()
		}
		if err != nil {
			l.send.Lock() // an answer on its way finds out itself what becomes of it
			if l.blanks != nil {
				l.blanks.Stop()
			}
			_ = l.End(err)
			l.send.Unlock()
			return
		}
	}
}

// greet opens TLS, where the line has it.
func (l *link) greet() error {
	secure, ok := l.conn.(*tls.Conn)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(l.Done, headWithin)
	defer cancel()
	return secure.HandshakeContext(ctx)
}

// request takes one request, and returns when the next may be taken.
func (l *link) request() error {
	_ = l.conn.SetReadDeadline(time.Now().Add(idleWithin))
	begin, err := l.in.Peek(1)
	if err != nil {
		return err
	}
	if begin[0] < 'A' || begin[0] > 'Z' {
		return ecr.ErrStrange
	}
	_ = l.conn.SetReadDeadline(time.Now().Add(headWithin))
	head, err := l.head()
	if err != nil {
		return err
	}
	twice := count(head, "content-length:")+count(head, "transfer-encoding:") > 1
	req, err := http.ReadRequest(l.in)
	if err != nil || twice {
		return l.refuse(http.StatusBadRequest, "not a request")
	}
	if status, why := screen(req); status != 0 {
		if req.Header.Get("Expect") == "" { // closing on bytes that were not read would take the answer back
			_ = l.conn.SetReadDeadline(time.Now().Add(bodyWithin))
			_, _ = io.CopyN(io.Discard, req.Body, maxBody)
		}
		return l.refuse(status, why)
	}
	_ = l.conn.SetReadDeadline(time.Now().Add(bodyWithin))
	if strings.EqualFold(req.Header.Get("Expect"), "100-continue") {
		if err := l.write("HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
			return err
		}
	}
	body, err := io.ReadAll(io.LimitReader(req.Body, maxBody+1))
	switch {
	case err != nil:
		return fmt.Errorf("body: %w", err)
	case len(body) > maxBody:
		return l.refuse(http.StatusRequestEntityTooLarge, "the body is too large")
	}
	if hungUp(l.raw) { // a till that has hung up asks again: what it does not wait for is not begun
		return io.ErrUnexpectedEOF
	}
	data, key := l.judge(body)
	l.send.Lock()
	l.open, l.begun, l.key, l.last, l.old = true, false, key, req.Close, !req.ProtoAtLeast(1, 1)
	l.send.Unlock()
	_ = l.conn.SetReadDeadline(time.Time{})
	select {
	case l.Came <- data:
	case <-l.Done.Done():
		return context.Cause(l.Done)
	}
	if _, err := l.in.Peek(1); err != nil { // the till hangs up, or goes on
		return err
	}
	select {
	case <-l.answered:
		return nil
	case <-l.Done.Done():
		return context.Cause(l.Done)
	}
}

// head waits for the end of a request's header and returns it. It stays in the buffer.
func (l *link) head() ([]byte, error) {
	for {
		seen, _ := l.in.Peek(l.in.Buffered())
		if n := bytes.Index(seen, []byte("\r\n\r\n")); n >= 0 {
			return bytes.ToLower(seen[:n]), nil
		}
		if len(seen) == maxHead {
			return nil, l.refuse(http.StatusRequestHeaderFieldsTooLarge, "the header is too large")
		}
		if _, err := l.in.Peek(len(seen) + 1); err != nil {
			return nil, err
		}
	}
}

func count(head []byte, name string) int { return bytes.Count(head, []byte("\n"+name)) }

// screen says why a request is none of a till; 0 = it is one. A browser adds Origin, Referer or
// Sec-Fetch-* to whatever a page makes it send.
func screen(req *http.Request) (status int, why string) {
	for name := range req.Header {
		if name == "Origin" || name == "Referer" || strings.HasPrefix(name, "Sec-Fetch-") {
			return http.StatusForbidden, "a web page may not ask"
		}
	}
	kind, _, _ := strings.Cut(req.Header.Get("Content-Type"), ";")
	switch {
	case req.RequestURI != "/nexo" && req.RequestURI != "/nexo/":
		return http.StatusNotFound, "the path is /nexo/"
	case req.Method != http.MethodPost:
		return http.StatusMethodNotAllowed, "POST only"
	case len(req.Header["Content-Type"]) != 1 || !strings.EqualFold(strings.TrimSpace(kind), "application/json"):
		return http.StatusUnsupportedMediaType, "application/json only"
	case req.Header.Get("Content-Encoding") != "" || req.ProtoMajor != 1:
		return http.StatusBadRequest, "HTTP/1.1 or 1.0 without an encoding only"
	}
	return 0, ""
}

// refuse answers what is no request of a till, and returns the error that ends the connection.
func (l *link) refuse(status int, why string) error {
	_ = l.write(response(status, ascii(object{"errors": []any{why}}), true))
	return fmt.Errorf("status %d: %s", status, why)
}

// judge is what the dialogue is handed of a body, and the key of its answer.
func (l *link) judge(body []byte) ([]byte, *derived) {
	stamp := make([]byte, stampSize, stampSize+len(body))
	stamp[0] = kindMessage
	binary.BigEndian.PutUint64(stamp[1:], uint64(time.Now().UnixMilli()))
	envelope, err := parse(body)
	if len(l.keys) == 0 || err != nil || objectAt(envelope, "SaleToPOIRequest") == nil {
		return append(stamp, body...), nil
	}
	key, plain, _ := open(l.keys, envelope)
	if key == nil {
		stamp[0] = kindStranger
		return append(stamp, named(envelope)...), nil
	}
	return append(stamp, plain...), key
}

// Send implements ecr.Transport. nil: TCP has acknowledged the last byte, and the till had not hung
// up before.
func (l *link) Send(ctx context.Context, data []byte) error {
	release := context.AfterFunc(ctx, func() { _ = l.End(ctx.Err()) })
	defer release()
	l.send.Lock()
	defer l.send.Unlock()
	if l.Done.Err() != nil {
		return context.Cause(l.Done)
	}
	if !l.open || len(data) < len(accepted) {
		return errors.New("no request waits for an answer")
	}
	status, body := string(data[:len(accepted)]), data[len(accepted):]
	switch status {
	case hangUp:
		return l.End(errors.New("no answer can be given"))
	case accepted:
		return l.wait()
	}
	if l.blanks != nil {
		l.blanks.Stop()
	}
	if hungUp(l.raw) {
		return l.End(io.ErrUnexpectedEOF)
	}
	code := http.StatusOK
	_, _ = fmt.Sscan(status, &code)
	if l.key != nil && len(body) > 0 && code == http.StatusOK {
		sealed, err := seal(l.key, body)
		if err != nil {
			return l.End(err)
		}
		body = sealed
	}
	text := response(code, body, l.last)
	if l.begun {
		text = chunk(string(body)) + "0\r\n\r\n"
	}
	if err := l.write(text); err != nil {
		return l.End(err)
	}
	if err := socket.Acknowledged(ctx, l.raw, ackWithin); err != nil {
		return l.End(err)
	}
	l.open = false
	if l.last {
		if secure, ok := l.conn.(*tls.Conn); ok {
			_ = secure.CloseWrite()
		}
		_ = l.End(nil)
		return nil
	}
	_ = l.conn.SetReadDeadline(time.Now().Add(idleWithin))
	l.answered <- struct{}{}
	return nil
}

// hungUp says that the till has ended its side of a connection, or all of it.
func hungUp(conn net.Conn) bool {
	s, is := socket.Look(conn)
	return is && !s.Open
}

// wait begins a response whose end comes later, with send held. Blanks before a JSON text mean
// nothing.
func (l *link) wait() error {
	if !l.slow || l.begun || l.old {
		return nil
	}
	l.begun = true
	head := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCache-Control: no-store\r\nTransfer-Encoding: chunked\r\n"
	if l.last {
		head += "Connection: close\r\n"
	}
	if err := l.write(head + "\r\n" + chunk(" ")); err != nil {
		return l.End(err)
	}
	l.blanks = time.AfterFunc(blankEvery, l.blank)
	return nil
}

func (l *link) blank() {
	l.send.Lock()
	defer l.send.Unlock()
	if !l.open || !l.begun || l.Done.Err() != nil {
		return
	}
	if err := l.write(chunk(" ")); err != nil {
		_ = l.End(err)
		return
	}
	l.blanks.Reset(blankEvery)
}

func (l *link) write(text string) error {
	_ = l.conn.SetWriteDeadline(time.Now().Add(writeWithin))
	_, err := io.WriteString(l.conn, text)
	return err
}

func chunk(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

// response writes a whole response.
func response(status int, body []byte, last bool) string {
	head := fmt.Sprintf("HTTP/1.1 %d %s\r\nCache-Control: no-store\r\nContent-Length: %d\r\n", status, http.StatusText(status), len(body))
	if len(body) > 0 {
		head += "Content-Type: application/json\r\n"
	}
	if last {
		head += "Connection: close\r\n"
	}
	return head + "\r\n" + string(body)
}
