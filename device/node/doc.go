// Package node tells which device of the box a configured name means, whatever the name.
//
// A device has many names: /dev/ttyUSB0, a link below /dev/serial/by-id, usb:VID:PID of its converter, a
// second file that mknod has made, /dev/console for the line that the kernel writes to.
//
// It guarantees:
//   - Same says of two names of one device that they are, and of no others. A plain file is the file.
//   - It opens no device: opening a serial line moves its modem lines.
//   - Mine says whether this program has a device open under another file, or as its own output.
//
// It must not import another package of the module.
package node
