package main

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
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

	cfg.ECR.TCP, cfg.Backend.Listen = "", "127.0.0.1:0"
	require.NoError(t, takenAddresses(c, cfg))
	require.Equal(t, "127.0.0.1:65400", besides("127.0.0.1:65500"))
}
