package point_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/campaign/kill/point"
)

// TestHit runs itself: the child reaches two places until it dies at one.
func TestHit(t *testing.T) {
	if os.Getenv(point.KillAt) != "" {
		for range 5 {
			point.Hit("a b: c")
			point.Hit("other")
		}
		return
	}
	log := filepath.Join(t.TempDir(), "log")
	cmd := exec.Command(os.Args[0], "-test.run", "TestHit")
	cmd.Env = append(os.Environ(), point.KillAt+"=a b: c:3", point.Log+"="+log)
	err := cmd.Run()
	require.Error(t, err)
	require.Equal(t, syscall.SIGKILL, cmd.ProcessState.Sys().(syscall.WaitStatus).Signal())
	got, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("a b: c\nother\n", 2)+point.Killed+"a b: c\n", string(bytes.ReplaceAll(got, []byte("\r"), nil)))
}

type thing struct{}

//go:noinline
func (*thing) work() func() { return func() { panic("never called") } }

func (*thing) plain() {}

func TestNames(t *testing.T) {
	x := &thing{}
	require.Equal(t, "point_test.thing.work", point.Func(x.work()))
	require.Equal(t, "point_test.thing.plain", point.Func(x.plain))
	require.Equal(t, "POST initialize", point.Route("POST", "/ms/aapay/2.0/payment/initialize"))
	require.Equal(t, "GET terminal/*/*", point.Route("GET", "/ms/terminal/1000001/29001006"))
	require.Equal(t, "POST Invoice", point.Route("POST", "/v1.0/Invoice/"))
	require.Equal(t, "POST capture", point.Route("POST", "/v1.0/Transaction/17/capture"))
	require.Equal(t, "DELETE Invoice/*", point.Route("DELETE", "/v1.0/Invoice/17/"))
	for _, bad := range []string{"", "a", "a:", "a:0", "a:x"} {
		_, _, err := point.Parse(bad)
		require.Error(t, err, bad)
	}
}
