package store

import (
	"bufio"
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// What can be wrong with a bundle. Decide with errors.Is.
var (
	// ErrBundle: it is not a bundle, or is incomplete or changed.
	ErrBundle = errors.New("store: not a whole bundle")
	// ErrBundleKey: it was sealed under another key.
	ErrBundleKey = errors.New("store: bundle is sealed under another key")
	// ErrBundleNewer: its format is newer than this program.
	ErrBundleNewer = errors.New("store: bundle is of a newer format")
)

const (
	bundleMagic      = "posagent-bundle "
	bundleVersion    = 1
	bundleChunk      = 64 << 10
	bundleHeadMost   = 4 << 10
	bundleIterations = 300_000
	bundleKDF        = "pbkdf2-hmac-sha256"
)

// BundleHead stands readable at the head of a bundle; it is authenticated with the content.
type BundleHead struct {
	Version    int    `json:"version"`
	Created    string `json:"created"` // RFC 3339, by the box's clock
	Program    string `json:"program"`
	Schema     int    `json:"schema"`     // applied steps
	Terminal   string `json:"terminal"`   // whose journal it is
	Device     string `json:"device"`     // id of the key of the box it was made on
	Generation int64  `json:"generation"` // of the database
	Bytes      int64  `json:"bytes"`      // of the content
	KDF        string `json:"kdf"`
	Iterations int    `json:"iterations"`
	Salt       []byte `json:"salt"`
}

// BundleKey is what a secret and the salt of one bundle make. It also wraps the data keys inside.
type BundleKey struct {
	salt         []byte
	iterations   int
	stream, wrap cipher.AEAD
}

var _ Wrapper = (*BundleKey)(nil)

// NewBundleKey derives the key of a new bundle. It takes a while, on purpose.
func NewBundleKey(secret []byte) (*BundleKey, error) {
	salt := make([]byte, 16)
	rand.Read(salt)
	return deriveBundleKey(secret, salt, bundleIterations)
}

// Key derives the key of the bundle with this head. ErrBundle, ErrBundleNewer.
func (h BundleHead) Key(secret []byte) (*BundleKey, error) {
	if h.KDF != bundleKDF || h.Iterations < 1000 || h.Iterations > 10_000_000 || len(h.Salt) < 16 {
		return nil, fmt.Errorf("%w: key derivation %q", ErrBundle, h.KDF)
	}
	return deriveBundleKey(secret, h.Salt, h.Iterations)
}

func deriveBundleKey(secret, salt []byte, iterations int) (*BundleKey, error) {
	key, err := pbkdf2.Key(sha256.New, string(secret), salt, iterations, 64)
	if err != nil {
		return nil, err
	}
	k := &BundleKey{salt: salt, iterations: iterations}
	if k.stream, err = newAEAD(key[:32]); err == nil {
		k.wrap, err = newAEAD(key[32:])
	}
	return k, err
}

// Wrap implements Wrapper.
func (k *BundleKey) Wrap(plain []byte) ([]byte, error) {
	out := make([]byte, k.wrap.NonceSize(), k.wrap.NonceSize()+len(plain)+k.wrap.Overhead())
	rand.Read(out)
	return k.wrap.Seal(out, out, plain, nil), nil
}

// Unwrap implements Wrapper.
func (k *BundleKey) Unwrap(wrapped []byte) ([]byte, error) {
	n := k.wrap.NonceSize()
	if len(wrapped) < n {
		return nil, ErrBundleKey
	}
	plain, err := k.wrap.Open(nil, wrapped[:n], wrapped[n:], nil)
	if err != nil {
		return nil, ErrBundleKey
	}
	return plain, nil
}

// SealBundle writes content, of head.Bytes bytes, as a bundle. progress may be nil.
func SealBundle(ctx context.Context, k *BundleKey, head BundleHead, content io.Reader, to io.Writer, progress func(done, of int64)) error {
	head.Version, head.KDF, head.Iterations, head.Salt = bundleVersion, bundleKDF, k.iterations, k.salt
	text, err := json.Marshal(head)
	if err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	sum := sha256.New()
	out := io.MultiWriter(to, sum)
	first := fmt.Appendf(nil, "%s%d\n%s\n", bundleMagic, bundleVersion, text)
	if _, err := out.Write(first); err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	in := bufio.NewReaderSize(content, bundleChunk)
	buf := make([]byte, bundleChunk, bundleChunk+aes.BlockSize)
	var done int64
	for n, last := uint64(0), false; !last; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		size, err := io.ReadFull(in, buf[:bundleChunk])
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
			return fmt.Errorf("bundle: %w", err)
		}
		_, err = in.Peek(1)
		last = err != nil
		if _, err := out.Write(k.stream.Seal(buf[:0], chunkNonce(n, last), buf[:size], first)); err != nil {
			return fmt.Errorf("bundle: %w", err)
		}
		if done += int64(size); progress != nil {
			progress(done, head.Bytes)
		}
	}
	if done != head.Bytes {
		return fmt.Errorf("bundle: %d bytes instead of %d", done, head.Bytes)
	}
	_, err = to.Write(sum.Sum(nil))
	return err
}

// chunkNonce counts the chunks and knows the last one, so that none can be moved, left out or cut
// off.
func chunkNonce(n uint64, last bool) []byte {
	nonce := make([]byte, 12)
	binary.BigEndian.PutUint64(nonce[3:], n)
	if last {
		nonce[11] = 1
	}
	return nonce
}

// ReadBundleHead reads the head of a bundle and checks the whole file against its checksum; no key
// is needed for it. It leaves the file where the content begins. ErrBundle, ErrBundleNewer.
func ReadBundleHead(f io.ReadSeeker) (head BundleHead, err error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return head, fmt.Errorf("bundle: %w", err)
	}
	head, first, err := bundleFirst(f)
	if err != nil {
		return head, err
	}
	if size < int64(len(first))+sha256.Size {
		return head, fmt.Errorf("%w: it ends too early", ErrBundle)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return head, fmt.Errorf("bundle: %w", err)
	}
	sum, want := sha256.New(), make([]byte, sha256.Size)
	if _, err := io.CopyN(sum, f, size-sha256.Size); err != nil {
		return head, fmt.Errorf("bundle: %w", err)
	}
	if _, err := io.ReadFull(f, want); err != nil {
		return head, fmt.Errorf("bundle: %w", err)
	}
	if !bytes.Equal(want, sum.Sum(nil)) {
		return head, fmt.Errorf("%w: its checksum does not fit: it is damaged or cut off", ErrBundle)
	}
	_, err = f.Seek(int64(len(first)), io.SeekStart)
	return head, err
}

// bundleFirst reads the two readable lines.
func bundleFirst(f io.ReadSeeker) (head BundleHead, first []byte, err error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return head, nil, fmt.Errorf("bundle: %w", err)
	}
	first, err = io.ReadAll(io.LimitReader(f, bundleHeadMost))
	if err != nil {
		return head, nil, fmt.Errorf("bundle: %w", err)
	}
	version, ours := bytes.CutPrefix(first, []byte(bundleMagic))
	version, rest, whole := bytes.Cut(version, []byte("\n"))
	text, _, more := bytes.Cut(rest, []byte("\n"))
	switch {
	case !ours || !whole || !more:
		return head, nil, ErrBundle
	case string(version) != fmt.Sprint(bundleVersion):
		return head, nil, fmt.Errorf("%w: %q, this program knows %d", ErrBundleNewer, version, bundleVersion)
	case json.Unmarshal(text, &head) != nil || head.Version != bundleVersion:
		return head, nil, ErrBundle
	}
	return head, first[:len(bundleMagic)+len(version)+1+len(text)+1], nil
}

// OpenBundle writes the content of a bundle to to. ErrBundle, ErrBundleNewer, ErrBundleKey.
func OpenBundle(ctx context.Context, k *BundleKey, f io.ReadSeeker, to io.Writer, progress func(done, of int64)) error {
	head, err := ReadBundleHead(f)
	if err != nil {
		return err
	}
	_, first, err := bundleFirst(f)
	if err != nil {
		return err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = f.Seek(int64(len(first)), io.SeekStart)
	}
	if err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	left := size - int64(len(first)) - sha256.Size
	in := bufio.NewReaderSize(f, bundleChunk)
	buf := make([]byte, bundleChunk+k.stream.Overhead())
	var done int64
	for n := uint64(0); left > 0; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := buf[:min(left, int64(len(buf)))]
		left -= int64(len(part))
		if _, err := io.ReadFull(in, part); err != nil {
			return fmt.Errorf("bundle: %w", err)
		}
		plain, err := k.stream.Open(part[:0], chunkNonce(n, left == 0), part, first)
		if err != nil {
			if n == 0 {
				return ErrBundleKey
			}
			return fmt.Errorf("%w: part %d does not verify", ErrBundle, n)
		}
		if _, err := to.Write(plain); err != nil {
			return fmt.Errorf("bundle: %w", err)
		}
		if done += int64(len(plain)); progress != nil {
			progress(done, head.Bytes)
		}
	}
	if done != head.Bytes {
		return fmt.Errorf("%w: %d bytes instead of %d", ErrBundle, done, head.Bytes)
	}
	return nil
}
