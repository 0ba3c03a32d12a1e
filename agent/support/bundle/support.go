package bundle

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"
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

// Write writes the archive and returns its manifest. It fails where out does.
func Write(out io.Writer, made time.Time, version string, secrets []string, parts []Part) (Manifest, error) {
	m := Manifest{Schema: "posagent.support/1", Made: made.UTC().Truncate(time.Second), Version: version, Files: []Entry{}}
	all := sha256.New()
	clean, c := make([][]byte, len(parts)), NewCleaner(secrets)
	for i, p := range parts {
		clean[i] = c.Data(p.Data)
		sum := sha256.Sum256(clean[i])
		e := Entry{Name: p.Name, How: c.Text(p.How), Error: c.Text(p.Err), Bytes: len(clean[i]), SHA256: hex.EncodeToString(sum[:])}
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
