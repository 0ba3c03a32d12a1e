package main

import (
	"encoding/hex"
	"errors"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"posagent/agent/ready"
)

// hears is an address at which registers or programs ask, and what its loss is called.
type hears struct {
	address string
	cause   ready.Cause
}

const addressGone = "which is no address of this box any more"

// unreachable says why nobody else reaches a listener, "" = nothing says so. Linux keeps a listener whose
// address the box has lost (DHCP, a cable moved from one network to another). An address that stands for
// all of them, or for this box alone, cannot be lost.
func unreachable(address string, look func() (map[netip.Addr]net.Interface, error)) string {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return ""
	}
	ip := at.Addr().Unmap().WithZone("")
	if ip.IsUnspecified() || ip.IsLoopback() {
		return ""
	}
	all, err := look()
	if err != nil { // a service that may not ask for the addresses may still try one
		if ln, err := net.ListenPacket("udp", netip.AddrPortFrom(at.Addr(), 0).String()); err == nil {
			_ = ln.Close()
		} else if errors.Is(err, unix.EADDRNOTAVAIL) {
			return addressGone
		}
		return ""
	}
	switch on, has := all[ip]; {
	case !has:
		return addressGone
	case on.Flags&net.FlagUp == 0:
		return "whose interface " + on.Name + " is down"
	case on.Flags&net.FlagRunning == 0:
		return "whose interface " + on.Name + " has no cable or no network"
	}
	return ""
}

// boxAddresses are the addresses of the box, and the interface of each.
func boxAddresses() (map[netip.Addr]net.Interface, error) {
	interfaces, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	all := map[netip.Addr]net.Interface{}
	for _, i := range interfaces {
		list, err := i.Addrs()
		if err != nil {
			return nil, err
		}
		for _, a := range list {
			if p, err := netip.ParsePrefix(a.String()); err == nil {
				all[p.Addr().Unmap().WithZone("")] = i
			}
		}
	}
	return all, nil
}

// ownAddresses are the addresses of the box. A service that may not ask the kernel for them reads its lists below proc.
func ownAddresses(proc string, ask func() (map[netip.Addr]net.Interface, error)) ([]netip.Addr, error) {
	box, err := ask()
	if err == nil {
		return slices.Collect(maps.Keys(box)), nil
	}
	routes, bad := os.ReadFile(filepath.Join(proc, "net/fib_trie"))
	if bad != nil {
		return nil, err
	}
	all := map[netip.Addr]bool{}
	var last netip.Addr
	for line := range strings.Lines(string(routes)) { // "|-- 192.168.1.20", and below it "/32 host LOCAL"
		switch f := strings.Fields(line); {
		case len(f) == 2 && f[0] == "|--":
			last, bad = netip.ParseAddr(f[1])
		case len(f) == 3 && f[0] == "/32" && f[2] == "LOCAL" && bad == nil:
			all[last] = true
		}
	}
	six, _ := os.ReadFile(filepath.Join(proc, "net/if_inet6")) // a kernel without IPv6 has none
	for line := range strings.Lines(string(six)) {
		digits, _, _ := strings.Cut(line, " ")
		if raw, err := hex.DecodeString(digits); err == nil {
			if a, ok := netip.AddrFromSlice(raw); ok {
				all[a] = true
			}
		}
	}
	if len(all) == 0 {
		return nil, err
	}
	return slices.Collect(maps.Keys(all)), nil
}

func atPort(address string) hears { return hears{address, ready.PortAddress} }
