package till_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
)

// breaking forwards connections to an address; the first one breaks after some bytes of its answer.
// It returns the address that it listens at.
func breaking(t *testing.T, to string, after int64) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for first := true; ; first = false {
			from, err := ln.Accept()
			if err != nil {
				return
			}
			up, err := net.Dial("tcp", to)
			if err != nil {
				_ = from.Close()
				continue
			}
			most := int64(1) << 40
			if first {
				most = after
			}
			go func() { // ends with the connections
				part := make([]byte, 4096)
				for n, err := from.Read(part); err == nil; n, err = from.Read(part) {
					_, _ = up.Write(bytes.ReplaceAll(part[:n], []byte(ln.Addr().String()), []byte(to))) // the Host
				}
			}()
			go func() {
				defer up.Close()
				defer from.Close()
				_, _ = io.CopyN(from, up, most) // a broken connection is what the test wants
			}()
		}
	}()
	return ln.Addr().String()
}

// TestTheREADMEsTills runs each till of the README against a terminal whose first answer breaks: each
// hears of its sale, and sells once.
func TestTheREADMEsTills(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, c := range []struct {
		language string
		tools    []string
		run      func(ctx context.Context, tools []string, dir, code string) *exec.Cmd
	}{
		{"python", []string{"python3"}, func(ctx context.Context, tools []string, _, code string) *exec.Cmd {
			return exec.CommandContext(ctx, tools[0], "-c", code)
		}},
		{"javascript", []string{"node"}, func(ctx context.Context, tools []string, _, code string) *exec.Cmd {
			return exec.CommandContext(ctx, tools[0], "-e", code)
		}},
		{"csharp", []string{"mcs", "mono"}, func(ctx context.Context, tools []string, dir, code string) *exec.Cmd {
			source, program := filepath.Join(dir, "till.cs"), filepath.Join(dir, "till.exe")
			require.NoError(t, os.WriteFile(source, []byte(code), 0o600))
			out, err := exec.CommandContext(ctx, tools[0], "-r:System.Net.Http", "-r:System.Runtime.Serialization", "-out:"+program, source).CombinedOutput()
			require.NoError(t, err, string(out))
			return exec.CommandContext(ctx, tools[1], program)
		}},
	} {
		t.Run(c.language, func(t *testing.T) {
			var tools []string
			for _, name := range c.tools {
				tool := need.Tool(t, name)
				tools = append(tools, tool)
			}
			_, code, _ := strings.Cut(string(readme), "```"+c.language+"\n")
			code, _, ok := strings.Cut(code, "```")
			require.True(t, ok)
			x := open(t, 100*time.Millisecond, 0)
			code = strings.Replace(code, `"TOKEN"`, `"alpha-token-0123456789"`, 1)
			ctx, cancel := context.WithTimeout(t.Context(), need.Limit())
			defer cancel()
			for i, after := range []int64{0, 20, 304, 2000} { // nothing, in the head, in the body
				now := strings.Replace(code, "127.0.0.1:8480", breaking(t, x.addr, after), 1)
				now = strings.Replace(now, "order-4711", "order-"+number(after), 1)
				now = strings.Replace(now, "60000", "5000", 1) // ms; Node waits for all of it where a connection ends at once
				out, err := c.run(ctx, tools, t.TempDir(), now).CombinedOutput()
				require.NoError(t, err, "after %d bytes: %s", after, out)
				require.Equal(t, "approved "+number(int64(i+1)), strings.TrimSpace(string(out)))
				require.Equal(t, i+1, x.sales())
				x.agree(i+1, 1250)
			}
		})
	}
}
