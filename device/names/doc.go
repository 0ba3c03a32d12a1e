// Package names finds the addresses of hosts, also behind a router whose name server is odd.
//
// It stands under Go's own resolver, which reads resolv.conf and hosts, and judges what a name server answers:
//   - A question with an EDNS record that is refused, or not answered within a second, is asked again without
//     that record, as the other programs of a box ask. A server that answers only then is asked so from then on.
//   - Once a host's IPv4 addresses are known, its IPv6 ones are waited for a second longer, and not at all costs.
//   - A refusal that repeats no question counts, too.
//   - An answer that was cut is used where its server takes no TCP connection.
//   - A server that was silent while another one answered is given a second, not five.
//
// It must not import another package of the module.
package names
