package wiretest

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire"
)

// Groups are the cases of a conformance suite, by what they are about.
type Groups []struct {
	Name  string
	Cases func(*testing.T)
}

// Run runs the groups in their order, and the raw cases last where the row has a wire.
func (g Groups) Run(t *testing.T, wired bool, raw func(*testing.T)) {
	for _, group := range g {
		t.Run(group.Name, group.Cases)
	}
	if wired {
		t.Run("wire", raw)
	}
}

// Case is one way to spoil a good request T, and what the error must name.
type Case[T any] = struct {
	Name, Names string
	Break       func(*T)
}

// Site is where the raw cases of a conformance suite send their requests. Doer adds what the
// service wants besides (credentials).
type Site struct {
	BaseURL string
	Doer    wire.Doer
}

// Raw sends one request to a path of the site as it stands: see the function.
func (s *Site) Raw(t *testing.T, method, path, contentType, body string, header ...string) (*http.Response, string) {
	t.Helper()
	return Raw(t, s.Doer, method, s.BaseURL+path, contentType, body, header...)
}

// Callers is how many callers AtOnce has.
const Callers = 16

// AtOnce lets callers, numbered from 0, do the same thing at once, and counts their answers.
func AtOnce[R comparable](do func(caller int) R) map[R]int {
	var wg sync.WaitGroup
	answers, start := make([]R, Callers), make(chan struct{})
	for i := range answers {
		wg.Go(func() {
			<-start
			answers[i] = do(i)
		})
	}
	close(start)
	wg.Wait()
	out := map[R]int{}
	for _, a := range answers {
		out[a]++
	}
	return out
}

// WrongBody is a body that a service refuses with 400, and what the refusal names.
type WrongBody = struct{ Name, Body, Names string }

// WrongBodies spoils a good JSON object in the ways that do not depend on its fields. It has the
// field, which may have the value.
func WrongBodies(good, field, value string) []WrongBody {
	first := func(name string) string {
		return strings.Replace(good, `"`+field+`":`, `"`+name+`":`+value+`,"`+field+`":`, 1)
	}
	capital := strings.ToUpper(field[:1]) + field[1:]
	return []WrongBody{
		{"empty", " ", "empty"},
		{"null", "null", "null"},
		{"array", "[]", "array"},
		{"twice", good + good, "after the end"},
		{"trailing", good + "x", "after the end"},
		{"bom", "\xef\xbb\xbf" + good, "byte order"},
		{"duplicate", first(field), "duplicate"},
		{"duplicate escaped", first(fmt.Sprintf(`\u%04x`, field[0]) + field[1:]), "duplicate"},
		{"twin", first(capital), capital},
	}
}

// WrongHeader is a header that a service refuses with 400 on a write with a JSON body.
type WrongHeader = struct{ Name, Header, Value string }

// WrongHeaders are those that every service with Keys and JSON bodies refuses.
func WrongHeaders() []WrongHeader {
	return []WrongHeader{
		{"no content type", "Content-Type", ""},
		{"text", "Content-Type", "text/plain"},
		{"form", "Content-Type", "application/x-www-form-urlencoded"},
		{"utf-16", "Content-Type", "application/json;charset=utf-16"},
		{"gzip", "Content-Encoding", "gzip"},
		{"long key", wire.KeyHeader, strings.Repeat("k", 65)},
		{"key with a space", wire.KeyHeader, "a b"},
	}
}

// Stable encodes v, decodes the text and encodes the result again. It fails unless both texts are
// the same, and returns what it decoded. json.Marshal and wire.Encode encode; wire.Decode and Parse
// decode.
func Stable[T any](t *testing.T, v T, encode func(any) ([]byte, error), decode func([]byte, any) error) (again T) {
	t.Helper()
	text, err := encode(v)
	require.NoError(t, err)
	require.NoError(t, decode(text, &again))
	text2, err := encode(again)
	require.NoError(t, err)
	require.Equal(t, string(text), string(text2))
	return again
}

// Parse reads a request into a *T as wire.Parse does.
func Parse[T any](data []byte, into any) (err error) {
	*into.(*T), err = wire.Parse[T]("test", data)
	return err
}
