package wiretest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"posagent/schemes/wire"
)

// Transcript is one exchange.
type Transcript struct {
	Name  string
	about string
	parts map[string]string
}

// Load reads the transcripts of every .txtar file of a folder, by their names; at least one must be there.
func Load(t testing.TB, dir string) (out []Transcript) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	require.NoError(t, err)
	for _, p := range paths {
		out = append(out, Read(t, p)...)
	}
	require.NotEmpty(t, out)
	slices.SortFunc(out, func(a, b Transcript) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Read reads the transcripts of a file: one request, and each answer to it.
func Read(t testing.TB, path string) (out []Transcript) {
	t.Helper()
	file, err := txtar.ParseFile(path)
	require.NoError(t, err)
	asked := map[string]string{}
	for _, part := range file.Files {
		name, about, answer := strings.Cut(part.Name, ": ")
		switch text := string(part.Data); {
		case answer:
			one := maps.Clone(asked)
			one["response"] = text
			out = append(out, Transcript{name, about, one})
		case name == "result":
			require.NotEmpty(t, out, "%s: a result before an answer", path)
			out[len(out)-1].parts[name] = text
		default:
			require.Empty(t, out, "%s: %s after an answer", path, name)
			asked[name] = text
		}
	}
	for _, tr := range out {
		require.Len(t, tr.parts, len(order), "%s: %s", path, tr.Name)
	}
	return out
}

// order is that of the parts in a transcript's text.
var order = [...]string{"call", "request", "response", "result"}

// Text is the transcript by itself, whatever file holds it.
func (tr Transcript) Text() string {
	text := tr.about + "\n"
	for _, part := range order {
		text += "-- " + part + " --\n" + tr.parts[part]
	}
	return text
}

// Call reads -- call -- into v.
func (tr Transcript) Call(t *testing.T, v any) { tr.json(t, "call", v) }

// Result reads -- result -- into v.
func (tr Transcript) Result(t *testing.T, v any) { tr.json(t, "result", v) }

func (tr Transcript) json(t *testing.T, part string, v any) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(tr.parts[part]))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(v), part)
}

// head and body of an exchange's part; the body loses its last line end unless it ends with a backslash.
func (tr Transcript) http(t *testing.T, part string) (head, body string) {
	t.Helper()
	head, body, ok := strings.Cut(tr.parts[part], "\n\n")
	require.True(t, ok, "%s: no empty line", part)
	return head, strings.TrimSuffix(body, "\n")
}

// Direct is a Doer that asks h without a network.
func Direct(h http.Handler) wire.Doer { return direct{h} }

type direct struct{ h http.Handler }

// Do implements wire.Doer.
func (d direct) Do(req *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	d.h.ServeHTTP(rec, req)
	return rec.Result(), nil
}

// BaseURL is where the transcripts' requests go.
const BaseURL = "http://gateway.example"

// Server is a Doer that compares the request it is sent with -- request --, byte for byte
// (User-Agent aside), and answers -- response --.
func (tr Transcript) Server(t *testing.T) *Server { return &Server{t: t, tr: tr} }

// Server answers one request.
type Server struct {
	t    *testing.T
	tr   Transcript
	Hits int
}

// Do implements wire.Doer.
func (s *Server) Do(req *http.Request) (*http.Response, error) {
	s.t.Helper()
	s.Hits++
	var buf bytes.Buffer
	require.NoError(s.t, req.Write(&buf))
	var sent []string
	for line := range strings.SplitSeq(strings.ReplaceAll(buf.String(), "\r\n", "\n"), "\n") {
		if !strings.HasPrefix(line, "User-Agent:") {
			sent = append(sent, line)
		}
	}
	head, body := s.tr.http(s.t, "request")
	require.Equal(s.t, head+"\n\n"+body, strings.Join(sent, "\n"))
	head, body = s.tr.http(s.t, "response")
	raw := strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n" + body
	return http.ReadResponse(bufio.NewReader(strings.NewReader(raw)), req)
}

// Serve sends -- request -- to h and compares its answer with -- response --: status, the headers named
// there, and the body byte for byte.
func (tr Transcript) Serve(t *testing.T, h http.Handler) {
	t.Helper()
	head, body := tr.http(t, "request")
	raw := strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n" + body
	req, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
	require.NoError(t, err)
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req.WithContext(t.Context()))
	head, body = tr.http(t, "response")
	want, err := http.ReadResponse(bufio.NewReader(strings.NewReader(strings.ReplaceAll(head, "\n", "\r\n")+"\r\n\r\n")), req)
	require.NoError(t, err)
	require.NoError(t, want.Body.Close())
	require.Equal(t, want.StatusCode, rec.Code, rec.Body.String())
	for name := range want.Header {
		require.Equal(t, want.Header.Values(name), rec.Header().Values(name), name)
	}
	require.Equal(t, body, rec.Body.String())
}
