package update

import (
	"crypto"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sigstore/sigstore/pkg/signature"
	"github.com/stretchr/testify/require"
	"github.com/theupdateframework/go-tuf/v2/metadata"

	"posagent/cross/need"
)

// notNow is the exit code of an update that took in what the repository shows, and installs nothing because no terminal runs.
const notNow = 6

// client is the independent one: it verifies the repository and fetches the program, with a folder of its own for what it has seen.
const client = `
const { Updater } = require('tuf-js');
const [folder, base] = process.argv.slice(2);
const fs = require('fs');
fs.mkdirSync(folder + '/targets', { recursive: true });
const u = new Updater({ metadataDir: folder, metadataBaseUrl: base, targetDir: folder + '/targets', targetBaseUrl: base + '/targets',
  config: { fetchTimeout: 20000 }, forceCache: false });
(async () => {
  await u.refresh();
  const info = await u.getTargetInfo('posagent-test');
  if (!info) throw new Error('no target');
  await u.downloadTarget(info);
  console.log('accepted');
})().catch(e => { console.log('refused: ' + e.name + ': ' + e.message); process.exit(8); });
`

// independent installs the independent client, and returns its folder; "" where there is no npm.
func independent(t *testing.T) string {
	t.Helper()
	need.Tool(t, "npm")
	need.Tool(t, "node")
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", dir, "tuf-js@4.1.0")
	if out, err := cmd.CombinedOutput(); err != nil {
		need.Missing(t, "tuf-js by npm: "+strings.TrimSpace(string(out)), "a network that reaches the npm registry")
		return ""
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "client.js"), []byte(client), 0o600))
	return dir
}

// signedBy changes a role's metadata and signs them with the given keys alone.
func signedBy[T metadata.Roles](t *testing.T, m *metadata.Metadata[T], path string, change func(*T), keys ...string) {
	t.Helper()
	_, err := m.FromFile(path)
	require.NoError(t, err)
	change(&m.Signed)
	m.ClearSignatures()
	for _, path := range keys {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		block, _ := pem.Decode(text)
		private, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		require.NoError(t, err)
		signer, err := signature.LoadSigner(private.(ed25519.PrivateKey), crypto.Hash(0))
		require.NoError(t, err)
		_, err = m.Sign(signer)
		require.NoError(t, err)
	}
	require.NoError(t, m.ToFile(path, true))
}

// copyOf copies a repository.
func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	require.NoError(t, os.CopyFS(to, os.DirFS(dir)))
	return to
}

// offered is the file of the program that a repository offers.
func offered(t *testing.T, dir string) string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "targets", "*.posagent-test"))
	require.NoError(t, err)
	require.Len(t, list, 1)
	return list[0]
}

// TestAttacks: what is spoilt, old, stolen or endless is refused, here and by an independent implementation; the program in place stays,
// and the repository as it is meant is accepted by both.
func TestAttacks(t *testing.T) {
	need.Verify(t, "builds two versions of the program")
	js := ""
	if full {
		js = independent(t)
	}
	d := newDesk(t)
	d.offer(d.p.second, secondVersion)
	online, targets := d.keys[5], []string{d.keys[1], d.keys[3]}
	require.Equal(t, "--online-key", d.keys[4])
	older := copyOf(t, d.repository()) // a state that was true once
	d.must("repository", "refresh", "--repository", d.repository(), "--online-key", online)

	for _, c := range []struct {
		name  string
		spoil func(dir string)
		serve func(w http.ResponseWriter, r *http.Request) bool // answers itself
		code  int                                               // of the updater
		ours  bool                                              // the independent client has no opinion
		seen  bool                                              // both have seen the true state before
		stays bool                                              // nothing is wrong, and nothing is done
	}{
		{name: "the repository as it is meant"},
		{name: "an older state of it", seen: true, code: 8, spoil: func(dir string) { require.NoError(t, os.CopyFS(dir+"-", os.DirFS(older))); swap(t, dir) }},
		{name: "the number of the timestamp set back", seen: true, code: 8, spoil: func(dir string) {
			signedBy(t, metadata.Timestamp(), filepath.Join(dir, "timestamp.json"), func(m *metadata.TimestampType) { m.Version = 1 }, online)
		}},
		{name: "a timestamp that has expired", code: 8, spoil: func(dir string) {
			signedBy(t, metadata.Timestamp(), filepath.Join(dir, "timestamp.json"), func(m *metadata.TimestampType) { m.Version++; m.Expires = time.Now().Add(-time.Hour) }, online)
		}},
		{name: "programs signed with one stolen key of two", code: 8, spoil: func(dir string) {
			require.NoError(t, os.WriteFile(offered(t, dir), []byte("the thief's"), 0o600))
			signedBy(t, metadata.Targets(), filepath.Join(dir, "2.targets.json"), func(m *metadata.TargetsType) {
				info, err := metadata.TargetFile().FromBytes("posagent-test", []byte("the thief's"), "sha256")
				require.NoError(t, err)
				info.Custom = m.Targets["posagent-test"].Custom
				m.Targets["posagent-test"] = info
			}, targets[0])
		}},
		{name: "one stolen key that signs twice", code: 8, spoil: func(dir string) {
			signedBy(t, metadata.Targets(), filepath.Join(dir, "2.targets.json"), func(*metadata.TargetsType) {}, targets[0], targets[0])
		}},
		{name: "the online key alone signs programs", code: 8, spoil: func(dir string) {
			signedBy(t, metadata.Targets(), filepath.Join(dir, "2.targets.json"), func(*metadata.TargetsType) {}, online, online)
		}},
		{name: "one byte of the signed programs changed", code: 8, spoil: func(dir string) {
			path := filepath.Join(dir, "2.targets.json")
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), `"2.0.0`, `"9.0.0`, 1)), 0o600))
			require.Contains(t, string(text), "2.0.0")
		}},
		{name: "a truncated program", code: 8, spoil: func(dir string) {
			require.NoError(t, os.Truncate(offered(t, dir), 1000))
		}},
		{name: "an empty program", code: 8, spoil: func(dir string) { require.NoError(t, os.Truncate(offered(t, dir), 0)) }},
		{name: "another program of the same length", code: 8, spoil: func(dir string) {
			f, err := os.OpenFile(offered(t, dir), os.O_RDWR, 0)
			require.NoError(t, err)
			_, err = f.WriteAt([]byte{0x90}, 5000)
			require.NoError(t, err)
			require.NoError(t, f.Close())
		}},
		{name: "an endless program", code: 8, serve: func(w http.ResponseWriter, r *http.Request) bool {
			return strings.HasPrefix(r.URL.Path, "/targets/") && endless(w, r)
		}},
		{name: "endless metadata", code: 8, serve: func(w http.ResponseWriter, r *http.Request) bool {
			return r.URL.Path == "/timestamp.json" && endless(w, r)
		}},
		{name: "no answer but an error", code: 7, serve: func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(http.StatusInternalServerError)
			return true
		}},
		{name: "a page to log in with, in place of the repository", code: 8, serve: func(w http.ResponseWriter, r *http.Request) bool {
			_, _ = fmt.Fprint(w, "<html>accept our terms</html>")
			return true
		}},
		{name: "a program for another processor", code: 8, ours: true, spoil: func(dir string) {
			other := filepath.Join(t.TempDir(), "posagent-test")
			data, err := os.ReadFile(d.p.second)
			require.NoError(t, err)
			data[18], data[19] = 40, 0 // EM_ARM
			require.NoError(t, os.WriteFile(other, data, 0o600))
			d.must(append(append([]string{"repository", "add", "--repository", dir, "--version", "3.0.0"}, d.keys...), other)...)
		}},
		{name: "an older version, well signed", ours: true, stays: true, spoil: func(dir string) {
			d.must(append(append([]string{"repository", "add", "--repository", dir, "--version", "0.9.0"}, d.keys...), filepath.Join(d.dir, "posagent-test"))...)
		}},
		{name: "a version for none of the boxes yet", ours: true, stays: true, spoil: func(dir string) {
			d.must(append(append([]string{"repository", "add", "--repository", dir, "--version", secondVersion, "--percent", "0"}, d.keys...), filepath.Join(d.dir, "posagent-test"))...)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := copyOf(t, d.repository())
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if c.serve == nil || !c.serve(w, r) {
					http.FileServer(http.Dir(dir)).ServeHTTP(w, r)
				}
			}))
			defer srv.Close()
			box := t.TempDir()
			program := filepath.Join(box, "posagent")
			data, err := os.ReadFile(d.p.first)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(program, data, 0o755))
			root := filepath.Join(d.repository(), "1.root.json")
			ours := func(more ...string) (int, string) {
				cmd := exec.Command(d.p.updater, append([]string{"update", "--program", program, "--terminal", filepath.Join(box, "state"), "--dir", filepath.Join(box, "updates"),
					"--target", "posagent-test", "--root", root, "--url", srv.URL}, more...)...)
				out, err := cmd.CombinedOutput()
				if err != nil {
					require.ErrorAs(t, err, new(*exec.ExitError))
				}
				return cmd.ProcessState.ExitCode(), string(out)
			}
			theirs := func() string {
				folder := filepath.Join(box, "independent")
				require.NoError(t, os.MkdirAll(folder, 0o700))
				if _, err := os.Stat(filepath.Join(folder, "root.json")); err != nil {
					text, err := os.ReadFile(root)
					require.NoError(t, err)
					require.NoError(t, os.WriteFile(filepath.Join(folder, "root.json"), text, 0o600))
				}
				cmd := exec.CommandContext(t.Context(), "node", "client.js", folder, srv.URL)
				cmd.Dir = js
				out, _ := cmd.CombinedOutput()
				return string(out)
			}
			if c.seen {
				code, said := ours() // a look would remember nothing
				require.Equal(t, notNow, code, said)
				require.Contains(t, said, "no terminal runs")
				if js != "" {
					require.Equal(t, "accepted\n", theirs())
				}
			}
			if c.spoil != nil {
				c.spoil(dir)
			}
			code, said := ours("--untested")
			require.Equal(t, c.code, code, said)
			now, err := os.ReadFile(program)
			require.NoError(t, err)
			accepted := c.code == 0 && !c.stays
			require.Equal(t, !accepted, string(now) == string(data), "the program in place: %s", said)
			require.NoFileExists(t, filepath.Join(box, "updates", "fetched"), "nothing of it stays")
			if c.stays {
				require.Contains(t, said, "nothing to do")
			}
			if js == "" || c.ours {
				return
			}
			if want := "refused: "; accepted {
				require.Equal(t, "accepted\n", theirs())
			} else {
				require.True(t, strings.HasPrefix(theirs(), want), theirs())
			}
		})
	}
}

// TestAnOlderStateAfterALoss: a box whose copies of the metadata were lost, or spoilt, remembers all the same what it has seen.
func TestAnOlderStateAfterALoss(t *testing.T) {
	need.Verify(t, "builds two versions of the program")
	d := newDesk(t)
	d.offer(d.p.second, secondVersion)
	older := copyOf(t, d.repository())
	d.must("repository", "refresh", "--repository", d.repository(), "--online-key", d.keys[5])
	box := t.TempDir()
	run := func(verb, from string) (int, string) {
		cmd := exec.Command(d.p.updater, verb, "--program", d.p.first, "--terminal", box, "--dir", filepath.Join(box, "updates"), "--target", "posagent-test",
			"--root", filepath.Join(d.repository(), "1.root.json"), "--from", from)
		out, err := cmd.CombinedOutput()
		if err != nil {
			require.ErrorAs(t, err, new(*exec.ExitError))
		}
		return cmd.ProcessState.ExitCode(), string(out)
	}
	code, said := run("update", d.repository()) // a look would remember nothing
	require.Equal(t, notNow, code, said)
	require.Contains(t, said, "no terminal runs")
	timestamp := filepath.Join(box, "updates", "metadata", "timestamp.json")
	for name, lose := range map[string]func() error{
		"spoilt": func() error { return os.WriteFile(timestamp, []byte("{}"), 0o600) },
		"lost":   func() error { return os.RemoveAll(filepath.Join(box, "updates", "metadata")) },
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, lose())
			for _, verb := range []string{"check", "update"} {
				code, said := run(verb, older)
				require.Equal(t, 8, code, said)
				require.Contains(t, said, "older state")
			}
			code, said := run("check", d.repository())
			require.Zero(t, code, said)
			code, said = run("update", d.repository())
			require.Equal(t, notNow, code, said)
			require.FileExists(t, timestamp, "the copies are there again")
		})
	}
}

// swap puts the folder dir- in the place of dir.
func swap(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, os.Rename(dir+"-", dir))
}

// endless answers until the reader goes away.
func endless(w http.ResponseWriter, r *http.Request) bool {
	part := make([]byte, 64<<10)
	for r.Context().Err() == nil {
		if _, err := w.Write(part); err != nil {
			break
		}
	}
	return true
}

// TestAStickThatLies: a folder that leads elsewhere, and a pipe that never ends, are refused.
func TestAStickThatLies(t *testing.T) {
	need.Verify(t, "builds two versions of the program")
	d := newDesk(t)
	d.offer(d.p.second, secondVersion)
	for name, spoil := range map[string]func(dir string){
		"a link out of it": func(dir string) {
			out := filepath.Join(t.TempDir(), "program")
			require.NoError(t, os.Rename(offered(t, dir), out))
			require.NoError(t, os.Symlink(out, strings.Replace(out, out, nameOf(t, d, dir), 1)))
		},
		"a pipe": func(dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "timestamp.json")))
			require.NoError(t, exec.Command("mkfifo", filepath.Join(dir, "timestamp.json")).Run())
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := copyOf(t, d.repository())
			spoil(dir)
			box := t.TempDir()
			cmd := exec.Command(d.p.updater, "update", "--program", d.p.first, "--terminal", box, "--dir", filepath.Join(box, "updates"), "--target", "posagent-test",
				"--root", filepath.Join(d.repository(), "1.root.json"), "--from", dir, "--untested")
			out, err := cmd.CombinedOutput()
			require.Error(t, err)
			require.Contains(t, []int{7, 8}, cmd.ProcessState.ExitCode(), "%s", out)
			require.NoFileExists(t, d.p.first+".previous")
		})
	}
}

// nameOf is where a repository's program belongs.
func nameOf(t *testing.T, d *desk, dir string) string {
	t.Helper()
	return filepath.Join(dir, "targets", filepath.Base(offered(t, d.repository())))
}
