package bracket

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/textproto"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"posagent/schemes/wire"
	"posagent/schemes/wire/spool"
)

// File is a file of a multipart form. Close it.
type File struct {
	Field       string // the pair's name
	Name        string // as its sender called it; never a path of ours
	ContentType string
	Size        int64
	SHA256      string // lower-case hex
	body        *os.File
}

// Open reads the file from its beginning; any number of readers work side by side, until Close.
func (f *File) Open() (io.ReadCloser, error) {
	return io.NopCloser(io.NewSectionReader(f.body, 0, f.Size)), nil
}

// Close gives the file's room back.
func (f *File) Close() error { return f.body.Close() }

// CloseAll closes every file.
func CloseAll(files []*File) {
	for _, f := range files {
		_ = f.Close() // it was read only, and its name is gone
	}
}

// ReadMultipart reads a multipart/form-data body. Files go to nameless files of dir ("" = the system's folder for such things)
// while they are read. The error is wire.Invalid or wire.TooLarge; wire.Internal where the disk fails.
func ReadMultipart(r *multipart.Reader, dir string, lim Limits) (f Form, files []*File, err error) {
	lim = lim.or()
	defer func() {
		if err != nil {
			CloseAll(files)
			files = nil
		}
	}()
	text, bytes := lim.Text, lim.Bytes
	for {
		part, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			return f, files, nil
		}
		if err != nil {
			return nil, files, broken(err)
		}
		name, file := part.FormName(), part.FileName()
		if name == "" || !utf8.ValidString(name) || len(part.Header) > 10 {
			return nil, files, wire.Errorf(wire.Invalid, "", "form: a part without a name")
		}
		if encoding := part.Header.Get("Content-Transfer-Encoding"); encoding != "" && encoding != "binary" && encoding != "8bit" && encoding != "7bit" {
			return nil, files, wire.Errorf(wire.Invalid, "", "form: an encoded part")
		}
		if !isFile(part.Header) {
			value, err := io.ReadAll(io.LimitReader(part, text-int64(len(name))+1))
			text -= int64(len(name) + len(value))
			switch {
			case err != nil:
				return nil, files, broken(err)
			case text < 0:
				return nil, files, wire.Errorf(wire.TooLarge, "", "form: texts above %d bytes", lim.Text)
			case !utf8.Valid(value):
				return nil, files, wire.Errorf(wire.Invalid, "", "form: not UTF-8")
			}
			if err := f.add(Pair{name, string(value)}, lim); err != nil {
				return nil, files, err
			}
			continue
		}
		switch {
		case len(files) >= lim.Files:
			return nil, files, wire.Errorf(wire.TooLarge, "", "form: more than %d files", lim.Files)
		case len(name) > lim.Name || len(file) > lim.Name || !wire.PlainText(file, lim.Name):
			return nil, files, wire.Errorf(wire.Invalid, "", "form: a file's name is too long, or has control characters")
		}
		one, err := keep(part, dir, bytes)
		if err != nil {
			return nil, files, err
		}
		one.Field, one.Name, one.ContentType = name, file, part.Header.Get("Content-Type")
		files, bytes = append(files, one), bytes-one.Size
	}
}

// isFile says whether a part calls itself a file; an empty file name counts.
func isFile(h textproto.MIMEHeader) bool {
	_, params, err := mime.ParseMediaType(h.Get("Content-Disposition"))
	_, named := params["filename"]
	return err == nil && named
}

// broken is why a body could not be read: its reader's own word, where it has one.
func broken(err error) error {
	if own := (*wire.Error)(nil); errors.As(err, &own) {
		return own
	}
	return &wire.Error{Code: wire.Invalid, Msg: "form: body not readable", Err: err}
}

func keep(r io.Reader, dir string, limit int64) (*File, error) {
	body, err, lost := spool.Keep(dir, "form-*", io.LimitReader(r, limit+1))
	switch {
	case lost != nil:
		return nil, &wire.Error{Code: wire.Internal, Err: fmt.Errorf("keep an attachment: %w", lost)}
	case err != nil:
		return nil, broken(err)
	case body.Size > limit:
		_ = body.Close()
		return nil, wire.Errorf(wire.TooLarge, "", "form: files above %d bytes", limit)
	}
	return &File{Size: body.Size, SHA256: body.SHA256, body: body.File}, nil
}

// Part is a file to be sent.
type Part struct {
	Field, Name, ContentType string
	Size                     int64
	Open                     func() (io.ReadCloser, error)
}

// WriteMultipart makes a multipart/form-data body of the form and then the parts: its content type, its length, and a function that
// gives it from its beginning. boundary is 1 to 70 letters and digits that stand nowhere in the parts.
func WriteMultipart(f Form, parts []Part, boundary string) (contentType string, length int64, body func() (io.ReadCloser, error)) {
	heads := make([]string, len(parts)+1) // before each part, and the end
	var b strings.Builder
	head := func(name, rest string) {
		b.WriteString("--" + boundary + "\r\nContent-Disposition: form-data; name=" + quote(name) + rest + "\r\n\r\n")
	}
	for _, p := range f {
		head(p.Name, "")
		b.WriteString(p.Value + "\r\n")
	}
	for i, p := range parts {
		kind := p.ContentType
		if kind == "" || !wire.PlainText(kind, 200) {
			kind = "application/octet-stream"
		}
		head(p.Field, "; filename="+quote(p.Name)+"\r\nContent-Type: "+kind)
		heads[i] = b.String()
		b.Reset()
		b.WriteString("\r\n")
		length += p.Size
	}
	b.WriteString("--" + boundary + "--\r\n")
	heads[len(parts)] = b.String()
	for _, h := range heads {
		length += int64(len(h))
	}
	return "multipart/form-data; boundary=" + boundary, length, func() (io.ReadCloser, error) {
		return &sender{heads: heads, parts: parts}, nil
	}
}

func quote(s string) string {
	return `"` + strings.NewReplacer("\\", "\\\\", `"`, `\"`, "\r", "%0D", "\n", "%0A").Replace(s) + `"`
}

// sender reads a multipart body: head, part, head, part, …, end. One file is open at a time.
type sender struct {
	heads []string
	parts []Part
	at    int // heads given so far
	head  *strings.Reader
	file  io.ReadCloser
	left  int64
}

// Read implements io.Reader.
func (s *sender) Read(p []byte) (int, error) {
	for {
		switch {
		case s.head != nil:
			if n, err := s.head.Read(p); !errors.Is(err, io.EOF) {
				return n, err
			}
			s.head = nil
		case s.file != nil:
			n, err := s.file.Read(p)
			if s.left -= int64(n); s.left < 0 || s.left > 0 && errors.Is(err, io.EOF) {
				return 0, errors.New("attachment " + strconv.Itoa(s.at) + " changed its size")
			}
			if errors.Is(err, io.EOF) {
				_ = s.file.Close() // it was only read
				s.file, err = nil, nil
			}
			if n > 0 || err != nil {
				return n, err
			}
		default:
			if s.at == len(s.heads) {
				return 0, io.EOF
			}
			s.head = strings.NewReader(s.heads[s.at])
			if s.at < len(s.parts) {
				file, err := s.parts[s.at].Open()
				if err != nil {
					return 0, fmt.Errorf("attachment %d: %w", s.at+1, err)
				}
				s.file, s.left = file, s.parts[s.at].Size
			}
			s.at++
		}
	}
}

// Close implements io.Closer.
func (s *sender) Close() error {
	s.at, s.head = len(s.heads), nil
	if s.file == nil {
		return nil
	}
	file := s.file
	s.file = nil
	return file.Close()
}
