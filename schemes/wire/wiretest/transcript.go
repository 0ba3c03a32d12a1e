package wiretest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire"
)

// Transcript is one exchange.
type Transcript struct {
	Name  string
	parts map[string]string
}

// Load reads every .txtar file of a folder; at least one must be there.
func Load(t *testing.T, dir string) []Transcript {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	var out []Transcript
	for _, p := range paths {
		data, err := os.ReadFile(p)
		require.NoError(t, err)
		out = append(out, Transcript{Name: strings.TrimSuffix(filepath.Base(p), ".txtar"), parts: split(string(data))})
	}
	return out
}

func split(text string) map[string]string {
	parts, name := map[string]string{}, ""
	for line := range strings.Lines(text) {
		if word, ok := strings.CutPrefix(line, "-- "); ok && strings.HasSuffix(strings.TrimSpace(line), " --") {
			name = strings.TrimSuffix(strings.TrimSpace(word), " --")
			parts[name] = ""
			continue
		}
		if name != "" {
			parts[name] += line
		}
	}
	return parts
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
