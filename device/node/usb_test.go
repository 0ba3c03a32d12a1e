package node

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// bus is a sysfs of USB converters, laid out as Linux does it: class/tty/X links to the tty, whose device link leads
// to an interface below the USB device that has the ids.
type bus struct {
	t   *testing.T
	dir string
}

func (b bus) plug(tty, port, vendor, product, serial string) {
	b.t.Helper()
	device := filepath.Join(b.dir, "devices/platform/usb1", port)
	at := filepath.Join(device, port+":1.0", tty, "tty", tty)
	require.NoError(b.t, os.MkdirAll(at, 0o700))
	for name, text := range map[string]string{"idVendor": vendor, "idProduct": product, "serial": serial} {
		require.NoError(b.t, os.WriteFile(filepath.Join(device, name), []byte(text+"\n"), 0o600))
	}
	require.NoError(b.t, os.Symlink("../..", filepath.Join(at, "device")))
	require.NoError(b.t, os.MkdirAll(filepath.Join(b.dir, "class/tty"), 0o700))
	require.NoError(b.t, os.Symlink(at, filepath.Join(b.dir, "class/tty", tty)))
}

func (b bus) pull(tty, port string) {
	b.t.Helper()
	require.NoError(b.t, os.Remove(filepath.Join(b.dir, "class/tty", tty)))
	require.NoError(b.t, os.RemoveAll(filepath.Join(b.dir, "devices/platform/usb1", port)))
}

func (b bus) resolve(name string) (string, error) { return Path(b.dir, name) }

// TestField_U11ALineNamedByItsConverterFollowsIt: a converter that is pulled and plugged in again gets another number,
// and a scale gets the old one. A path would lead to the scale.
func TestField_U11ALineNamedByItsConverterFollowsIt(t *testing.T) {
	b := bus{t, t.TempDir()}
	require.NoError(t, os.MkdirAll(filepath.Join(b.dir, "class/tty/tty0"), 0o700)) // a console has no device
	b.plug("ttyUSB0", "1-1", "0403", "6001", "AB0KHJ7A")
	got, err := b.resolve("usb:0403:6001")
	require.NoError(t, err)
	require.Equal(t, "/dev/ttyUSB0", got)

	b.pull("ttyUSB0", "1-1")
	_, err = b.resolve("usb:0403:6001")
	require.ErrorIs(t, err, os.ErrNotExist, "waited for, as a missing path is")
	b.plug("ttyUSB0", "1-2", "067b", "2303", "")
	b.plug("ttyUSB1", "1-1", "0403", "6001", "AB0KHJ7A")
	got, err = b.resolve("usb:0403:6001:AB0KHJ7A")
	require.NoError(t, err)
	require.Equal(t, "/dev/ttyUSB1", got)
	got, err = b.resolve("usb:067B:2303")
	require.NoError(t, err)
	require.Equal(t, "/dev/ttyUSB0", got, "hexadecimal digits of either case")

	b.plug("ttyUSB2", "1-3", "0403", "6001", "ZZ000001")
	_, err = b.resolve("usb:0403:6001")
	require.ErrorIs(t, err, ErrAmbiguous)
	require.EqualError(t, err, "several devices match: /dev/ttyUSB1, /dev/ttyUSB2 (add the serial number: usb:VID:PID:SERIAL)")
	got, err = b.resolve("usb:0403:6001:ZZ000001")
	require.NoError(t, err)
	require.Equal(t, "/dev/ttyUSB2", got)
	_, err = b.resolve("usb:0403:6001:ZZ00000")
	require.ErrorIs(t, err, os.ErrNotExist, "a part of a serial number is another one")
}
