package update

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/theupdateframework/go-tuf/v2/metadata"
	"github.com/theupdateframework/go-tuf/v2/metadata/config"
	"github.com/theupdateframework/go-tuf/v2/metadata/updater"
)

// maxProgram is the longest program that is taken, in bytes.
const maxProgram = 128 << 20

// Source is a repository.
type Source struct {
	Root []byte // the root metadata that this box was given
	URL  string // https://…, or http:// of this machine
	Dir  string // a folder, instead of URL

	UserAgent string
	RootsFile string // PEM of the authorities behind https, "" = the system's

	link link
}

// Release is a program that the repository offers for this box.
type Release struct {
	Target  string // its name in the repository
	Version string
	Percent int // of all boxes that are to have it
	SHA256  string
	Bytes   int64

	url  string
	link link
}

// custom is what a repository says of a program beside its length and hash.
type custom struct {
	Version string `json:"version"`
	Percent *int   `json:"percent,omitempty"` // absent = all boxes
}

// newest verifies the repository's metadata and returns what it offers under a name. was is the newest that was seen of it, and the
// result is what has to be remembered before anything is used. ErrUnreachable, ErrUntrusted, ErrClock.
func (s *Source) newest(ctx context.Context, target, cache string, was seen, now time.Time) (Release, seen, error) {
	base, err := s.open()
	if err != nil {
		return Release{}, was, err
	}
	copies := filepath.Join(cache, "metadata")
	up, err := s.refresh(ctx, base, copies, now)
	if errors.Is(err, ErrUntrusted) { // the copies may be spoilt: what was seen is known without them
		if err := os.RemoveAll(copies); err != nil {
			return Release{}, was, err
		}
		up, err = s.refresh(ctx, base, copies, now)
	}
	if err != nil {
		return Release{}, was, err
	}
	set := up.GetTrustedMetadataSet()
	is := seen{
		Root: set.Root.Signed.Version, Timestamp: set.Timestamp.Signed.Version, Snapshot: set.Snapshot.Signed.Version,
		Targets: set.Targets[metadata.TARGETS].Signed.Version,
		Signed:  signedAt(set.Timestamp), At: now,
	}
	if is.Root == was.Root && was.Signed.After(is.Signed) {
		is.Signed = was.Signed
	}
	// A new root may take keys away that have made up high numbers: then the numbers begin anew.
	if is.Root < was.Root || is.Root == was.Root && (is.Timestamp < was.Timestamp || is.Snapshot < was.Snapshot || is.Targets < was.Targets) {
		return Release{}, was, fmt.Errorf("%w: it shows an older state than before", ErrUntrusted)
	}
	if now.Before(is.Signed.Add(-24 * time.Hour)) { // nothing would be expired
		return Release{}, was, fmt.Errorf("%w: it says %s, and the repository was signed at %s", ErrClock, now.UTC().Format(time.DateTime), is.Signed.UTC().Format(time.DateTime))
	}
	info, err := up.GetTargetInfo(target)
	if err != nil {
		return Release{}, is, fmt.Errorf("%w: it has no %s for this box", ErrUntrusted, target)
	}
	r, err := released(target, info)
	if err != nil {
		return Release{}, is, err
	}
	name := r.SHA256 + "." + target
	r.url, r.link = strings.TrimSuffix(base, "/")+"/targets/"+name, s.link
	return r, is, nil
}

// signedAt reads when a timestamp was signed; zero = it does not say.
func signedAt(t *metadata.Metadata[metadata.TimestampType]) time.Time {
	text, _ := t.Signed.UnrecognizedFields[SignedField].(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at
}

// refresh verifies the repository's metadata, beside the copies of those that were seen before.
func (s *Source) refresh(ctx context.Context, base, copies string, now time.Time) (*updater.Updater, error) {
	cfg, err := config.New(base, s.Root)
	if err != nil {
		return nil, err
	}
	cfg.LocalMetadataDir, cfg.LocalTargetsDir = copies, copies // no program is kept there
	f := &fetcher{ctx: ctx, link: s.link}
	cfg.Fetcher = f
	up, err := updater.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("%w: its root: %w", ErrUntrusted, err)
	}
	up.UnsafeSetRefTime(now)
	if err := up.Refresh(); err != nil {
		var expired *metadata.ErrExpiredMetadata
		if errors.As(err, &expired) {
			err = fmt.Errorf("%w, by the clock of this box, which says %s", err, now.UTC().Format(time.DateTime))
		}
		return nil, f.judge(err)
	}
	return up, nil
}

// released reads what the signed metadata say of a program.
func released(target string, info *metadata.TargetFiles) (Release, error) {
	sum := info.Hashes["sha256"]
	var c custom
	if info.Custom == nil || json.Unmarshal(*info.Custom, &c) != nil || c.Version == "" || len(c.Version) > 64 || plain(c.Version) != c.Version {
		return Release{}, fmt.Errorf("%w: it does not say which version %s is", ErrUntrusted, target)
	}
	if len(sum) != sha256.Size || info.Length <= 0 || info.Length > maxProgram {
		return Release{}, fmt.Errorf("%w: %s has no SHA-256, or %d bytes", ErrUntrusted, target, info.Length)
	}
	r := Release{Target: target, Version: c.Version, Percent: 100, SHA256: hex.EncodeToString(sum), Bytes: info.Length}
	if c.Percent != nil {
		r.Percent = min(max(*c.Percent, 0), 100)
	}
	return r, nil
}

// fetch writes the program to a file and makes it durable. It fails where the bytes are not those that were signed: nothing stays then.
func (r Release) fetch(ctx context.Context, to string, progress func(done, of int64)) (err error) {
	in, err := r.link.open(ctx, r.url)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o700)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, out.Close()); err != nil {
			err = errors.Join(err, os.Remove(to))
		}
	}()
	sum, done := sha256.New(), int64(0)
	buf := make([]byte, 256<<10)
	for {
		n, err := in.Read(buf)
		if done += int64(n); done > r.Bytes {
			return fmt.Errorf("%w: %s is longer than was signed", ErrUntrusted, r.Target)
		}
		sum.Write(buf[:n])
		if _, bad := out.Write(buf[:n]); bad != nil {
			return bad
		}
		progress(done, r.Bytes)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrUnreachable, cmp.Or(ctx.Err(), err))
		}
	}
	if done != r.Bytes || hex.EncodeToString(sum.Sum(nil)) != r.SHA256 {
		return fmt.Errorf("%w: %s is not the file that was signed (%d of %d bytes)", ErrUntrusted, r.Target, done, r.Bytes)
	}
	return out.Sync()
}
