package doctor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"posagent/cross/need"
	"posagent/cross/program"
)

// stopped is a journal that has been used, of a terminal that does not run.
func (b *box) stopped() {
	b.run(isReady)
	b.stop()
}

// copyJournal copies what belongs to a journal, but not its mark.
func (b *box) copyJournal(from, to string) {
	for _, end := range []string{"", "-wal", "-shm"} {
		data, err := os.ReadFile(from + end)
		if os.IsNotExist(err) {
			_ = os.Remove(to + end)
			continue
		}
		require.NoError(b.t, err)
		require.NoError(b.t, os.WriteFile(to+end, data, 0o600))
	}
}

// spoil writes over a part of a file.
func (b *box) spoil(path string, at int64, with []byte) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(b.t, err)
	_, err = f.WriteAt(with, at)
	require.NoError(b.t, err)
	require.NoError(b.t, f.Close())
}

// disk mounts a file system of its own for the state directory.
func (b *box) disk(options string) {
	require.NoError(b.t, os.MkdirAll(b.state(), 0o700))
	require.NoError(b.t, unix.Mount("tmpfs", b.state(), "tmpfs", 0, "mode=0700,"+options))
	b.t.Cleanup(func() { b.stop(); _ = unix.Unmount(b.state(), unix.MNT_DETACH) })
}

// journalFaults are those of the journal and the disk below it.
func journalFaults() []fault {
	return []fault{
		{name: "disk: full", as: "disk full", want: "PA-DSK-003", code: 1, seen: "df -h", root: true, seed: func(b *box) {
			b.disk("size=6m")
			b.stopped()
			f, err := os.Create(filepath.Join(b.state(), "fill"))
			require.NoError(b.t, err)
			for chunk := make([]byte, 4096); err == nil; _, err = f.Write(chunk) {
			}
			require.ErrorIs(b.t, err, unix.ENOSPC)
			_ = f.Close()
		}},
		{name: "disk: full, beside the running terminal", want: "PA-DSK-003", code: 1, seen: "df -h", root: true, seed: func(b *box) {
			b.disk("size=6m")
			b.run(isReady)
			f, err := os.Create(filepath.Join(b.state(), "fill"))
			require.NoError(b.t, err)
			for chunk := make([]byte, 4096); err == nil; _, err = f.Write(chunk) {
			}
			require.ErrorIs(b.t, err, unix.ENOSPC)
			_ = f.Close()
		}},
		{name: "disk: no inode", want: "PA-DSK-004", code: 1, seen: "df -i", root: true, seed: func(b *box) {
			b.disk("size=64m,nr_inodes=60")
			b.stopped()
			var err error
			for i := 0; err == nil; i++ {
				err = os.WriteFile(filepath.Join(b.state(), fmt.Sprint("f", i)), nil, 0o600)
			}
			require.ErrorIs(b.t, err, unix.ENOSPC)
		}},
		{name: "disk: read-only", as: "RO fs", want: "PA-DSK-002", code: 1, seen: "dmesg", root: true, seed: func(b *box) {
			b.disk("size=64m")
			b.stopped()
			require.NoError(b.t, unix.Mount("", b.state(), "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
		}},
		{name: "journal: its head is damaged", want: "PA-DB-003", code: 9, seen: "dmesg", quick: true, seed: func(b *box) {
			b.stopped()
			b.spoil(b.journal(), 0, []byte("this is no database any more"))
		}},
		{name: "journal: a page is damaged", as: "DB corrupt", want: "PA-DB-004", code: 9, seen: "dmesg", seed: func(b *box) {
			b.stopped()
			info, err := os.Stat(b.journal())
			require.NoError(b.t, err)
			pages := info.Size() / 1024
			require.Greater(b.t, pages, int64(20))
			for page := pages / 2; page < pages; page++ { // not those of the schema
				b.spoil(b.journal(), page*1024, bytes.Repeat([]byte{0xA5}, 64))
			}
		}},
		{name: "journal: its log is not folded", as: "WAL huge", want: "PA-DB-005", code: 1, seen: "more than 64 MiB", seed: func(b *box) {
			b.run(isReady)
			require.NoError(b.t, os.Truncate(b.journal()+"-wal", 80<<20)) // what lies behind its last commit is no commit
		}},
		{name: "journal: cut, its mark is newer", want: "PA-DB-001", code: 9, seen: "posagent sale list", quick: true, seed: func(b *box) {
			b.stopped()
			b.copyJournal(b.journal(), filepath.Join(b.dir, "old.db"))
			b.stopped()
			b.copyJournal(filepath.Join(b.dir, "old.db"), b.journal())
		}},
		{name: "journal: gone, its mark is there", want: "PA-DB-001", code: 9, seen: "is lost", seed: func(b *box) {
			b.stopped()
			for _, end := range []string{"", "-wal", "-shm"} {
				_ = os.Remove(b.journal() + end)
			}
		}},
	}
}

// pay stores a payment of a local client over the local port, and returns the reply's status.
func (b *box) pay(port string) int {
	b.t.Helper()
	token, err := os.ReadFile(filepath.Join(b.state(), "port.token"))
	require.NoError(b.t, err)
	body := `{"type":"Moto","amount":1250,"currencyCode":"EUR","processing":"Sale","cardDetails":{"pan":"4111111111111111","expiryYear":2090,"expiryMonth":1}}`
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, port+"/api/v1/payments", strings.NewReader(body))
	require.NoError(b.t, err)
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	req.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Client{Timeout: need.Limit()}).Do(req)
	require.NoError(b.t, err)
	defer resp.Body.Close()
	reply, err := io.ReadAll(resp.Body)
	require.NoError(b.t, err)
	b.t.Logf("%s %s", resp.Status, reply)
	return resp.StatusCode
}

// key is the key of the newest operation that ops list chooses, "" where there is none.
func (b *box) key(choice ...string) string {
	b.t.Helper()
	var v struct{ Operations []struct{ Key string } }
	require.NoError(b.t, json.Unmarshal([]byte(b.must(append([]string{"ops", "list", "--json"}, choice...)...)), &v))
	if len(v.Operations) == 0 {
		return ""
	}
	return v.Operations[len(v.Operations)-1].Key
}

// owed stores one payment while the payments are answered in one way, after they have answered well once: before that, nothing is stored
// for them. err answers a request.
func (b *box) owed(err http.HandlerFunc) {
	b.t.Helper()
	var begun atomic.Bool
	b.serve(b.through(func(w http.ResponseWriter, r *http.Request) bool {
		if !begun.Load() || !strings.HasPrefix(r.URL.Path, "/api/v1/payments") {
			return false
		}
		err(w, r)
		return true
	}))
	port := program.Said(b.run(isReady), "port=")
	require.Equal(b.t, http.StatusCreated, b.pay(port))
	begun.Store(true)
	require.Equal(b.t, http.StatusAccepted, b.pay(port))
}

// lost takes a request and breaks the connection off.
func lost(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	panic(http.ErrAbortHandler)
}

// queueFaults are those of what waits for the backend.
func queueFaults() []fault {
	return []fault{
		{name: "an operation is in doubt", want: "PA-QUE-002", code: 1, seen: "1 in doubt", quick: true, seed: func(b *box) {
			b.set["offline.keyless"] = `["payments"]`
			b.owed(lost)
			b.until("the operation is in doubt", func() bool { return b.key("--in", "doubt") != "" })
		}},
		{name: "an operation is held", want: "PA-QUE-002", code: 1, seen: "1 held", seed: func(b *box) {
			b.owed(answers(503, "application/json", "{}"))
			b.must("ops", "hold", b.key("--open"), "--reason", "look first")
		}},
		{name: "a service does not take what is owed to it", want: "PA-QUE-004", code: 1, seen: "payments", seed: func(b *box) {
			b.owed(lost)
			b.until("the terminal knows it", func() bool {
				out, _ := b.command(b.t.Context(), "status").Output()
				return strings.Contains(string(out), "payments: does not answer")
			})
		}},
		{name: "the oldest operation is stuck: its service asks it to wait", want: "PA-QUE-004", code: 1, seen: "payments", seed: func(b *box) {
			b.owed(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Retry-After", "600")
				answers(429, "application/json", "{}")(w, r)
			})
			b.until("the terminal knows it", func() bool {
				out, _ := b.command(b.t.Context(), "status").Output()
				return strings.Contains(string(out), "payments: does not answer")
			})
		}},
		{name: "a restored journal was not looked at", want: "PA-QUE-001", code: 1, seen: "posagent ops release", seed: func(b *box) {
			key := filepath.Join(b.dir, "backup.key")
			require.NoError(b.t, os.WriteFile(key, []byte("0123456789abcdef0123456789abcdef0123456789abcdef\n"), 0o600))
			b.stopped()
			b.must("backup", filepath.Join(b.dir, "shop.bundle"), "--key-file", key)
			b.must("restore", filepath.Join(b.dir, "shop.bundle"), "--key-file", key)
			b.run(isReady)
		}},
	}
}
