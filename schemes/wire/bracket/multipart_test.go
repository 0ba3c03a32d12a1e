package bracket_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"posagent/schemes/wire"
	"posagent/schemes/wire/bracket"
)

func part(field, name string, data []byte) bracket.Part {
	return bracket.Part{Field: field, Name: name, ContentType: "text/plain", Size: int64(len(data)),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
}

// sent writes a form and its parts and gives back what a reader reads.
func sent(t require.TestingT, dir string, f bracket.Form, parts []bracket.Part, lim bracket.Limits) (bracket.Form, []*bracket.File, error) {
	kind, length, body := bracket.WriteMultipart(f, parts, "bound0ary")
	_, params, err := mime.ParseMediaType(kind)
	require.NoError(t, err)
	for range 2 { // the body can be had again
		r, err := body()
		require.NoError(t, err)
		n, err := io.Copy(io.Discard, r)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		require.Equal(t, length, n)
	}
	r, err := body()
	require.NoError(t, err)
	return bracket.ReadMultipart(multipart.NewReader(iotest.OneByteReader(r), params["boundary"]), dir, lim)
}

func TestMultipartComesBack(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		f := object(t, 2).Form()
		for i := range f { // a header carries no control characters
			f[i].Name = strings.Map(func(r rune) rune {
				if r < ' ' || r == 0x7f {
					return -1
				}
				return r
			}, f[i].Name) + "x"
			f[i].Value = strings.ReplaceAll(f[i].Value, "bound0ary", "")
		}
		data := rapid.SliceOfN(rapid.Byte(), 0, 4000).Draw(t, "data")
		got, files, err := sent(t, dir, f, []bracket.Part{part("attachments[0]", "a.txt", data), part("attachments[1]", `q"b.txt`, nil)}, bracket.Limits{})
		require.NoError(t, err)
		defer bracket.CloseAll(files)
		require.Equal(t, f, got)
		require.Len(t, files, 2)
		sum := sha256.Sum256(data)
		require.Equal(t, hex.EncodeToString(sum[:]), files[0].SHA256)
		require.Equal(t, []string{"a.txt", `q"b.txt`, "attachments[0]", "text/plain"}, []string{files[0].Name, files[1].Name, files[0].Field, files[0].ContentType})
		for range 2 {
			r, err := files[0].Open()
			require.NoError(t, err)
			read, err := io.ReadAll(r)
			require.NoError(t, err)
			require.Equal(t, string(data), string(read))
		}
	})
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left, "an attachment has no name on the disk")
}

func TestMultipartLimits(t *testing.T) {
	few := []bracket.Part{part("a", "n", make([]byte, 60)), part("b", "n", make([]byte, 40))}
	for _, c := range []struct {
		name  string
		form  bracket.Form
		parts []bracket.Part
		lim   bracket.Limits
		code  wire.Code
	}{
		{"bytes of files, exactly", nil, few, bracket.Limits{Bytes: 100}, ""},
		{"bytes of files", nil, few, bracket.Limits{Bytes: 99}, wire.TooLarge},
		{"number of files", nil, few, bracket.Limits{Files: 1}, wire.TooLarge},
		{"bytes of texts", bracket.Form{{"aa", "1234"}, {"bb", "1234"}}, nil, bracket.Limits{Text: 11}, wire.TooLarge},
		{"bytes of texts, exactly", bracket.Form{{"aa", "1234"}, {"bb", "1234"}}, nil, bracket.Limits{Text: 12}, ""},
		{"bytes of names", bracket.Form{{"aa", ""}, {"bb", ""}}, nil, bracket.Limits{Text: 3}, wire.TooLarge},
		{"pairs", bracket.Form{{"a", "1"}, {"b", "1"}}, nil, bracket.Limits{Pairs: 1}, wire.TooLarge},
		{"text of other bytes", bracket.Form{{"a", "\xff"}}, nil, bracket.Limits{}, wire.Invalid},
		{"file of a long name", nil, []bracket.Part{part("a", strings.Repeat("n", 300), nil)}, bracket.Limits{}, wire.Invalid},
		{"name with a path", nil, []bracket.Part{part("a", "../../etc/passwd", nil)}, bracket.Limits{}, ""},
	} {
		_, files, err := sent(t, t.TempDir(), c.form, c.parts, c.lim)
		require.Equal(t, c.code, wire.CodeOf(err), c.name)
		for _, f := range files {
			require.NotContains(t, f.Name, "/")
		}
		bracket.CloseAll(files)
		if c.code != "" {
			require.Empty(t, files, c.name)
		}
	}
}

// counted counts what is read of it.
type counted struct {
	r io.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

func TestMultipartStopsReadingAtItsLimit(t *testing.T) {
	_, length, body := bracket.WriteMultipart(nil, []bracket.Part{part("a", "n", make([]byte, 1<<20))}, "x")
	r, err := body()
	require.NoError(t, err)
	source := &counted{r: r}
	_, _, err = bracket.ReadMultipart(multipart.NewReader(source, "x"), t.TempDir(), bracket.Limits{Bytes: 100})
	require.Equal(t, wire.TooLarge, wire.CodeOf(err))
	require.Greater(t, length, int64(1<<20))
	require.Less(t, source.n, 64<<10)
}

func TestMultipartBroken(t *testing.T) {
	const b = "--x\r\n"
	for _, text := range []string{
		b + "Content-Disposition: form-data\r\n\r\nv\r\n--x--\r\n", b + "Content-Disposition: form-data; name=a\r\n\r\nv",
		b + "Content-Disposition: form-data; name=a; filename=b\r\n\r\nv",
		b + "Content-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: base64\r\n\r\ndg==\r\n--x--\r\n",
		b + "Content-Disposition: form-data; name=a; filename=\"a\x01b\"\r\n\r\nv\r\n--x--\r\n",
	} {
		_, files, err := bracket.ReadMultipart(multipart.NewReader(strings.NewReader(text), "x"), t.TempDir(), bracket.Limits{})
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%q", text)
		require.Empty(t, files)
	}
	kind, _, body := bracket.WriteMultipart(nil, []bracket.Part{part("a", "n", []byte("v"))}, "x")
	require.Contains(t, kind, "boundary=x")
	r, err := body()
	require.NoError(t, err)
	_, _, err = bracket.ReadMultipart(multipart.NewReader(r, "x"), "/nowhere/at/all", bracket.Limits{})
	require.Equal(t, wire.Internal, wire.CodeOf(err), "a disk that fails is not the sender's fault")
}

func TestSenderNoticesAFileThatChanged(t *testing.T) {
	for _, size := range []int64{2, 4} {
		p := part("a", "n", []byte("abc"))
		p.Size = size
		_, _, body := bracket.WriteMultipart(nil, []bracket.Part{p}, "x")
		r, err := body()
		require.NoError(t, err)
		_, err = io.ReadAll(r)
		require.ErrorContains(t, err, "changed its size")
		require.NoError(t, r.Close())
	}
	p := part("a", "n", nil)
	p.Open = func() (io.ReadCloser, error) { return nil, errors.New("gone") }
	_, _, body := bracket.WriteMultipart(nil, []bracket.Part{p}, "x")
	r, err := body()
	require.NoError(t, err)
	_, err = io.ReadAll(r)
	require.ErrorContains(t, err, "gone")
}

// zeros is an endless file of which nothing is ever in memory.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestMultipartNeedsLittleMemory(t *testing.T) {
	big := bracket.Part{Field: "attachments", Name: "big", Size: bracket.MaxFiles, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.LimitReader(zeros{}, bracket.MaxFiles)), nil
	}}
	_, _, body := bracket.WriteMultipart(bracket.Form{{"title", "t"}}, []bracket.Part{big}, "x")
	result := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			r, err := body()
			require.NoError(b, err)
			_, files, err := bracket.ReadMultipart(multipart.NewReader(r, "x"), "", bracket.Limits{})
			require.NoError(b, err)
			require.EqualValues(b, bracket.MaxFiles, files[0].Size)
			bracket.CloseAll(files)
		}
	})
	require.Less(t, result.AllocedBytesPerOp(), int64(512<<10))
}

func FuzzMultipart(f *testing.F) {
	_, _, body := bracket.WriteMultipart(bracket.Form{{"a[b]", "c"}}, []bracket.Part{part("f", "n", []byte("data"))}, "x")
	r, err := body()
	require.NoError(f, err)
	seed, err := io.ReadAll(r)
	require.NoError(f, err)
	f.Add(seed)
	f.Add([]byte("--x\r\nContent-Disposition: form-data; name=\"a\"; filename=\"\"\r\n\r\n\r\n--x--"))
	f.Fuzz(func(t *testing.T, data []byte) {
		form, files, err := bracket.ReadMultipart(multipart.NewReader(bytes.NewReader(data), "x"), "", bracket.Limits{})
		if err != nil {
			require.NotEmpty(t, wire.CodeOf(err))
			require.Empty(t, files)
			return
		}
		for _, p := range form {
			require.NotEmpty(t, p.Name)
		}
		bracket.CloseAll(files)
	})
}
