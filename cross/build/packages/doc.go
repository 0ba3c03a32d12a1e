// Command packages makes what a box is installed from: `make packages`.
//
// It owns the Debian and OpenWrt packages of every target, their scripts and units (folder files), the
// list of what is inside (CycloneDX), the release manifest with its signature, and the record of how
// all was built.
//
// It guarantees:
//   - The same tree, version and Go give the same bytes, in any directory and at any time.
//   - A package starts no terminal that is not configured, and approves no sale of a sandbox.
//   - It is not removed, and its journal is not deleted, while the program says that money is
//     pending, or cannot say.
//   - The list of what is inside comes from the binary itself.
//
// Its tests install, upgrade, downgrade, remove and purge with the real dpkg, in a directory. No
// systemd, procd or udev runs in them: the unit is verified statically, the scripts for OpenWrt run
// with a shell and stand-ins. systemd with the unit's sandbox, OpenWrt and udev were not seen running.
//
// It must not import any other package of the module: it runs the built binary.
package main
