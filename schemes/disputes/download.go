package disputes

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"

	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
)

// Download is the answer of GET /document/{documentId} (S1 2.3).
type Download struct {
	Description string       `json:"description" wire:"nullable"`
	File        *FileInfo    `json:"file"`
	Filename    string       `json:"filename" wire:"nullable"`
	InputStream *InputStream `json:"inputStream"`
	Open        bool         `json:"open" wire:"nullable"`
	Readable    bool         `json:"readable" wire:"nullable"`
	URI         *URI         `json:"uri"`
	URL         *URL         `json:"url"`
}

// InputStream carries the bytes (ours: S1 shows no structure).
type InputStream struct {
	Encoding string `json:"encoding"` // base64
	Length   int64  `json:"length"`   // bytes
	Content  slot   `json:"content"`
}

// FileInfo describes the file: sizes in bytes.
type FileInfo struct {
	Absolute      bool   `json:"absolute" wire:"nullable"`
	AbsolutePath  string `json:"absolutePath" wire:"nullable"`
	CanonicalPath string `json:"canonicalPath" wire:"nullable"`
	Directory     bool   `json:"directory" wire:"nullable"`
	File          bool   `json:"file" wire:"nullable"`
	FreeSpace     int64  `json:"freeSpace" wire:"nullable"`
	Hidden        bool   `json:"hidden" wire:"nullable"`
	Name          string `json:"name" wire:"nullable"`
	Parent        string `json:"parent" wire:"nullable"`
	Path          string `json:"path" wire:"nullable"`
	TotalSpace    int64  `json:"totalSpace" wire:"nullable"`
	UsableSpace   int64  `json:"usableSpace" wire:"nullable"`
}

// URI is where the document is, in pieces.
type URI struct {
	Absolute              bool   `json:"absolute" wire:"nullable"`
	Authority             string `json:"authority" wire:"nullable"`
	Fragment              string `json:"fragment" wire:"nullable"`
	Host                  string `json:"host" wire:"nullable"`
	Opaque                bool   `json:"opaque" wire:"nullable"`
	Path                  string `json:"path" wire:"nullable"`
	Port                  int32  `json:"port" wire:"nullable"`
	Query                 string `json:"query" wire:"nullable"`
	RawAuthority          string `json:"rawAuthority" wire:"nullable"`
	RawFragment           string `json:"rawFragment" wire:"nullable"`
	RawPath               string `json:"rawPath" wire:"nullable"`
	RawQuery              string `json:"rawQuery" wire:"nullable"`
	RawSchemeSpecificPart string `json:"rawSchemeSpecificPart" wire:"nullable"`
	RawUserInfo           string `json:"rawUserInfo" wire:"nullable"`
	Scheme                string `json:"scheme" wire:"nullable"`
	SchemeSpecificPart    string `json:"schemeSpecificPart" wire:"nullable"`
	UserInfo              string `json:"userInfo" wire:"nullable"`
}

// URL is the same for older readers.
type URL struct {
	Authority   string    `json:"authority" wire:"nullable"`
	Content     *struct{} `json:"content"`
	DefaultPort int32     `json:"defaultPort" wire:"nullable"`
	File        string    `json:"file" wire:"nullable"`
	Host        string    `json:"host" wire:"nullable"`
	Path        string    `json:"path" wire:"nullable"`
	Port        int32     `json:"port" wire:"nullable"`
	Protocol    string    `json:"protocol" wire:"nullable"`
	Query       string    `json:"query" wire:"nullable"`
	Ref         string    `json:"ref" wire:"nullable"`
	UserInfo    string    `json:"userInfo" wire:"nullable"`
}

// download describes f, whose content follows apart. path is the route's: nothing of the server is told.
func download(f File, path string) Download {
	name := PlainName(f.Name)
	return Download{
		Description: f.Description, Filename: name, Readable: true,
		File:        &FileInfo{File: true, Name: name, Path: name, TotalSpace: f.Content.Size},
		InputStream: &InputStream{Encoding: "base64", Length: f.Content.Size, Content: slot{digest: f.Content.SHA256}},
		URI:         &URI{Path: path, Port: -1, RawPath: path, RawSchemeSpecificPart: path, SchemeSpecificPart: path},
		URL:         &URL{File: path, Path: path, Port: -1, DefaultPort: -1},
	}
}

// PlainName makes a plain file name of what another service calls one: what follows the last slash of either kind, printable,
// at most MaxID bytes; "document" where nothing is left.
func PlainName(s string) string {
	s = s[strings.LastIndexAny(s, `/\:`)+1:]
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\ufffd' || r >= 0x80 && r < 0xa0 || r == '\u2028' || r == '\u2029' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' {
			return -1
		}
		return r
	}, s)
	if s = strings.Trim(s, ". "); len(s) > MaxID {
		s = strings.ToValidUTF8(s[:MaxID], "")
	}
	if s == "" {
		return "document"
	}
	return s
}

// send answers with a document.
func send(w http.ResponseWriter, r *http.Request, o rest.Options, f File) {
	defer f.Close()
	var m *message
	text, err := json.Marshal(download(f, r.URL.EscapedPath()))
	if err == nil {
		m, err = compose(text, "content", []Binary{f.Content})
	}
	if err != nil {
		wire.WriteProblem(w, r, o.Log, wire.AsError(opDocument, err), nil)
		return
	}
	head := w.Header()
	head.Set("Content-Type", ContentType)
	head.Set("Content-Length", strconv.FormatInt(m.length, 10))
	head.Set("Cache-Control", "no-store")
	head.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusOK)
	body, err := m.open()
	if err == nil {
		_, err = io.Copy(w, body)
		_ = body.Close() // it was only read
	}
	if err != nil {
		if o.Log != nil {
			o.Log.Warn("document not sent", "op", opDocument, "err", err)
		}
		panic(http.ErrAbortHandler) // the length was promised: a shorter body must not look whole
	}
}

const opDocument = "disputes.document"
