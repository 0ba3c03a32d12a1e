package disputes

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
	"posagent/schemes/wire/spool"
)

// slot stands for a content in a JSON text: "#" and the number of its file when it is read, its digest when it is written.
type slot struct {
	number int
	digest string
}

// MarshalJSON implements json.Marshaler.
func (s slot) MarshalJSON() ([]byte, error) { return []byte(`"#` + s.digest + `"`), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *slot) UnmarshalText(text []byte) error {
	n, ok := bytes.CutPrefix(text, []byte("#"))
	if !ok {
		return errSlot
	}
	var err error
	s.number, err = strconv.Atoi(string(n))
	return err
}

var errSlot = errors.New("disputes: a content outside of its body")

// MarshalJSON writes the digest, which stands for the content where requests are compared.
func (b Binary) MarshalJSON() ([]byte, error) { return slot{digest: b.SHA256}.MarshalJSON() }

// UnmarshalText reads what split wrote; Size keeps the file's number until the content is put in its place.
func (b *Binary) UnmarshalText(text []byte) error {
	var s slot
	err := s.UnmarshalText(text)
	*b = Binary{Size: int64(s.number)}
	return err
}

// spooled is a content in a nameless file.
type spooled struct {
	Binary
	file *os.File
}

func closeAll(list []spooled) {
	for _, s := range list {
		if s.file != nil { // nil of one that was not readable
			_ = s.file.Close() // it was read only, and its name is gone
		}
	}
}

// splitter reads a JSON text and keeps the Base64 texts of one field apart, each in a file: what is left is small.
type splitter struct {
	from  *bufio.Reader
	dir   string // of the files; "" = the system's folder for such things
	field string
	depth int  // of the objects that have it
	most  int  // files
	named bool // a content that is not Base64 is named to whoever sent it, and does not end the reading

	text  []byte // what is left, with "#0", "#1" … in their places
	files []spooled
}

// split reads r to its end, at most limit bytes. Whether the text is good JSON is left to wire.Decode. The error is wire.Invalid,
// TooLarge, or Internal where the disk fails; no file is left behind then.
func (s *splitter) split(r io.Reader, limit int64) error {
	bounded := &io.LimitedReader{R: r, N: limit + 1}
	s.from = bufio.NewReaderSize(bounded, 32<<10)
	err := s.run()
	var above *http.MaxBytesError
	switch {
	case bounded.N == 0, errors.As(err, &above):
		err = wire.Errorf(wire.TooLarge, "", "body above %d bytes", limit)
	case err != nil && wire.CodeOf(err) == "":
		err = &wire.Error{Code: wire.Invalid, Msg: "body not readable", Err: err}
	}
	if err != nil {
		closeAll(s.files)
		s.files = nil
	}
	return err
}

func (s *splitter) run() error {
	var stack []byte
	key, wantKey := "", false
	for {
		c, err := s.from.ReadByte()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if c == '"' && !wantKey && key == s.field && len(stack) == s.depth && stack[len(stack)-1] == '{' {
			if err := s.take(); err != nil {
				return err
			}
			continue
		}
		s.text = append(s.text, c)
		switch c {
		case '{', '[':
			stack, key, wantKey = append(stack, c), "", c == '{'
		case '}', ']':
			if len(stack) > 0 {
				stack = stack[:len(stack)-1]
			}
			key, wantKey = "", false
		case ',':
			key, wantKey = "", len(stack) > 0 && stack[len(stack)-1] == '{'
		case '"':
			from := len(s.text) - 1
			if err := s.copy(); err != nil {
				return err
			}
			if wantKey {
				if wantKey = false; json.Unmarshal(s.text[from:], &key) != nil {
					key = ""
				}
			}
		}
		if len(s.text) > wire.MaxRequest || len(stack) > wire.MaxDepth {
			return wire.Errorf(wire.TooLarge, "", "body without its documents above %d bytes, or nested deeper than %d", wire.MaxRequest, wire.MaxDepth)
		}
	}
}

// copy takes the rest of a text over.
func (s *splitter) copy() error {
	for escaped := false; ; {
		c, err := s.from.ReadByte()
		if err != nil {
			return unended(err)
		}
		if s.text = append(s.text, c); len(s.text) > wire.MaxRequest {
			return wire.Errorf(wire.TooLarge, "", "body without its documents above %d bytes", wire.MaxRequest)
		}
		if c == '"' && !escaped {
			return nil
		}
		escaped = c == '\\' && !escaped
	}
}

// take keeps a content.
func (s *splitter) take() error {
	if len(s.files) == s.most {
		return wire.Errorf(wire.TooLarge, "", "more than %d documents", s.most)
	}
	sum := crc64.New(crc64.MakeTable(crc64.ECMA))
	raw := io.TeeReader(&quoted{from: s.from}, sum)
	body, err, lost := spool.Keep(s.dir, "document-*", base64.NewDecoder(base64.StdEncoding, raw))
	var corrupt base64.CorruptInputError
	switch {
	case lost != nil:
		return &wire.Error{Code: wire.Internal, Err: fmt.Errorf("keep a document: %w", lost)}
	case !s.named && (errors.As(err, &corrupt) || errors.Is(err, io.ErrUnexpectedEOF)):
		return wire.Errorf(wire.Invalid, "", "%s: not Base64", s.field)
	case errors.As(err, &corrupt), errors.Is(err, io.ErrUnexpectedEOF): // this document alone is refused; the next ones follow it
		if _, err := io.Copy(io.Discard, raw); err != nil {
			return err
		}
		s.text = append(s.text, `"#`+strconv.Itoa(len(s.files))+`"`...)
		s.files = append(s.files, spooled{Binary: unreadable(sum.Sum64())})
		return nil
	case err != nil:
		return err
	}
	b := Binary{Size: body.Size, SHA256: body.SHA256, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(body, 0, body.Size)), nil
	}}
	s.text = append(s.text, `"#`+strconv.Itoa(len(s.files))+`"`...)
	s.files = append(s.files, spooled{b, body.File})
	return nil
}

func unended(err error) error {
	if errors.Is(err, io.EOF) {
		return wire.Errorf(wire.Invalid, "", "body: ends in the middle of a string")
	}
	return err
}

// quoted reads a JSON text up to its closing quote. Of the escapes it knows what writers put into Base64: \/ and \u002B.
type quoted struct {
	from  *bufio.Reader
	ended bool
}

// Read implements io.Reader.
func (q *quoted) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) && !q.ended {
		c, err := q.from.ReadByte()
		if err == nil && c == '\\' {
			c, err = q.escape()
		} else if err == nil && c < ' ' {
			err = wire.Errorf(wire.Invalid, "", "body: an unescaped control character in a string")
		} else if c == '"' && err == nil {
			q.ended = true
			break
		}
		if err != nil {
			return n, unended(err)
		}
		p[n] = c
		n++
	}
	if n == 0 && q.ended {
		return 0, io.EOF
	}
	return n, nil
}

func (q *quoted) escape() (byte, error) {
	c, err := q.from.ReadByte()
	switch c {
	case '/':
		return c, err
	case 'n', 'r':
		return '\n', err // lines are for mail, and no part of the content
	case '"', '\\', 'b', 'f', 't':
		return noBase64, err
	case 'u':
		var four [4]byte
		if _, err = io.ReadFull(q.from, four[:]); err != nil {
			return 0, err
		}
		if v, bad := strconv.ParseUint(string(four[:]), 16, 16); bad == nil && v < 0x80 {
			return byte(v), nil
		} else if bad == nil {
			return noBase64, nil
		}
	}
	if err == nil {
		err = wire.Errorf(wire.Invalid, "", "body: no escape of a JSON string")
	}
	return 0, err
}

// noBase64 stands for a character of JSON that no Base64 has.
const noBase64 = '!'

// message is a JSON text with the contents in their places.
type message struct {
	texts  []string // before each content, and the rest
	list   []Binary
	length int64
}

// compose puts the contents of field into a text that has their digests.
func compose(text []byte, field string, list []Binary) (*message, error) {
	m := &message{list: list}
	rest := string(text)
	for _, b := range list {
		before, after, ok := cut(rest, `"`+field+`":"`, `#`+b.SHA256+`"`)
		if !ok || b.Open == nil {
			return nil, errSlot
		}
		if b.Unreadable {
			before += string(noBase64) // the service names it, too
		}
		m.texts, rest = append(m.texts, before), `"`+after
		m.length += int64(base64.StdEncoding.EncodedLen(int(b.Size)))
	}
	m.texts = append(m.texts, rest)
	for _, t := range m.texts {
		m.length += int64(len(t))
	}
	return m, nil
}

func cut(s, keep, drop string) (before, after string, ok bool) {
	if i := strings.Index(s, keep+drop); i >= 0 {
		return s[:i+len(keep)], s[i+len(keep)+len(drop):], true
	}
	return "", "", false
}

// open reads the message from its beginning.
func (m *message) open() (io.ReadCloser, error) { return &sender{m: m}, nil }

// sender reads a message: text, content, text, …; one content is open at a time.
type sender struct {
	m    *message
	at   int    // texts begun
	out  []byte // not read yet
	src  io.ReadCloser
	left int64
	in   []byte
	buf  []byte
}

// chunk is a multiple of three, so that only the last one is padded.
const chunk = 24 << 10

// Read implements io.Reader.
func (s *sender) Read(p []byte) (int, error) {
	for len(s.out) == 0 {
		switch {
		case s.left > 0:
			if s.in == nil {
				s.in = make([]byte, chunk)
			}
			n := int(min(s.left, chunk))
			if _, err := io.ReadFull(s.src, s.in[:n]); err != nil {
				return 0, fmt.Errorf("document %d is shorter than it was: %w", s.at, err)
			}
			s.left -= int64(n)
			s.buf = base64.StdEncoding.AppendEncode(s.buf[:0], s.in[:n])
			s.out = s.buf
		case s.src != nil:
			if err := s.Close(); err != nil {
				return 0, err
			}
		case s.at == len(s.m.texts):
			return 0, io.EOF
		default:
			s.out = []byte(s.m.texts[s.at])
			if s.at < len(s.m.list) {
				b := s.m.list[s.at]
				src, err := b.Open()
				if err != nil {
					return 0, fmt.Errorf("document %d: %w", s.at+1, err)
				}
				s.src, s.left = src, b.Size
			}
			s.at++
		}
	}
	n := copy(p, s.out)
	s.out = s.out[n:]
	return n, nil
}

// Close implements io.Closer.
func (s *sender) Close() error {
	src := s.src
	if s.src = nil; src == nil {
		return nil
	}
	return src.Close()
}

// keep reads a body with its documents, which go to nameless files until release is called. It refuses in an order that costs a
// bad request the least.
func keep(r *http.Request, o rest.Options, into any, documents *[]Document) (release func(), err error) {
	release = func() {}
	if _, err = wire.CheckJSON(r.Header.Get("Content-Type")); err == nil && r.ContentLength > MaxBody {
		err = wire.Errorf(wire.TooLarge, "", "body above %d bytes", MaxBody)
	}
	if err == nil {
		err = wire.Identity(r.Header)
	}
	s := splitter{dir: o.Dir, field: "documentBinary", depth: 3, most: maxFiles, named: true}
	if err == nil {
		err = s.split(r.Body, MaxBody)
	}
	if err == nil {
		err = wire.Decode(s.text, into)
	}
	if n, ok := into.(rest.Normalizer); ok && err == nil {
		err = n.Normal(o.Operator, s.text)
	}
	if err != nil {
		closeAll(s.files)
		return release, err
	}
	for i, d := range *documents { // each has the number of its file
		(*documents)[i].Binary = s.files[d.Binary.Size].Binary
	}
	return func() { closeAll(s.files) }, nil
}

// withDocuments makes a message of a request's text, or err of writing that.
func withDocuments(op string, text []byte, err error, documents []Document) (*message, error) {
	list := make([]Binary, len(documents))
	for i, d := range documents {
		list[i] = d.Binary
	}
	var m *message
	if err == nil {
		m, err = compose(text, "documentBinary", list)
	}
	if err != nil {
		return nil, &wire.Error{Code: wire.Invalid, Op: op, Msg: "request cannot be written"}
	}
	return m, nil
}
