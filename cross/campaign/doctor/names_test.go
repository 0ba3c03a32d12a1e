package doctor

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
)

// names is a name server that only the processes of one box ask.
type names struct{ now atomic.Value }

// reply is what a name server makes of a question, nil = silence.
type reply func(question []byte) []byte

// say lets the server answer so from now on.
func (n *names) say(r reply) { n.now.Store(r) }

// served is how many name servers there are: each has an address of its own, since a name server has one port.
var served atomic.Int32

// names lets the box's processes ask a name server of their own. It is silent at first.
func (b *box) names() *names {
	unshare := need.Tool(b.t, "unshare")
	require.NotEmpty(b.t, unshare)
	address := fmt.Sprintf("127.0.97.%d", served.Add(1))
	n := &names{}
	n.say(nothing)
	conn, err := net.ListenPacket("udp", address+":53")
	require.NoError(b.t, err)
	b.t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buf := make([]byte, 1500)
		for {
			size, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if size <= 12 {
				continue
			}
			if answer := n.now.Load().(reply)(append([]byte{}, buf[:12+question(buf[12:size])]...)); answer != nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	}()
	file := filepath.Join(b.dir, "resolv.conf")
	require.NoError(b.t, os.WriteFile(file, []byte(fmt.Sprintf("nameserver %s\noptions timeout:1 attempts:1\n", address)), 0o644))
	b.wrap = []string{unshare, "--mount", "sh", "-c", "mount --bind " + file + ` /etc/resolv.conf && exec "$@"`, "sh"}
	return n
}

// question is the length of the question behind a name server's header.
func question(p []byte) int {
	i := 0
	for i < len(p) && p[i] != 0 {
		i += int(p[i]) + 1
	}
	return min(i+5, len(p))
}

// nothing is a server that does not answer.
func nothing([]byte) []byte { return nil }

// noSuchName is a server that knows no name.
func noSuchName(q []byte) []byte {
	q[2], q[3] = 0x81, 0x83 // a reply: no such name
	clear(q[6:12])
	return q
}

// loopback is a server that gives every name the address 127.0.0.1.
func loopback(q []byte) []byte {
	q[2], q[3] = 0x81, 0x80
	clear(q[6:12])
	if kind := q[len(q)-3]; kind != 1 { // it has no address of another kind
		return q
	}
	q[7] = 1 // one answer: the name of the question, an address, for a second
	return append(q, 0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 127, 0, 0, 1)
}
