package agent_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/device"
	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

// hardware is what a box says of itself; "" = it says nothing.
type hardware struct{ serial, card, network, machine string }

// marks are what the program reads there.
func (h hardware) marks(t *testing.T) map[string][]string {
	root := t.TempDir()
	for name, text := range map[string]string{
		"proc/device-tree/serial-number": h.serial, "sys/block/mmcblk0/device/cid": h.card, "sys/class/net/eth0/address": h.network, "etc/machine-id": h.machine,
		"sys/class/net/eth0/addr_assign_type": "0", "sys/class/net/eth0/device/uevent": "x", "sys/block/mmcblk0/removable": "0",
	} {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if text != "" {
			require.NoError(t, os.WriteFile(path, []byte(text+"\n"), 0o600))
		}
	}
	return device.Marks(root)
}

// TestField2_M52ACopiedCardIsAnotherBox: one card image was started in two boxes, and both sold under one journal. From what the files of
// the kernel say to what the start says: a copy is refused where two marks are others. Kind: boxes with each mark missing; the card
// itself in another box; and what two marks cannot show: a box that says less than two of its hardware (its machine id is copied with the
// card), and a copy on the same machine, which nothing tells from the journal in another directory (beside it: cmd/posagent).
func TestField2_M52ACopiedCardIsAnotherBox(t *testing.T) {
	const id = "0123abcd0123abcd0123abcd0123abcd"
	full := hardware{"10000000abcdef01", "035344534c333247aa", "b8:27:eb:00:00:01", id}
	for name, c := range map[string]struct {
		was, now hardware
		why      string // "" = it starts
	}{
		"a copied card": {full, hardware{"10000000abcdef02", "035344534c333247bb", "b8:27:eb:00:00:02", id}, "another card and network card and serial number"},
		"a box without a serial number": {hardware{"", full.card, full.network, id}, hardware{"", "035344534c333247bb", "b8:27:eb:00:00:02", id},
			"another card and network card"},
		"a card without an id": {hardware{full.serial, "", full.network, id}, hardware{"10000000abcdef02", "", "b8:27:eb:00:00:02", id},
			"another network card and serial number"},
		"an address that is drawn":       {hardware{full.serial, full.card, "", id}, hardware{"10000000abcdef02", "035344534c333247bb", "", id}, "another card and serial number"},
		"the card itself in another box": {full, hardware{"10000000abcdef02", full.card, "b8:27:eb:00:00:02", id}, "another network card and serial number"},
		"a copy with a machine id of its own": {hardware{"", "", full.network, id}, hardware{"", "", "b8:27:eb:00:00:02", "9" + id[1:]},
			"another machine id and network card"},
		"another board under the same card and address": {full, hardware{"10000000abcdef02", full.card, full.network, id}, ""},
		"a box that says one mark of its hardware":      {hardware{"", "", full.network, id}, hardware{"", "", "b8:27:eb:00:00:02", id}, ""},
		"the same machine":                              {full, full, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			open := func(dir string, box hardware) error {
				path := filepath.Join(dir, "agent.db")
				db, err := agent.Open(t.Context(), sqlite.Options{Path: path, Wrapper: storetest.Wrapper{}, Ballast: -1, Marks: []string{store.MarkPath(path)}, Box: box.marks(t)})
				if err != nil {
					return err
				}
				return db.Close()
			}
			require.NoError(t, open(dir, c.was))
			clone := t.TempDir()
			require.NoError(t, os.CopyFS(clone, os.DirFS(dir)))
			require.NoError(t, open(dir, c.was))
			err := open(clone, c.now)
			if c.why == "" {
				require.NoError(t, err)
				return
			}
			var cut *store.CutError
			require.ErrorAs(t, err, &cut)
			require.Equal(t, "it was last written on another box, with "+c.why, cut.Why)
		})
	}
}
