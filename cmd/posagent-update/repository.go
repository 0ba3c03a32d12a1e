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

	"posagent/agent/lifecycle/update"
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

// apart fails unless one stolen key is worth nothing: two keys of the root and two of the programs, and none that is another one.
func (k keys) apart() error {
	for _, role := range []struct {
		flag string
		list []ed25519.PrivateKey
	}{{"--root-key", k.root}, {"--targets-key", k.targets}} {
		if len(role.list) < 2 {
			return fmt.Errorf("%w: %s was given %d time(s), and who steals that one key signs for every box: give two, which two people keep", errRefused, role.flag, len(role.list))
		}
	}
	of := map[string]string{}
	for _, role := range []struct {
		flag string
		list []ed25519.PrivateKey
	}{{"--root-key", k.root}, {"--targets-key", k.targets}, {"--online-key", []ed25519.PrivateKey{k.online}}} {
		for _, key := range role.list {
			public := string(key.Public().(ed25519.PublicKey))
			if was := of[public]; was != "" {
				return fmt.Errorf("%w: one key was given as %s and as %s: it counts once, so the role would never have its signatures, or one stolen key would sign for two: make a key for each", errRefused, was, role.flag)
			}
			of[public] = role.flag
		}
	}
	return nil
}

// believed fails where no box believes what was signed for a role: by other keys than the root names, or by too few.
func (r *repository) believed(role string, signed any) error {
	if err := r.root.VerifyDelegate(role, signed); err != nil {
		return fmt.Errorf("%w: no box would believe what these keys sign as %s: they are not those that %s was made with (%v)", errRefused, role, r.dir, err)
	}
	return nil
}

// good is until when boxes believe the repository: until the first of its parts ends.
func (r *repository) good() (until time.Time, part string) {
	until, part = r.timestamp.Signed.Expires, "the newest state"
	for _, p := range []struct {
		part string
		ends time.Time
	}{{"the snapshot", r.snapshot.Signed.Expires}, {"the list of programs", r.targets.Signed.Expires}, {"the root", r.root.Signed.Expires}} {
		if p.ends.Before(until) {
			until, part = p.ends, p.part
		}
	}
	return until.UTC(), part
}

// newRepository makes the first state of a repository, in which there is nothing.
func newRepository(dir string, now time.Time, k keys) (*repository, error) {
	if err := k.apart(); err != nil {
		return nil, err
	}
	for _, name := range []string{"timestamp.json", "2.root.json", "1.snapshot.json"} { // the first state writes these after its root
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w: %s has %s, so it is a repository already, whose boxes would believe no other root", errRefused, dir, name)
		}
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
	if err := signAll(r.root, k.root...); err != nil {
		return nil, err
	}
	if err := r.believed(metadata.ROOT, r.root); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, "targets"), 0o755); err != nil {
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

// about are what a program's folder may have beside it: what is inside, and the licences of that.
func about() []string { return []string{".cdx.json", ".copyright"} }

// offerAbout offers what lies beside a program with it, so that whoever has the program has its licences. What lay beside the one before
// goes. It returns what is missing.
func (r *repository) offerAbout(name, file, version string, percent int) (missing []string, err error) {
	for _, ending := range about() {
		beside := file + ending
		switch {
		case file != "" && !fileThere(beside):
			delete(r.targets.Signed.Targets, name+ending)
			missing = append(missing, filepath.Base(beside))
			continue
		case file == "" && r.targets.Signed.Targets[name+ending] == nil:
			continue
		case file == "":
			beside = ""
		}
		if err := r.offer(name+ending, beside, version, percent); err != nil {
			return nil, err
		}
	}
	return missing, nil
}

// sign makes the state of the repository its newest: with new targets, or with a new timestamp alone. Nothing is written unless boxes
// believe it.
func (r *repository) sign(k keys, targets bool) error {
	if targets {
		if len(r.targets.Signatures) > 0 {
			r.targets.Signed.Version++
		}
		r.targets.Signed.Expires = r.now.Add(targetsFor)
		if err := signAll(r.targets, k.targets...); err != nil {
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
	err := errors.Join(r.believed(metadata.TARGETS, r.targets), r.believed(metadata.SNAPSHOT, r.snapshot), r.believed(metadata.TIMESTAMP, r.timestamp))
	if err != nil {
		return err
	}
	if until, part := r.good(); !r.now.Before(until) {
		return fmt.Errorf("%w: %s ended at %s, so no box believes the repository: offer the programs anew, or make a new one where it is the root", errRefused, part, until.Format(time.DateTime))
	}
	if targets {
		if err := write(r.targets, filepath.Join(r.dir, fmt.Sprintf("%d.targets.json", r.targets.Signed.Version))); err != nil {
			return err
		}
	}
	if err := write(r.snapshot, filepath.Join(r.dir, fmt.Sprintf("%d.snapshot.json", r.snapshot.Signed.Version))); err != nil {
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
