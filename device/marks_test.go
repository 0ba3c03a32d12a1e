package device

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestField2_M52MarksAreOfTheHardware: what is read of a small box, and what is not: loops, sticks,
// virtual cards, addresses that were drawn, makers' blanks.
func TestField2_M52MarksAreOfTheHardware(t *testing.T) {
	box := func(files map[string]string) map[string][]string {
		root := t.TempDir()
		for name, text := range files {
			path := filepath.Join(root, name)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		}
		return Marks(root)
	}
	files := map[string]string{
		"proc/device-tree/serial-number":       "10000000abcdef01\x00",
		"proc/cpuinfo":                         "Serial\t\t: 10000000abcdef01\n",
		"sys/class/dmi/id/product_serial":      "To be filled by O.E.M.\n",
		"sys/block/mmcblk0/device/cid":         "035344534c333247\n",
		"sys/block/mmcblk0/removable":          "0\n",
		"sys/block/sda/device/wwid":            "t10.stick\n",
		"sys/block/sda/removable":              "1\n",
		"sys/block/loop0/removable":            "0\n",
		"sys/class/net/eth0/address":           "b8:27:eb:00:00:01\n",
		"sys/class/net/eth0/addr_assign_type":  "0\n",
		"sys/class/net/eth0/device/uevent":     "",
		"sys/class/net/wlan0/address":          "da:27:eb:00:00:02\n",
		"sys/class/net/wlan0/addr_assign_type": "1\n",
		"sys/class/net/wlan0/device/uevent":    "",
		"sys/class/net/lo/address":             "00:00:00:00:00:00\n",
		"sys/class/net/lo/addr_assign_type":    "0\n",
		"etc/machine-id":                       "0123abcd0123abcd0123abcd0123abcd\n",
	}
	one := box(files)
	require.Len(t, one, 4)
	for name, values := range one {
		require.Len(t, values, 1, name)
		require.Regexp(t, `^[0-9a-f]{16}$`, values[0])
	}
	require.Equal(t, one, box(files))
	files["sys/class/net/eth0/address"], files["sys/block/sda/device/wwid"] = "b8:27:eb:00:00:09\n", "t10.other\n"
	two := box(files)
	require.NotEqual(t, one["network card"], two["network card"])
	one["network card"], two["network card"] = nil, nil
	require.Equal(t, one, two)
	require.Empty(t, box(nil))
}
