package need

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// ClosedPort is an address on this machine that refuses connections until the test ends. The port is
// taken and nothing listens on it: a port that was only given back may be another program's a moment
// later.
func ClosedPort(t testing.TB) (address string) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Close(fd) })
	require.NoError(t, syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	name, err := syscall.Getsockname(fd)
	require.NoError(t, err)
	return fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
}
