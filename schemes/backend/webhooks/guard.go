package webhooks

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

const maxURL = 2048

// allowed reads the allow-list.
func allowed(list []string) map[string]bool {
	m := map[string]bool{}
	for _, s := range list {
		m[strings.ToLower(strings.TrimSpace(s))] = true
	}
	return m
}

// Errors of an address that is never called. They do not repeat it.
var (
	errURL     = errors.New("want an https URL with a host (http only to a host of webhook_allow), without user name and fragment, of at most 2048 characters")
	errPrivate = errors.New("the address is neither public nor in webhook_allow")
)

// free says whether a host stands on the allow-list. host is without brackets.
func (d *Deliver) free(host, port string) bool {
	host = strings.ToLower(host)
	return d.allow[host] || d.allow[net.JoinHostPort(host, port)]
}

// Check says whether a hook may have this URL: https and not obviously private, or a host on the allow-list. A name
// is checked again, by its address, at every attempt.
func (d *Deliver) Check(raw string) error {
	u, err := url.Parse(raw)
	if err != nil || len(raw) > maxURL || u.Host == "" || u.User != nil || u.Fragment != "" || u.Opaque != "" || !visible(raw) {
		return errURL
	}
	host, port := u.Hostname(), portOf(u)
	switch {
	case host == "" || strings.ContainsAny(host, "%/\\@") || port == "" || u.Scheme != "https" && u.Scheme != "http":
		return errURL
	case d.free(host, port):
		return nil
	case u.Scheme != "https":
		return errURL
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		if !d.public(ip) {
			return errPrivate
		}
		return nil
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case last == "localhost", last == "local", last == "internal", last == "localdomain", !strings.Contains(name, "."):
		return errPrivate
	case last == "", last[0] >= '0' && last[0] <= '9': // a number in a form of its own
		return errPrivate
	}
	return nil
}

func visible(s string) bool {
	for _, c := range []byte(s) {
		if c <= 0x20 || c >= 0x7f {
			return false
		}
	}
	return true
}

// portOf is the URL's port, "" when it is none.
func portOf(u *url.URL) string {
	port := u.Port()
	switch {
	case port == "" && strings.HasSuffix(u.Host, ":"):
		return ""
	case port == "" && u.Scheme == "http":
		return "80"
	case port == "":
		return "443"
	case len(port) > 5 || port[0] == '0' || len(port) == 5 && port > "65535":
		return ""
	}
	return port
}

// origin names an endpoint: scheme, host and port of a URL that Check accepted.
func origin(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), portOf(u))
}

// ranges are what is not public besides what netip knows.
func ranges() []netip.Prefix {
	var list []netip.Prefix
	for _, s := range [...]string{
		"0.0.0.0/8",       // this network
		"100.64.0.0/10",   // carrier NAT, cloud metadata
		"192.0.0.0/24",    // protocol assignments
		"192.0.2.0/24",    // documentation
		"192.88.99.0/24",  // 6to4 relays
		"198.18.0.0/15",   // benchmarks
		"198.51.100.0/24", // documentation
		"203.0.113.0/24",  // documentation
		"240.0.0.0/4",     // reserved, broadcast
		"::/96",           // v4-compatible
		"64:ff9b::/96",    // NAT64: an IPv4 address inside
		"64:ff9b:1::/48",  // local NAT64
		"100::/64",        // discard
		"2001::/23",       // protocol assignments, Teredo
		"2001:db8::/32",   // documentation
		"2002::/16",       // 6to4: an IPv4 address inside
		"3fff::/20",       // documentation
		"5f00::/16",       // segment routing
		"fec0::/10",       // site local, formerly
	} {
		list = append(list, netip.MustParsePrefix(s))
	}
	return list
}

// public says whether an address belongs to the open network.
func (d *Deliver) public(ip netip.Addr) bool {
	if ip.Zone() != "" {
		return false
	}
	ip = ip.Unmap()
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() {
		return false
	}
	for _, p := range d.closed {
		if p.Contains(ip) {
			return false
		}
	}
	return true
}

// newClient makes the one client: it resolves, checks, and dials what it checked.
func (d *Deliver) newClient() *http.Client {
	dialer := net.Dialer{KeepAlive: -1}
	dial, resolve := d.opt.Dial, d.opt.Resolve
	if dial == nil {
		dial = dialer.DialContext
	}
	if resolve == nil {
		resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: 16 << 10, TLSClientConfig: d.opt.TLS,
			TLSHandshakeTimeout: 10 * time.Second,
			DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				host, port, err := net.SplitHostPort(addr)
				if err != nil {
					return nil, err
				}
				ips := make([]netip.Addr, 1)
				if ips[0], err = netip.ParseAddr(host); err != nil {
					if ips, err = resolve(ctx, host); err != nil {
						return nil, fmt.Errorf("resolve: %w", err)
					}
				}
				if !d.free(host, port) {
					for _, ip := range ips {
						if !d.public(ip) {
							return nil, errPrivate
						}
					}
				}
				err = errors.New("the name has no address")
				for _, ip := range ips {
					var conn net.Conn
					if conn, err = dial(ctx, network, net.JoinHostPort(ip.Unmap().String(), port)); err == nil {
						return conn, nil
					}
				}
				return nil, err
			},
		},
	}
}
