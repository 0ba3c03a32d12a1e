package wire_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire"
)

func TestReadBody(t *testing.T) {
	post := func(body io.Reader, header ...string) *http.Request {
		r := httptest.NewRequest(http.MethodPost, "/", body)
		for i := 0; i < len(header); i += 2 {
			r.Header.Add(header[i], header[i+1])
		}
		return r
	}
	unsized := func(n int) io.Reader { return io.MultiReader(strings.NewReader(strings.Repeat("x", n))) }

	data, err := wire.ReadBody(post(unsized(wire.MaxRequest)), 0)
	require.NoError(t, err)
	require.Len(t, data, wire.MaxRequest)
	data, err = wire.ReadBody(post(strings.NewReader("{}"), "Content-Encoding", "identity"), 0)
	require.NoError(t, err)
	require.Equal(t, "{}", string(data))
	data, err = wire.ReadBody(&http.Request{}, 0)
	require.NoError(t, err)
	require.Empty(t, data)

	for name, c := range map[string]struct {
		r    *http.Request
		code wire.Code
	}{
		"one byte too long":     {post(unsized(wire.MaxRequest + 1)), wire.TooLarge},
		"announced as too long": {post(strings.NewReader(strings.Repeat("x", wire.MaxRequest+1))), wire.TooLarge},
		"gzip":                  {post(unsized(1), "Content-Encoding", "gzip"), wire.Invalid},
		"nested gzip":           {post(unsized(1), "Content-Encoding", "identity", "Content-Encoding", "GZIP, gzip"), wire.Invalid},
		"brotli":                {post(unsized(1), "Content-Encoding", "br"), wire.Invalid},
		"broken off":            {post(io.MultiReader(unsized(5), &broken{})), wire.Invalid},
	} {
		_, err := wire.ReadBody(c.r, 0)
		require.Equal(t, c.code, wire.CodeOf(err), "%s: %v", name, err)
	}
	limited := post(unsized(100))
	limited.Body = http.MaxBytesReader(httptest.NewRecorder(), limited.Body, 10)
	_, err = wire.ReadBody(limited, 1000)
	require.Equal(t, wire.TooLarge, wire.CodeOf(err))
}

type broken struct{}

func (*broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestCheckJSON(t *testing.T) {
	for value, version := range map[string]string{
		"application/json": "", "Application/JSON; Charset=UTF-8": "", "application/json;charset=utf-8;version=2.0": "2.0",
		`application/json; charset="utf-8"; version="1.0"`: "1.0", "application/problem+json": "",
	} {
		params, err := wire.CheckJSON(value)
		require.NoError(t, err, value)
		require.Equal(t, version, params["version"])
	}
	for _, value := range []string{"", "text/plain", "text/json", "application/jsonx", "json", "application/json;charset=utf-16",
		"application/json;charset=iso-8859-1", "application/x-www-form-urlencoded", "application/json;version", "multipart/form-data; boundary=x"} {
		_, err := wire.CheckJSON(value)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), value)
	}
}

func TestWriteJSON(t *testing.T) {
	rec := httptest.NewRecorder()
	require.NoError(t, wire.WriteJSON(rec, 202, "application/json", map[string]int{"a": 1}))
	require.Equal(t, 202, rec.Code)
	require.Equal(t, `{"a":1}`, rec.Body.String())
	require.Equal(t, "7", rec.Header().Get("Content-Length"))
	require.Equal(t, "no-store", rec.Header().Get("Cache-Control"))
	rec = httptest.NewRecorder()
	require.Error(t, wire.WriteJSON(rec, 200, "application/json", math.NaN()))
	require.Equal(t, 500, rec.Code)
	require.Empty(t, rec.Body.String())
}

func TestKeys(t *testing.T) {
	a, b := wire.NewKey(), wire.NewKey()
	require.NotEqual(t, a, b)
	require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, string(a))
	require.Less(t, a, b, "ordered by time")
	h := http.Header{}
	k, err := wire.KeyFrom(h)
	require.NoError(t, err)
	require.Empty(t, k)
	for _, good := range []string{"a", strings.Repeat("k", 64), "!~", string(a)} {
		h.Set(wire.KeyHeader, good)
		k, err = wire.KeyFrom(h)
		require.NoError(t, err)
		require.Equal(t, wire.Key(good), k)
	}
	for _, bad := range []string{"", strings.Repeat("k", 65), strings.Repeat("k", 10_000), "a b", " ", "a\x00", "é", "e\u0301", "a\x7f", "a\tb"} {
		h.Set(wire.KeyHeader, bad)
		_, err = wire.KeyFrom(h)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%q", bad)
		require.ErrorIs(t, err, wire.ErrKey)
	}
	h.Set(wire.KeyHeader, "a")
	h.Add(wire.KeyHeader, "a")
	_, err = wire.KeyFrom(h)
	require.Equal(t, wire.Invalid, wire.CodeOf(err))
}

func TestRetryAfter(t *testing.T) {
	const now = "Sat, 21 Nov 2026 10:00:00 GMT"
	for _, c := range []struct {
		value, date string
		want        time.Duration
	}{
		{"", "", 0}, {"0", "", 0}, {"2", "", 2 * time.Second}, {" 2 ", "", 2 * time.Second}, {"300", "", 5 * time.Minute}, {"301", "", 5 * time.Minute},
		{"18446744073709551615", "", 5 * time.Minute}, {"1" + strings.Repeat("0", 400), "", 5 * time.Minute},
		{"-1", "", 0}, {"1.5", "", 0}, {"soon", now, 0}, {"0x10", "", 0},
		{"Sat, 21 Nov 2026 10:00:09 GMT", now, 9 * time.Second},
		{"Sat, 21 Nov 2026 09:00:00 GMT", now, 0},
		{"Sat, 21 Nov 2099 09:00:00 GMT", now, 5 * time.Minute},
		{"Sat, 21 Nov 2026 10:00:09 GMT", "", 0},
		{"Sat, 21 Nov 2026 10:00:09 GMT", "yesterday", 0},
	} {
		h := http.Header{}
		h.Set("Retry-After", c.value)
		h.Set("Date", c.date)
		require.Equal(t, c.want, wire.RetryAfter(h), "%q %q", c.value, c.date)
	}
}

func TestEveryCodeHasOneStatus(t *testing.T) {
	seen := map[int]wire.Code{}
	for _, c := range wire.Codes() {
		require.Empty(t, seen[c.Status()], "%s shares its status", c)
		seen[c.Status()] = c
		require.GreaterOrEqual(t, c.Status(), 400)
	}
	require.Len(t, seen, 12)
	require.Equal(t, 500, wire.Code("new").Status())
}

// lost is an error of a store that does not know what became of a commit.
type lost struct{}

func (lost) Error() string        { return "lost" }
func (lost) UnknownOutcome() bool { return true }

func TestAsError(t *testing.T) {
	require.Nil(t, wire.AsError("op", nil))
	own := &wire.Error{Code: wire.Conflict, Msg: "m", Err: io.EOF}
	got := wire.AsError("op", fmt.Errorf("wrapped: %w", own))
	require.Equal(t, &wire.Error{Code: wire.Conflict, Op: "op", Msg: "m", Err: io.EOF}, got)
	require.Empty(t, own.Op, "a copy")
	require.Equal(t, "mine", wire.AsError("op", &wire.Error{Code: wire.Conflict, Op: "mine"}).Op)
	require.Equal(t, wire.Internal, wire.AsError("op", errors.New("any")).Code)
	require.Equal(t, wire.UnknownOutcome, wire.AsError("op", fmt.Errorf("write: %w", lost{})).Code)
	got = wire.AsError("op", errors.Join(&wire.FieldError{Path: "a", Reason: "x", Code: wire.Invalid}, &wire.FieldError{Path: "b", Reason: "y", Code: wire.Invalid}))
	require.Equal(t, wire.Invalid, got.Code)
	require.Equal(t, "a: x; b: y", got.Msg)
	require.Equal(t, wire.TooLarge, wire.AsError("op", &wire.FieldError{Code: wire.TooLarge}).Code)
	got = wire.AsError("op", io.EOF)
	require.Equal(t, wire.Internal, got.Code)
	require.ErrorIs(t, got, io.EOF)
	require.NotErrorIs(t, got, &wire.Error{Code: wire.Invalid})
}

func TestFaultsTellNothingInternal(t *testing.T) {
	var log strings.Builder
	rec := httptest.NewRecorder()
	wire.WriteFault(rec, slog.New(slog.NewTextHandler(&log, nil)), "application/json", &wire.Error{Code: wire.Internal, Op: "x", Msg: "table ops", Err: errors.New("dsn")})
	require.Equal(t, 500, rec.Code)
	require.NotContains(t, rec.Body.String(), "ops")
	require.NotContains(t, rec.Body.String(), "dsn")
	require.Contains(t, log.String(), "dsn")
	rec = httptest.NewRecorder()
	wire.WriteFault(rec, nil, "application/json", &wire.Error{Code: wire.Invalid, Msg: "4111111111111111: given twice"})
	require.NotContains(t, rec.Body.String(), "4111111111111111")
	rec = httptest.NewRecorder()
	wire.WriteFault(rec, nil, "application/json", &wire.Error{Code: wire.Unavailable, Err: errors.New("dial 10.0.0.1"), RetryAfter: 1500 * time.Millisecond})
	require.NotContains(t, rec.Body.String(), "10.0.0.1")
	require.Contains(t, rec.Body.String(), `"message":"unavailable"`)
	require.Equal(t, "2", rec.Header().Get("Retry-After"))
}

func TestForeignWordsAreCleaned(t *testing.T) {
	msg := `paid\r\nlevel=error \u001b]8;;x \u202e ` + strings.Repeat("ä", 300)
	a := wire.Answer{Status: 400, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(`{"valid":false,"error":{"message":"` + msg + `"}}`)}
	e := wire.Call{Op: "x", Write: true}.Refusal(a, false)
	require.Equal(t, wire.Invalid, e.Code)
	require.NotContains(t, e.Msg, "\n")
	require.NotContains(t, e.Msg, "\x1b")
	require.NotContains(t, e.Msg, "\u202e")
	require.LessOrEqual(t, len([]rune(e.Msg)), 201)
}

func TestSegments(t *testing.T) {
	for path, want := range map[string][]string{
		"/p/a/b": {"a", "b"}, "/p/a": {"a"}, "/p/a/": {"a"}, "/p/a%2Fb/c": {"a/b", "c"}, "/p/%25/x": {"%", "x"}, "/p/%2e%2e/x": {"..", "x"},
		"/p/": nil, "/p/a//b": nil, "/p//": nil, "/q/a": nil, "/": nil,
	} {
		got, ok := wire.Segments(httptest.NewRequest(http.MethodGet, path, nil), "/p/")
		require.Equal(t, want != nil, ok, path)
		if ok {
			require.Equal(t, want, got, path)
		}
	}
}

func TestPathWord(t *testing.T) {
	for _, good := range []string{"a", "1;2", "ünï", "...", "a/b", strings.Repeat("x", 10)} {
		require.True(t, wire.PathWord(good, 10), good)
	}
	for _, bad := range []string{"", ".", "..", "a\nb", "a\x00", "\u0085", "\xff", strings.Repeat("x", 12)} {
		require.False(t, wire.PathWord(bad, 10), "%q", bad)
	}
	require.True(t, wire.PlainText("", 0))
}

func TestSecretsStayInside(t *testing.T) {
	s := struct {
		Key  wire.Secret
		None wire.Secret
	}{Key: "hunter2"}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secret", s.Key, "struct", s)
	rec := httptest.NewRecorder()
	require.NoError(t, wire.WriteJSON(rec, 200, "application/json", s))
	for _, out := range []string{log.String(), rec.Body.String(), fmt.Sprint(s), fmt.Sprintf("%v %+v %#v %s %q %d %x", s, s, s, s.Key, s.Key, s.Key, s.Key)} {
		require.NotContains(t, out, "hunter2")
	}
	require.Equal(t, "hunter2", s.Key.Reveal())
	require.Empty(t, s.None.String())
}
