package main

import (
	"errors"
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/ready"
)

// A listener whose address the box has lost is a line that is not there. The kind: lines of each protocol and the local port with
// its pages, on an address that is gone, on an interface that is down, on one without a cable; against those that stand for all
// addresses or for this box alone, and a box that may not look.
func TestField2_R8_AListenerWhoseAddressIsGone(t *testing.T) {
	at := netip.MustParseAddr
	box := func() (map[netip.Addr]net.Interface, error) {
		return map[netip.Addr]net.Interface{
			at("10.99.0.2"): {Name: "eth0", Flags: net.FlagUp | net.FlagRunning}, at("fe80::1"): {Name: "eth0", Flags: net.FlagUp | net.FlagRunning},
			at("10.99.1.1"): {Name: "eth1"}, at("10.99.2.1"): {Name: "eth2", Flags: net.FlagUp},
		}, nil
	}
	for address, want := range map[string]string{
		"10.99.0.1:20007": "which is no address of this box any more", "[fd00::1]:8443": "which is no address of this box any more",
		"10.99.1.1:20007": "whose interface eth1 is down", "10.99.2.1:20007": "whose interface eth2 has no cable or no network",
		"10.99.0.2:20007": "", "[::ffff:10.99.0.2]:1": "", "[fe80::1%eth0]:1": "", "0.0.0.0:1": "", "[::]:1": "", "127.0.0.1:1": "", "[::1]:1": "", "tcp": "",
	} {
		require.Equal(t, want, unreachable(address, box), address)
	}
	denied := func() (map[netip.Addr]net.Interface, error) { return nil, errors.New("not permitted") }
	require.Equal(t, "which is no address of this box any more", unreachable("192.0.2.1:20007", denied), "it is tried")
	require.Empty(t, unreachable("tcp", denied))

	f := facts{tcp: 2, listens: []hears{{"192.0.2.1:20007", ready.LineAddress}, {"127.0.0.1:20017", ready.LineAddress}, {"192.0.2.1:8480", ready.PortAddress}}}
	count, closed := f.lines()
	require.Equal(t, 2, count)
	const why = "which is no address of this box any more"
	require.Equal(t, []ready.Trouble{{Cause: ready.LineAddress, Where: "192.0.2.1:20007", Detail: why}, {Cause: ready.PortAddress, Where: "192.0.2.1:8480", Detail: why}}, closed)
	said := ready.Say(closed[0], ready.Place{Config: "/c.toml"})
	require.Equal(t, "no register reaches the line on 192.0.2.1:20007, "+why, said.Words)
	require.Contains(t, said.Remedy, "ip addr lists the addresses of the box")
	require.Contains(t, said.Remedy, "set [ecr] tcp in /c.toml")
}
