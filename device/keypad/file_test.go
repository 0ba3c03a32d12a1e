package keypad

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"posagent/device/keypad/entry"
	"posagent/ecr/ecrtest/lines"
)

const patience = 20 * time.Second // for a machine that is busy

// pipe is a pad whose events come out of a real file: a FIFO. What the kernel says of a device is made up.
type pipe struct {
	file
	*fake
}

func (p pipe) Read(b []byte) (int, error) { return p.file.Read(b) }
func (p pipe) Close() error               { return p.file.Close() }
func (p pipe) Flush() error               { return p.file.Flush() }

var _ device = pipe{}

func arrives[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatal("waited in vain for " + what)
		panic(what)
	}
}

// TestAPadBehindAFile reads a FIFO, whose bytes outlive its reader: what was written while nobody read is not delivered.
func TestAPadBehindAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pad")
	require.NoError(t, unix.Mkfifo(path, 0o600))
	contacts, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	defer contacts.Close()

	p, err := New(Config{Path: path})
	require.NoError(t, err)
	may, opened := make(chan struct{}, 1), make(chan pipe, 1)
	ctx, cancel := context.WithCancel(t.Context())
	p.open = func(path string) (device, error) {
		select {
		case <-may:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		f, err := openFile(path)
		if err != nil {
			return nil, err
		}
		opened <- pipe{f, newFake()}
		return pipe{f, newFake()}, nil
	}
	keys, reports, ended := make(chan entry.Key, 10), make(chan Status, 10), make(chan error, 1)
	go func() { ended <- p.Run(ctx, func(k entry.Key) { keys <- k }, func(s Status) { reports <- s }) }()

	write := func(data []byte) {
		_, err := contacts.Write(data)
		require.NoError(t, err)
	}
	write(tap(1, enter)) // nobody reads yet
	may <- struct{}{}
	first := arrives(t, opened, "the pad to be opened")
	require.True(t, arrives(t, reports, "a report").Open)
	write(append(tap(2, key5), tap(3, key0)...))
	require.Equal(t, entry.Digit(5), arrives(t, keys, "5"))
	require.Equal(t, entry.Digit(0), arrives(t, keys, "0"))

	require.NoError(t, first.Close()) // pulled
	require.False(t, arrives(t, reports, "a report").Open)
	require.Equal(t, entry.Gap, arrives(t, keys, "the gap"))
	write(append(tap(4, key5), tap(5, enter)...))
	may <- struct{}{}
	arrives(t, opened, "the pad to be opened again")
	require.True(t, arrives(t, reports, "a report").Open)
	write(tap(6, key0))
	require.Equal(t, entry.Digit(0), arrives(t, keys, "0"), "not what was pressed while it was away")

	cancel() // while it reads
	require.NoError(t, arrives(t, ended, "the end"))
	require.Empty(t, keys)
}

// TestOtherFilesAreNotOpened: some devices do something when they are opened.
func TestOtherFilesAreNotOpened(t *testing.T) {
	regular := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(regular, make([]byte, 24), 0o600))
	_, tty, err := lines.PTY()
	require.NoError(t, err)
	for _, path := range []string{regular, t.TempDir(), "/dev/null", tty} {
		_, err := Config{Path: path}.Look()
		require.ErrorIs(t, err, ErrNotInput, path)
		require.EqualError(t, err, "open "+path+": not an input device: name one of /dev/input/by-id (ls -l /dev/input/by-id)")
	}
	_, err = Config{Path: "/dev/input/by-id/none-event-kbd"}.Look()
	require.ErrorIs(t, err, os.ErrNotExist)
}
