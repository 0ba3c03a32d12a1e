package sqlite_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

var errPlug = errors.New("the plug was pulled")

// bundled makes a store with two sealed rows, backs it up beside its owner and returns the bundle
// and its key's secret.
func bundled(t *testing.T) (path, bundle string, sealed []byte, secret []byte) {
	t.Helper()
	dir := t.TempDir()
	path, bundle, secret = filepath.Join(dir, "a.db"), filepath.Join(dir, "a.bundle"), []byte("a secret of some length")
	s := storetest.OpenAt(t, path, cardStep)
	defer func() { require.NoError(t, s.Close()) }()
	require.NoError(t, s.Advance(t.Context()))
	for i := range 600 { // more than one batch of keys
		sealed = seal(t, s, store.Cell{Table: "cards", Key: fmt.Sprintf("k%03d", i), Column: "pan"}, "4111")
	}
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec("INSERT INTO cards VALUES ('k599', ?)", sealed)
		return err
	}))
	k, err := store.NewBundleKey(secret)
	require.NoError(t, err)
	copied := filepath.Join(dir, "copy.db")
	require.NoError(t, sqlite.Snapshot(t.Context(), path, copied, storetest.Wrapper{}, k, nil))
	content, err := os.ReadFile(copied)
	require.NoError(t, err)
	out, err := os.Create(bundle)
	require.NoError(t, err)
	head := store.BundleHead{Terminal: "T1", Schema: 2, Generation: 1, Bytes: int64(len(content))}
	require.NoError(t, store.SealBundle(t.Context(), k, head, bytes.NewReader(content), out, nil))
	require.NoError(t, out.Close())
	require.NoError(t, os.Remove(copied))
	return path, bundle, sealed, secret
}

func unbundle(t *testing.T, bundle, to string, secret []byte) (*store.BundleKey, error) {
	t.Helper()
	f, err := os.Open(bundle)
	require.NoError(t, err)
	defer f.Close()
	head, err := store.ReadBundleHead(f)
	if err != nil {
		return nil, err
	}
	require.Equal(t, "T1", head.Terminal)
	require.EqualValues(t, 1, head.Generation)
	k, err := head.Key(secret)
	require.NoError(t, err)
	out, err := os.Create(to)
	require.NoError(t, err)
	defer out.Close()
	return k, store.OpenBundle(t.Context(), k, f, out, nil)
}

func TestABackupIsReadUnderAnotherDeviceKey(t *testing.T) {
	path, bundle, sealed, secret := bundled(t)
	staged := path + ".restore"
	k, err := unbundle(t, bundle, staged, secret)
	require.NoError(t, err)
	other := storetest.Wrapper{ID: 7}
	opt := sqlite.Options{Path: staged, Steps: []store.Step{cardStep}, Wrapper: other}
	require.NoError(t, sqlite.Stage(t.Context(), opt, k, "restored in a test"))
	release, err := sqlite.Hold(t.Context(), path)
	require.NoError(t, err)
	_, err = open(path, cardStep)
	require.ErrorIs(t, err, store.ErrLocked)
	require.NoError(t, sqlite.Replace(t.Context(), staged, path, false))
	require.NoError(t, release())
	left, err := filepath.Glob(staged + "*")
	require.NoError(t, err)
	require.Empty(t, left)

	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, Steps: []store.Step{cardStep}, Wrapper: other, Ballast: -1})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	plain, err := unseal(s, store.Cell{Table: "cards", Key: "k599", Column: "pan"}, sealed)
	require.NoError(t, err)
	require.Equal(t, "4111", string(plain))
	past, err := s.Past(t.Context())
	require.NoError(t, err)
	require.Equal(t, "restored in a test", past)
	require.NoError(t, s.Advance(t.Context()))
	past, err = s.Past(t.Context())
	require.NoError(t, err)
	require.Empty(t, past)
}

// Whatever is changed, cut off or added is noticed before anything is put in place.
func TestABundleIsWholeOrRefused(t *testing.T) {
	_, bundle, _, secret := bundled(t)
	good, err := os.ReadFile(bundle)
	require.NoError(t, err)
	require.NotContains(t, string(good), "SQLite format")
	require.NotContains(t, string(good), "4111")
	to := bundle + ".out"
	_, err = unbundle(t, bundle, to, []byte("another secret of length"))
	require.ErrorIs(t, err, store.ErrBundleKey)
	newer := bytes.Replace(good, []byte("posagent-bundle 1"), []byte("posagent-bundle 2"), 1)
	require.NoError(t, os.WriteFile(bundle, newer, 0o600))
	_, err = unbundle(t, bundle, to, secret)
	require.ErrorIs(t, err, store.ErrBundleNewer)
	for name, bad := range map[string][]byte{
		"empty": nil, "other": []byte("SQLite format 3\x00"), "cut": good[:len(good)-1], "half": good[:len(good)/2],
		"longer": append(bytes.Clone(good), 0), "head": bytes.Replace(good, []byte(`"T1"`), []byte(`"T2"`), 1),
		"middle": flip(good, len(good)/2), "sum": flip(good, len(good)-1),
	} {
		require.NoError(t, os.WriteFile(bundle, bad, 0o600))
		_, err := unbundle(t, bundle, to, secret)
		require.ErrorIs(t, err, store.ErrBundle, name)
	}
}

func sha(b []byte) []byte {
	sum := sha256.Sum256(b)
	return sum[:]
}

func flip(b []byte, at int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 1
	return b
}

// The checksum keeps nobody from changing a bundle; the seal does.
func TestABundleIsAuthenticated(t *testing.T) {
	secret := []byte("a secret of some length")
	k, err := store.NewBundleKey(secret)
	require.NoError(t, err)
	content := bytes.Repeat([]byte("0123456789abcdef"), 3*4096+5)
	var out bytes.Buffer
	require.NoError(t, store.SealBundle(t.Context(), k, store.BundleHead{Bytes: int64(len(content))}, bytes.NewReader(content), &out, nil))
	whole := out.Bytes()
	start := bytes.IndexByte(whole, '\n')
	start += 1 + bytes.IndexByte(whole[start+1:], '\n') + 1
	const part = 64<<10 + 16
	body := whole[start : len(whole)-32]
	require.Greater(t, len(body), 3*part)
	for name, body := range map[string][]byte{
		"last part cut off": body[:3*part], "parts swapped": append(append(append([]byte{}, body[part:2*part]...), body[:part]...), body[2*part:]...),
		"first part missing": body[part:], "part twice": append(append([]byte{}, body[:part]...), body...),
	} {
		forged := append(append([]byte{}, whole[:start]...), body...)
		sum := sha(forged)
		f := bytes.NewReader(append(forged, sum...))
		require.Error(t, store.OpenBundle(t.Context(), k, f, &bytes.Buffer{}, nil), name)
	}
	forged := bytes.Replace(whole[:len(whole)-32], []byte(`"schema":0`), []byte(`"schema":1`), 1)
	require.ErrorIs(t, store.OpenBundle(t.Context(), k, bytes.NewReader(append(forged, sha(forged)...)), &bytes.Buffer{}, nil), store.ErrBundleKey)
	var back bytes.Buffer
	require.NoError(t, store.OpenBundle(t.Context(), k, bytes.NewReader(whole), &back, nil))
	require.Equal(t, content, back.Bytes())
}

// limping fails to wrap after some keys, as a program does that is killed.
type limping struct {
	storetest.Wrapper
	left *int
}

func (l limping) Wrap(plain []byte) ([]byte, error) {
	if *l.left--; *l.left < 0 {
		return nil, errPlug
	}
	return l.Wrapper.Wrap(plain)
}

// either opens what was wrapped under any of both, as a device does while its key changes.
type either struct{ old, next storetest.Wrapper }

func (e either) Wrap(plain []byte) ([]byte, error) { return e.next.Wrap(plain) }

func (e either) Unwrap(wrapped []byte) ([]byte, error) {
	if plain, err := e.next.Unwrap(wrapped); err == nil {
		return plain, nil
	}
	return e.old.Unwrap(wrapped)
}

func TestRewrapGoesOnWhereItBrokeOff(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s := storetest.OpenAt(t, path, cardStep, ownStep)
	const rows = 900 // half of them keep their keys themselves
	sealed := map[string][]byte{}
	for i := range rows {
		key := fmt.Sprint("k", i)
		if i%2 == 0 {
			sealed[key] = seal(t, s, store.Cell{Table: "cards", Key: key, Column: "pan"}, key)
		} else {
			putOwn(t, s, key, key)
		}
	}
	mac := s.MAC("t", "k")
	require.NoError(t, s.Close())
	both := either{storetest.Wrapper{}, storetest.Wrapper{ID: 9}}
	at := func(w store.Wrapper) store.Journal {
		s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, Steps: []store.Step{cardStep, ownStep}, Wrapper: w, Ballast: -1})
		require.NoError(t, err)
		return s
	}
	own := func(s store.Journal) {
		t.Helper()
		plain, err := readOwn(t, s)
		require.NoError(t, err)
		require.Len(t, plain, rows/2)
		for key, value := range plain {
			require.Equal(t, key, value)
		}
	}
	for _, most := range []int{0, 1, 300, 500, 10_000} {
		s = at(both)
		require.Equal(t, mac, s.MAC("t", "k"))
		left := most
		err := s.Rewrap(context.Background(), limping{both.next, &left}, nil)
		if most < rows {
			require.ErrorIs(t, err, errPlug)
		} else {
			require.NoError(t, err)
		}
		for key, value := range sealed {
			plain, err := unseal(s, store.Cell{Table: "cards", Key: key, Column: "pan"}, value)
			require.NoError(t, err)
			require.Equal(t, key, string(plain))
		}
		own(s)
		require.NoError(t, s.Close())
	}
	s = at(both.next)
	own(s)
	require.Equal(t, mac, s.MAC("t", "k"))
	for key, value := range sealed {
		_, err := unseal(s, store.Cell{Table: "cards", Key: key, Column: "pan"}, value)
		require.NoError(t, err)
	}
	require.NoError(t, s.Close())
	_, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, Steps: []store.Step{cardStep, ownStep}, Wrapper: both.old, Ballast: -1})
	require.ErrorIs(t, err, storetest.ErrUnwrap)
}
