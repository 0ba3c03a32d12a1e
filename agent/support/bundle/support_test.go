package bundle_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/support/bundle"
)

var made = time.Date(2026, 11, 23, 2, 30, 0, 500, time.UTC)

func unpack(t *testing.T, data []byte) map[string]string {
	zip, err := gzip.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	files := map[string]string{}
	for archive := tar.NewReader(zip); ; {
		head, err := archive.Next()
		if err == io.EOF {
			return files
		}
		require.NoError(t, err)
		require.EqualValues(t, 0o600, head.Mode)
		require.True(t, head.ModTime.Equal(made.Truncate(time.Second)))
		text, err := io.ReadAll(archive)
		require.NoError(t, err)
		files[head.Name] = string(text)
	}
}

func TestAnArchiveHasWhatItsManifestSays(t *testing.T) {
	parts := []bundle.Part{
		{Name: "status.json", How: "posagent status --json", Data: []byte("{}\n")},
		{Name: "log.txt", How: "journalctl", Err: "no such program"},
	}
	var out, again bytes.Buffer
	m, err := bundle.Write(&out, made, "2026.11.23-x", nil, parts)
	require.NoError(t, err)
	require.Regexp(t, `^PA-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$`, m.Marker)
	files := unpack(t, out.Bytes())
	require.Len(t, files, 3)
	require.Equal(t, "{}\n", files[m.Marker+"/status.json"])
	var told bundle.Manifest
	require.NoError(t, json.Unmarshal([]byte(files[m.Marker+"/MANIFEST.json"]), &told))
	require.Equal(t, m, told)
	sum := sha256.Sum256([]byte("{}\n"))
	require.Equal(t, bundle.Entry{Name: "status.json", How: "posagent status --json", Bytes: 3, SHA256: hex.EncodeToString(sum[:])}, told.Files[0])
	require.Equal(t, "no such program", told.Files[1].Error)

	_, err = bundle.Write(&again, made, "2026.11.23-x", nil, parts)
	require.NoError(t, err)
	require.Equal(t, out.Bytes(), again.Bytes())
	parts[0].Data = []byte("{ }\n")
	other, err := bundle.Write(io.Discard, made, "2026.11.23-x", nil, parts)
	require.NoError(t, err)
	require.NotEqual(t, m.Marker, other.Marker)
}

// A secret goes however it is written down, a longer one before the one that it begins with.
func TestSecretsAndCardNumbersGo(t *testing.T) {
	secrets := []string{"hush", `quo"te\d`, "hush-hush-long", "abc"}
	for in, want := range map[string]string{
		`the token is hush.`:                   `the token is ***.`,
		`{"a":"quo\"te\\d"}`:                   `{"a":"***"}`,
		`quo"te\d`:                             `***`,
		`x hush-hush-long y`:                   `x *** y`,
		`card 4111 1111 1111 1111 of Anna`:     `card 4111 11** **** 1111 of Anna`,
		`abc is too short to be looked for`:    `abc is too short to be looked for`,
		`{"at":"2026-11-23T02:30:00Z","n":12}`: `{"at":"2026-11-23T02:30:00Z","n":12}`,
	} {
		require.Equal(t, want, bundle.NewCleaner(secrets).Text(in))
	}
	var out bytes.Buffer
	m, err := bundle.Write(&out, made, "v", secrets, []bundle.Part{{Name: "a", How: "hush", Err: "hush failed", Data: []byte("hush")}})
	require.NoError(t, err)
	for _, text := range unpack(t, out.Bytes()) {
		require.NotContains(t, text, "hush")
	}
	require.Equal(t, "*** failed", m.Files[0].Error)
}
