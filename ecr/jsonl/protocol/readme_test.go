package protocol

import (
	"context"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/ecr/ecrtest/desk"
	"posagent/ecr/session"
)

// TestTheREADMEsRegisterHearsALostAnswer runs the Python of the README against a terminal whose
// first connection breaks in the middle of the outcome.
func TestTheREADMEsRegisterHearsALostAnswer(t *testing.T) {
	python := need.Tool(t, "python3")
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	_, code, _ := strings.Cut(string(readme), "```python\n")
	code, _, ok := strings.Cut(code, "```")
	require.True(t, ok)
	require.Contains(t, string(readme), paid+"*881A")

	ctx, cancel := context.WithTimeout(t.Context(), need.Limit())
	defer cancel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	d := desk.New()
	s := session.New(session.Options{Line: "tcp", Desk: d, Till: d, Memory: d, Protocol: New(Options{JSONL: config()})})
	ended := make(chan error, 1)
	serving, stop := context.WithCancel(ctx)
	go func() { ended <- s.ServeTCP(serving, &breaking{Listener: listener}) }()
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	code = strings.Replace(code, "20017", port, 1) + "\nheard = pay(1250)\nprint(heard['outcome'], heard['amount'], heard['receipt'])\n"
	out, err := exec.CommandContext(ctx, python, "-c", code).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, "approved 1250 1\n", string(out))
	stop()
	<-ended
	require.Len(t, d.Begun, 1)
	require.Equal(t, []string{"begin s1", "lost s1", "told s1"}, d.Log)
}

// breaking is a listener whose first connection breaks after 80 bytes of the terminal's.
type breaking struct {
	net.Listener
	accepted int
}

func (b *breaking) Accept() (net.Conn, error) {
	c, err := b.Listener.Accept()
	if b.accepted++; b.accepted == 1 && err == nil {
		return &cut{Conn: c, left: 80}, nil
	}
	return c, err
}

type cut struct {
	net.Conn
	left int
}

func (c *cut) Write(p []byte) (int, error) {
	if len(p) < c.left {
		c.left -= len(p)
		return c.Conn.Write(p)
	}
	_, _ = c.Conn.Write(p[:c.left])
	return 0, c.Close()
}
