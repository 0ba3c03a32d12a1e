package main

import (
	"crypto"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/sigstore/sigstore/pkg/signature"
	"github.com/theupdateframework/go-tuf/v2/metadata"

	"posagent/agent/update"
	"posagent/device/file"
)

// repository is a folder that a server or a stick shows: metadata beside each other, programs in targets/.
type repository struct {
	dir string
	now time.Time

	root      *metadata.Metadata[metadata.RootType]
	targets   *metadata.Metadata[metadata.TargetsType]
	snapshot  *metadata.Metadata[metadata.SnapshotType]
	timestamp *metadata.Metadata[metadata.TimestampType]
}

// How long what is signed is good for. The timestamp says that the state shown is the newest: it is short, so that nobody can show an
// old one for long.
const (
	rootFor      = 3 * 365 * 24 * time.Hour
	targetsFor   = 365 * 24 * time.Hour
	snapshotFor  = 90 * 24 * time.Hour
	timestampFor = 14 * 24 * time.Hour
)

// keys sign for the roles.
type keys struct {
	root, targets []ed25519.PrivateKey // all of a role's keys have to sign
	online        ed25519.PrivateKey   // snapshot and timestamp
}

// newRepository makes the first state of a repository, in which there is nothing.
func newRepository(dir string, now time.Time, k keys) (*repository, error) {
	if _, err := os.Stat(filepath.Join(dir, "timestamp.json")); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is a repository already", dir)
	}
	r := &repository{
		dir: dir, now: now, root: metadata.Root(now.Add(rootFor)), targets: metadata.Targets(now.Add(targetsFor)),
		snapshot: metadata.Snapshot(now.Add(snapshotFor)), timestamp: metadata.Timestamp(now.Add(timestampFor)),
	}
	for role, list := range map[string][]ed25519.PrivateKey{
		metadata.ROOT: k.root, metadata.TARGETS: k.targets, metadata.SNAPSHOT: {k.online}, metadata.TIMESTAMP: {k.online},
	} {
		for _, key := range list {
			public, err := metadata.KeyFromPublicKey(key.Public())
			if err == nil {
				err = r.root.Signed.AddKey(public, role)
			}
			if err != nil {
				return nil, err
			}
		}
		r.root.Signed.Roles[role].Threshold = len(list)
	}
	if err := os.MkdirAll(filepath.Join(dir, "targets"), 0o755); err != nil {
		return nil, err
	}
	if err := signAll(r.root, k.root...); err != nil {
		return nil, err
	}
	if err := write(r.root, filepath.Join(dir, "1.root.json")); err != nil {
		return nil, err
	}
	return r, r.sign(k, true)
}

// openRepository reads the newest state of a repository.
func openRepository(dir string, now time.Time) (*repository, error) {
	r := &repository{dir: dir, now: now, root: metadata.Root(), targets: metadata.Targets(), snapshot: metadata.Snapshot(), timestamp: metadata.Timestamp()}
	newest := 1
	for ; ; newest++ {
		if _, err := os.Stat(filepath.Join(dir, fmt.Sprintf("%d.root.json", newest+1))); err != nil {
			break
		}
	}
	_, err := r.root.FromFile(filepath.Join(dir, fmt.Sprintf("%d.root.json", newest)))
	if err == nil {
		_, err = r.timestamp.FromFile(filepath.Join(dir, "timestamp.json"))
	}
	if err == nil {
		_, err = r.snapshot.FromFile(filepath.Join(dir, fmt.Sprintf("%d.snapshot.json", r.timestamp.Signed.Meta["snapshot.json"].Version)))
	}
	if err == nil {
		_, err = r.targets.FromFile(filepath.Join(dir, fmt.Sprintf("%d.targets.json", r.snapshot.Signed.Meta["targets.json"].Version)))
	}
	if err != nil {
		return nil, fmt.Errorf("%s is no repository (posagent-update repository init makes one): %w", dir, err)
	}
	return r, nil
}

// programName is what a program may be called in a repository.
var programName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,63}$`)

// offer puts a program into the repository, unsigned yet. Without a file it changes what is said of one that is there.
func (r *repository) offer(name, file, version string, percent int) error {
	if !programName.MatchString(name) {
		return fmt.Errorf("%q is no name of a program: small letters, digits, dots and hyphens", name)
	}
	info := r.targets.Signed.Targets[name]
	if file != "" {
		var err error
		if info, err = metadata.TargetFile().FromFile(file, "sha256"); err != nil {
			return err
		}
		info.Path = name
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		to := filepath.Join(r.dir, "targets", fmt.Sprintf("%s.%s", info.Hashes["sha256"], name))
		if err := os.WriteFile(to, data, 0o644); err != nil {
			return err
		}
	}
	if info == nil {
		return fmt.Errorf("there is no %s in the repository", name)
	}
	var was struct{ Version string }
	if file == "" && (info.Custom == nil || json.Unmarshal(*info.Custom, &was) != nil || was.Version != version) {
		return fmt.Errorf("%s in the repository is of version %q: say that, or give the file", name, was.Version)
	}
	text, err := json.Marshal(struct {
		Version string `json:"version"`
		Percent int    `json:"percent"`
	}{version, percent})
	if err != nil {
		return err
	}
	raw := json.RawMessage(text)
	info.Custom = &raw
	r.targets.Signed.Targets[name] = info
	return nil
}

// sign makes the state of the repository its newest: with new targets, or with a new timestamp alone.
func (r *repository) sign(k keys, targets bool) error {
	if targets {
		if r.targets.Signatures != nil && len(r.targets.Signatures) > 0 {
			r.targets.Signed.Version++
		}
		r.targets.Signed.Expires = r.now.Add(targetsFor)
		if err := signAll(r.targets, k.targets...); err != nil {
			return err
		}
		if err := write(r.targets, filepath.Join(r.dir, fmt.Sprintf("%d.targets.json", r.targets.Signed.Version))); err != nil {
			return err
		}
	}
	if len(r.snapshot.Signatures) > 0 {
		r.snapshot.Signed.Version++
	}
	r.snapshot.Signed.Expires = r.now.Add(snapshotFor)
	r.snapshot.Signed.Meta["targets.json"] = metadata.MetaFile(r.targets.Signed.Version)
	if err := signAll(r.snapshot, k.online); err != nil {
		return err
	}
	if err := write(r.snapshot, filepath.Join(r.dir, fmt.Sprintf("%d.snapshot.json", r.snapshot.Signed.Version))); err != nil {
		return err
	}
	if len(r.timestamp.Signatures) > 0 {
		r.timestamp.Signed.Version++
	}
	r.timestamp.Signed.Expires = r.now.Add(timestampFor)
	if r.timestamp.Signed.UnrecognizedFields == nil {
		r.timestamp.Signed.UnrecognizedFields = map[string]any{}
	}
	r.timestamp.Signed.UnrecognizedFields[update.SignedField] = r.now.UTC().Format(time.RFC3339)
	r.timestamp.Signed.Meta["snapshot.json"] = metadata.MetaFile(r.snapshot.Signed.Version)
	if err := signAll(r.timestamp, k.online); err != nil {
		return err
	}
	return write(r.timestamp, filepath.Join(r.dir, "timestamp.json")) // last: a box sees the old state or the new one
}

// signAll signs with each key, in place of the signatures there were.
func signAll[T metadata.Roles](m *metadata.Metadata[T], list ...ed25519.PrivateKey) error {
	m.ClearSignatures()
	for _, key := range list {
		signer, err := signature.LoadSigner(key, crypto.Hash(0))
		if err != nil {
			return err
		}
		if _, err := m.Sign(signer); err != nil {
			return err
		}
	}
	return nil
}

// write replaces a file of metadata.
func write[T metadata.Roles](m *metadata.Metadata[T], path string) error {
	data, err := m.ToBytes(true)
	if err != nil {
		return err
	}
	return file.Replace(path, 0o644, file.Bytes(data))
}

// readKey reads an Ed25519 key as openssl writes it.
func readKey(path string) (ed25519.PrivateKey, error) {
	text, _, err := file.Read(path, file.Follow, 64<<10)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s has no key (openssl genpkey -algorithm ed25519 -out %s)", path, path)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	private, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s is no Ed25519 key (openssl genpkey -algorithm ed25519)", path)
	}
	return private, nil
}
