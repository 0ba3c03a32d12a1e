package main

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/ready"
)

// Every address that is taken is named at once, with where it is set and another value; one that is free is not.
func TestTakenAddressesAreNamedTogether(t *testing.T) {
	var address, other [2]string
	for i := range address {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer ln.Close()
		port := ln.Addr().(*net.TCPAddr).Port
		step := 100
		if port+100 > 65535 {
			step = -100
		}
		address[i], other[i] = ln.Addr().String(), "127.0.0.1:"+strconv.Itoa(port+step)
	}
	path := filepath.Join(t.TempDir(), "c.toml")
	require.NoError(t, os.WriteFile(path, []byte("[ecr]\ntcp = \""+address[0]+"\"\n[port]\nlisten = \"127.0.0.1:0\"\n"), 0o600))
	t.Setenv("POSAGENT_BACKEND_LISTEN", address[1])
	c := &call{global: global{config: path, state: t.TempDir()}, ctx: t.Context()}
	cfg, err := readConfig(c)
	require.NoError(t, err)
	require.EqualError(t, takenAddresses(c, cfg), "another program listens on "+address[0]+" (set [ecr] tcp in "+path+", for example to \""+other[0]+"\"), on "+
		address[1]+" (set [backend] listen in the variable POSAGENT_BACKEND_LISTEN, for example to \""+other[1]+"\"); ss -ltnp shows which")

	require.Equal(t, "the terminal does not run, and another program listens on "+address[0], strings.Split(ready.Say(*takenByAnother(c, cfg), ready.Place{}).Words, " (")[0])

	cfg.ECR.TCP, cfg.Backend.Listen = "", "127.0.0.1:0"
	require.Nil(t, takenByAnother(c, cfg))
	require.NoError(t, takenAddresses(c, cfg))
	require.Equal(t, "127.0.0.1:65400", besides("127.0.0.1:65500"))
}

// Of several register lines the one whose address is taken is named by its own line of the file, and a register is played on the first
// that speaks ZVT.
func TestTheRightLineOfAListIsNamed(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	path := filepath.Join(t.TempDir(), "c.toml")
	text := "[[ecr]]\nprotocol = \"jsonl\"\ntcp = \"127.0.0.1:0\"\nname = \"a\"\n\n[[ecr]]\ntcp = \"" + ln.Addr().String() + "\"\nname = \"b\"\n[port]\nlisten = \"127.0.0.1:0\"\n[backend]\nlisten = \"127.0.0.1:0\"\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	c := &call{global: global{config: path, state: t.TempDir()}, ctx: t.Context()}
	cfg, err := readConfig(c)
	require.NoError(t, err)
	require.ErrorContains(t, takenAddresses(c, cfg), ln.Addr().String()+" (set [[ecr]] tcp in "+path+", line 7, for example to ")
	target, key, _ := zvtLine(cfg)
	require.Equal(t, "tcp:"+ln.Addr().String(), target)
	require.Equal(t, "ecr[2].tcp", key)

	cfg.More = nil
	target, _, others := zvtLine(cfg)
	require.Empty(t, target)
	require.Equal(t, "127.0.0.1:0 speaks jsonl", others)

	cfg.ECR.TCP = "192.0.2.1:20007" // of documentation, no box has it
	require.EqualError(t, takenAddresses(c, cfg), "192.0.2.1:20007 is no address of this box: ip addr lists them, correct [ecr] tcp in "+path)
}
