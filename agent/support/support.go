package support

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"posagent/schemes/wire"
)

// Part is one file of the archive.
type Part struct {
	Name string
	How  string // the command or the file that it comes from
	Err  string // why it is not whole, "" = it is
	Data []byte
}

// Entry is what the manifest says of a part.
type Entry struct {
	Name   string `json:"name"`
	How    string `json:"how"`
	Error  string `json:"error,omitempty"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Manifest is the archive's table of contents (posagent.support/1).
type Manifest struct {
	Schema  string    `json:"schema"`
	Marker  string    `json:"marker"` // PA-XXXX-XXXX, of the hashes of all parts
	Made    time.Time `json:"made"`
	Version string    `json:"version"` // of the program
	Files   []Entry   `json:"files"`
}

// shortest is the length from which a secret is looked for: a shorter one stands in any text.
const shortest = 4

// masked stands where a secret was.
const masked = "***"

// Clean returns a text without secrets and card numbers.
func Clean(text string, secrets []string) string {
	var pairs []string
	sorted := slices.Clone(secrets)
	slices.SortFunc(sorted, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // one may begin with another
	for _, s := range sorted {
		if len(s) < shortest {
			continue
		}
		pairs = append(pairs, s, masked)
		if quoted, err := json.Marshal(s); err == nil && string(quoted[1:len(quoted)-1]) != s {
			pairs = append(pairs, string(quoted[1:len(quoted)-1]), masked)
		}
	}
	return wire.MaskPANs(strings.NewReplacer(pairs...).Replace(text))
}

// Write writes the archive and returns its manifest. It fails where out does.
func Write(out io.Writer, made time.Time, version string, secrets []string, parts []Part) (Manifest, error) {
	m := Manifest{Schema: "posagent.support/1", Made: made.UTC().Truncate(time.Second), Version: version, Files: []Entry{}}
	all := sha256.New()
	clean := make([][]byte, len(parts))
	for i, p := range parts {
		clean[i] = []byte(Clean(string(p.Data), secrets))
		sum := sha256.Sum256(clean[i])
		e := Entry{Name: p.Name, How: Clean(p.How, secrets), Error: Clean(p.Err, secrets), Bytes: len(clean[i]), SHA256: hex.EncodeToString(sum[:])}
		m.Files = append(m.Files, e)
		fmt.Fprintf(all, "%s %s\n", e.SHA256, e.Name)
	}
	m.Marker = marker(all.Sum(nil))
	table, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return m, err
	}
	zip := gzip.NewWriter(out)
	archive := tar.NewWriter(zip)
	put := func(name string, data []byte) error {
		head := &tar.Header{Name: m.Marker + "/" + name, Mode: 0o600, Size: int64(len(data)), ModTime: m.Made, Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(head); err != nil {
			return err
		}
		_, err := archive.Write(data)
		return err
	}
	if err := put("MANIFEST.json", append(table, '\n')); err != nil {
		return m, err
	}
	for i, p := range parts {
		if err := put(p.Name, clean[i]); err != nil {
			return m, err
		}
	}
	if err := archive.Close(); err != nil {
		return m, err
	}
	return m, zip.Close()
}

// letters have none that is mistaken for another over the telephone (Crockford's alphabet).
var letters = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ")

func marker(sum []byte) string {
	s := letters.EncodeToString(sum[:5])
	return "PA-" + s[:4] + "-" + s[4:]
}
