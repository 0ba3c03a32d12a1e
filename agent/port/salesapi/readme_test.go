package salesapi_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
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

// tongue runs the till of the README in one language.
type tongue struct {
	language string
	tools    []string
	run      func(t *testing.T, ctx context.Context, tools []string, dir, code string) *exec.Cmd
}

func tongues() []tongue {
	return []tongue{
		{"python", []string{"python3"}, func(_ *testing.T, ctx context.Context, tools []string, _, code string) *exec.Cmd {
			return exec.CommandContext(ctx, tools[0], "-c", code)
		}},
		{"javascript", []string{"node"}, func(_ *testing.T, ctx context.Context, tools []string, _, code string) *exec.Cmd {
			return exec.CommandContext(ctx, tools[0], "-e", code)
		}},
		{"csharp", []string{"mcs", "mono"}, func(t *testing.T, ctx context.Context, tools []string, dir, code string) *exec.Cmd {
			source, program := filepath.Join(dir, "till.cs"), filepath.Join(dir, "till.exe")
			require.NoError(t, os.WriteFile(source, []byte(code), 0o600))
			out, err := exec.CommandContext(ctx, tools[0], "-r:System.Net.Http", "-r:System.Runtime.Serialization", "-out:"+program, source).CombinedOutput()
			require.NoError(t, err, string(out))
			return exec.CommandContext(ctx, tools[1], program)
		}},
	}
}

// written returns the tools of a language, and the till that the README has in it.
func (c tongue) written(t *testing.T) (tools []string, code string) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, name := range c.tools {
		tools = append(tools, need.Tool(t, name))
	}
	_, code, _ = strings.Cut(string(readme), "```"+c.language+"\n")
	code, _, ok := strings.Cut(code, "```")
	require.True(t, ok)
	return tools, strings.Replace(code, `"TOKEN"`, `"alpha-token-0123456789"`, 1)
}

// Each till of the README ends at each refusal that never passes, and repeats its request under its key at each that does.
func TestField2_U1TheREADMEsTillsEnd(t *testing.T) {
	for _, c := range tongues() {
		t.Run(c.language, func(t *testing.T) {
			tools, code := c.written(t)
			ctx, cancel := context.WithTimeout(t.Context(), need.Limit())
			defer cancel()
			for status, passes := range map[int]bool{
				400: false, 401: false, 403: false, 404: false, 413: false, 422: false, 409: true, 429: true, 503: true, 504: true,
			} {
				var asked atomic.Int64
				keys := sync.Map{}
				terminal := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					keys.Store(r.Header.Get("Idempotency-Key"), true)
					w.Header().Set("Content-Type", "application/json")
					if asked.Add(1) < 3 {
						w.WriteHeader(status)
						_, _ = io.WriteString(w, `{"type":"urn:problem:x","detail":"refused so"}`)
						return
					}
					_, _ = io.WriteString(w, `{"state":"ended","outcome":"approved","receipt":7}`)
				}))
				out, err := c.run(t, ctx, tools, t.TempDir(), strings.Replace(code, "127.0.0.1:8480", terminal.Listener.Addr().String(), 1)).CombinedOutput()
				terminal.Close()
				if passes {
					require.NoError(t, err, "%d: %s", status, out)
					require.Equal(t, "approved 7", strings.TrimSpace(string(out)))
					require.EqualValues(t, 3, asked.Load(), status)
				} else {
					require.Error(t, err, "%d: %s", status, out)
					require.NoError(t, ctx.Err(), "%d: it goes on for ever", status)
					require.Contains(t, string(out), "refused so")
					require.EqualValues(t, 1, asked.Load(), status)
				}
				_, same := keys.Load("order-4711")
				require.True(t, same)
			}
		})
	}
}

// TestTheREADMEsTills runs each till of the README against a terminal whose first answer breaks: each
// hears of its sale, and sells once.
func TestTheREADMEsTills(t *testing.T) {
	for _, c := range tongues() {
		t.Run(c.language, func(t *testing.T) {
			tools, code := c.written(t)
			x := open(t, 100*time.Millisecond, 0)
			ctx, cancel := context.WithTimeout(t.Context(), need.Limit())
			defer cancel()
			for i, after := range []int64{0, 20, 304, 2000} { // nothing, in the head, in the body
				now := strings.Replace(code, "127.0.0.1:8480", breaking(t, x.addr, after), 1)
				now = strings.Replace(now, "order-4711", "order-"+number(after), 1)
				now = strings.Replace(now, "60000", "5000", 1) // ms; Node waits for all of it where a connection ends at once
				out, err := c.run(t, ctx, tools, t.TempDir(), now).CombinedOutput()
				require.NoError(t, err, "after %d bytes: %s", after, out)
				require.Equal(t, "approved "+number(int64(i+1)), strings.TrimSpace(string(out)))
				require.Equal(t, i+1, x.sales())
				x.agree(i+1, 1250)
			}
		})
	}
}
