package config

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func loadText(t *testing.T, text string, env []string, under ...Layer) (Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.toml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return Load(path, env, under...)
}

// TestRegistersAreAList: a section [[ecr]] for each register, in the order of the file; the others
// keep the defaults, whatever the first one says.
func TestRegistersAreAList(t *testing.T) {
	c, err := loadText(t, `[[ecr]]
serial = "/dev/ttyS0"
baud = 115200
password = "123456"

[[ecr]]
tcp = "127.0.0.1:20007"
grace = "5m"
unheard = "keep"
`, nil)
	require.NoError(t, err)
	list := c.Registers()
	require.Len(t, list, 2)
	require.Equal(t, []any{"/dev/ttyS0", "", 115200, "123456", 10 * time.Minute, 85 * time.Second, false},
		[]any{list[0].Serial, list[0].TCP, list[0].Baud, list[0].Password, list[0].Grace, list[0].Patience, list[0].Keeps()})
	require.Equal(t, []any{"", "127.0.0.1:20007", 9600, "", 5 * time.Minute, 85 * time.Second, true},
		[]any{list[1].Serial, list[1].TCP, list[1].Baud, list[1].Password, list[1].Grace, list[1].Patience, list[1].Keeps()})
	require.Equal(t, []string{"serial", "tcp"}, []string{list[0].LineName("serial"), list[1].LineName("tcp")})
	require.Contains(t, c.Secrets(), "123456")
	shown := map[string]string{}
	for _, s := range c.Settings() {
		shown[s.Key] = s.Value
	}
	require.Equal(t, `"********"`, shown["ecr.password"])
	require.Equal(t, `"127.0.0.1:20007"`, shown["ecr[2].tcp"])

	caisse, err := loadText(t, "[[ecr]]\nprotocol = \"caisse-ap\"\ntcp = \"127.0.0.1:8888\"\n[[ecr]]\nprotocol = \"jsonl\"\ntcp = \"127.0.0.1:20017\"\npatience = \"60s\"\n", nil)
	require.NoError(t, err)
	list = caisse.Registers()
	require.Equal(t, []any{80 * time.Second, "caisse-ap-tcp", 60 * time.Second, "jsonl-tcp"}, []any{list[0].Patience, list[0].LineName("tcp"), list[1].Patience, list[1].LineName("tcp")})

	italian, err := loadText(t, "[[ecr]]\nprotocol = \"ecr17\"\nserial = \"/dev/ttyS0\"\nterminal_id = \"12345678\"\nlrc = \"stx\"\n[[ecr]]\nprotocol = \"ecr17\"\ntcp = \"127.0.0.1:1024\"\n", nil)
	require.NoError(t, err)
	list = italian.Registers()
	require.Equal(t, []any{50 * time.Second, "ecr17-serial", "12345678", "stx"}, []any{list[0].Patience, list[0].LineName("serial"), list[0].TerminalID, list[0].LRC})
	require.Equal(t, []any{50 * time.Second, "ecr17-tcp", "", "std"}, []any{list[1].Patience, list[1].LineName("tcp"), list[1].TerminalID, list[1].LRC})

	one, err := loadText(t, "[ecr]\ntcp = \"127.0.0.1:20007\"\n", nil)
	require.NoError(t, err)
	require.Len(t, one.Registers(), 1)
	require.Empty(t, one.More)
}

// TestErrorsOfTheSecondRegisterNameItsLine: and a line that is called as another one is.
func TestErrorsOfTheSecondRegisterNameItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"[[ecr]]\ntcp = \"127.0.0.1:1\"\n[[ecr]]\nserial = \"/dev/ttyS0\"\nbaud = 1234\n":    `:5: ecr[2].baud: 1234 is none of`,
		"[[ecr]]\ntcp = \"127.0.0.1:1\"\n[[ecr]]\nserail = \"/dev/ttyS0\"\n":                 `:4: ecr[2].serail: unknown key, did you mean ecr[2].serial?`,
		"[[ecr]]\ntcp = \"127.0.0.1:1\"\n[[ecr]]\nbaud = 9600\n":                             `:3: ecr[2]: neither serial nor tcp`,
		"[[ecr]]\ntcp = \"127.0.0.1:1\"\n[[ecr]]\ntcp = \"127.0.0.1:2\"\n":                   `ecr[2].name: the line is called "tcp", as that of ecr is: give one of them a name`,
		"[[ecr]]\ntcp = \"127.0.0.1:1\"\n[[ecr]]\ntcp = \"0.0.0.0:2\"\nname = \"till2\"\n":   `:4: ecr[2].tcp: "0.0.0.0:2" is open to the network`,
		"[[ecr]]\ntcp = \"127.0.0.1:1\"\n[[ecr]]\ntcp = \"127.0.0.1:2\"\nname = \"a b\"\n":   `:5: ecr[2].name: "a b" is not one word`,
		"[[ecr]]\ntcp = \"127.0.0.1:1\"\nprotocol = \"morse\"\n":                             `:3: ecr.protocol: "morse" is none of`,
		"[[ecr]]\ntcp = \"127.0.0.1:1\"\nprofile = \"fancy\"\n":                              `:3: ecr.profile: "fancy" is none of standard, plain, no-tlv, fixed-charset`,
		"[[ecr]]\nprotocol = \"jsonl\"\ntcp = \"127.0.0.1:1\"\nprofile = \"plain\"\n":        `:4: ecr.profile: "plain" is a profile of zvt registers`,
		"[[ecr]]\ntcp = \"127.0.0.1:1\"\nunheard = \"forget\"\n":                             `:3: ecr.unheard: "forget" is none of undo, keep`,
		"[[ecr]]\ntcp = \"127.0.0.1:1\"\npassphrase = \"short\"\n":                           `ecr.passphrase: fewer than eight characters`,
		"[[ecr]]\nprotocol = \"caisse-ap\"\nserial = \"/dev/ttyS0\"\n":                       `:3: ecr.serial: caisse-ap does not run on a serial line: set tcp`,
		"[[ecr]]\nprotocol = \"caisse-ap\"\ntcp = \"127.0.0.1:1\"\npassword = \"123456\"\n":  `:4: ecr.password: caisse-ap has no password`,
		"[[ecr]]\nprotocol = \"ecr17\"\ntcp = \"127.0.0.1:1\"\nlrc = \"auto\"\n":             `:4: ecr.lrc: "auto" is none of std, stx, noext, stx_noext`,
		"[[ecr]]\nprotocol = \"ecr17\"\ntcp = \"127.0.0.1:1\"\nterminal_id = \"1234567\"\n":  `:4: ecr.terminal_id: "1234567" is not eight digits`,
		"[[ecr]]\nprotocol = \"ecr17\"\ntcp = \"127.0.0.1:1\"\nterminal_id = \"1234567A\"\n": `is not eight digits`,
		"[[ecr]]\nprotocol = \"ecr17\"\ntcp = \"127.0.0.1:1\"\npassword = \"123456\"\n":      `:4: ecr.password: ecr17 has no password`,
		"[[ecr]]\nprotocol = \"ecr17\"\ntcp = \"0.0.0.0:1024\"\n":                            `"0.0.0.0:1024" is open to the network`,
		"[[terminal]]\nlanguage = \"de\"\n":                                                  `terminal`,
	} {
		_, err := loadText(t, text, nil)
		require.ErrorContains(t, err, want, text)
	}
	c, err := loadText(t, "[[ecr]]\ntcp = \"127.0.0.1:1\"\n[[ecr]]\ntcp = \"127.0.0.1:2\"\nname = \"till2\"\n", nil)
	require.NoError(t, err)
	require.Equal(t, "till2-tcp", c.Registers()[1].LineName("tcp"))
}

// TestANexoLineHasItsOwnRules: outside this machine a passphrase, a list or a word of the operator's is
// needed; six digits do not count, and a passphrase is nothing to a line that does not encrypt.
func TestANexoLineHasItsOwnRules(t *testing.T) {
	const begin, id = "[[ecr]]\nprotocol = \"nexo\"\n", "poi_id = \"POSAGENT-000020000001\"\n"
	const key = "key_id = \"till\"\npassphrase = \"correct horse\"\n"
	for text, want := range map[string]string{
		begin + id + "serial = \"/dev/ttyS0\"\n":                                                        `ecr.tcp: nexo needs it`,
		begin + id + "serial = \"/dev/ttyS1\"\n":                                                        `ecr.serial: nexo does not run on a serial line: set tcp`,
		begin + "tcp = \"127.0.0.1:8443\"\n":                                                            `ecr.poi_id: "" is no name of a terminal`,
		begin + "tcp = \"127.0.0.1:8443\"\npoi_id = \"a.b\"\n":                                          `ecr.poi_id: "a.b" is no name of a terminal`,
		begin + id + "tcp = \"0.0.0.0:8443\"\n":                                                         `"0.0.0.0:8443" is open to the network: set [ecr] passphrase_file`,
		begin + id + "tcp = \"0.0.0.0:8443\"\npassword = \"123456\"\n":                                  `"0.0.0.0:8443" is open to the network`,
		begin + id + "tcp = \"127.0.0.1:8443\"\npassword = \"123456\"\n":                                `ecr.password: nexo has no password`,
		begin + id + "tcp = \"127.0.0.1:8443\"\npassphrase = \"correct horse\"\n":                       `ecr.key_id: key_id and passphrase_file go together`,
		begin + id + "tcp = \"127.0.0.1:8443\"\nprotocol_version = \"3.2\"\n":                           `ecr.protocol_version: "3.2" is none of`,
		begin + id + "tcp = \"127.0.0.1:8443\"\nkey_id = \"till\"\n":                                    `ecr.key_id: key_id and passphrase_file go together`,
		"[[ecr]]\ntcp = \"0.0.0.0:20007\"\n" + key:                                                      `"0.0.0.0:20007" is open to the network: set [ecr] password`,
		begin + id + "tcp = \"127.0.0.1:8443\"\n[[ecr]]\n" + begin[8:] + id + "tcp = \"127.0.0.1:1\"\n": `ecr[2].name: the line is called "nexo-tcp"`,
	} {
		_, err := loadText(t, text, nil)
		require.ErrorContains(t, err, want, text)
	}
	for _, text := range []string{
		"tcp = \"127.0.0.1:8443\"\n", "tcp = \"0.0.0.0:8443\"\n" + key, "tcp = \"0.0.0.0:8443\"\nopen = true\n",
		"tcp = \"0.0.0.0:8443\"\nallow = [\"192.168.1.20\"]\n",
	} {
		c, err := loadText(t, begin+id+text, nil)
		require.NoError(t, err, text)
		require.Equal(t, []any{"nexo-tcp", 55 * time.Second}, []any{c.ECR.LineName("tcp"), c.ECR.Patience})
		for _, s := range c.Settings() {
			require.NotContains(t, s.Value, "correct horse")
		}
	}
}

// TestAPatientTill: a till that follows blanks waits twice as long, unless the file says how long.
func TestAPatientTill(t *testing.T) {
	const line = "[[ecr]]\nprotocol = \"nexo\"\npoi_id = \"POSAGENT-000020000001\"\ntcp = \"127.0.0.1:8443\"\nkeep_alive = true\n"
	for text, want := range map[string]time.Duration{line: 110 * time.Second, line + "patience = \"40s\"\n": 40 * time.Second, "[ecr]\ntcp = \"127.0.0.1:1\"\nkeep_alive = true\n": 85 * time.Second} {
		c, err := loadText(t, text, nil)
		require.NoError(t, err)
		require.Equal(t, want, c.ECR.Patience, text)
	}
}

// TestAListTakesThePlaceOfOneBeneath: the box's own list is the whole list; a single section of it
// changes the first register of the operator's list alone.
func TestAListTakesThePlaceOfOneBeneath(t *testing.T) {
	under := Layer{Name: "revision 3", Text: []byte("[[ecr]]\ntcp = \"127.0.0.1:1\"\nbaud = 115200\n[[ecr]]\nserial = \"/dev/ttyS1\"\n")}
	c, err := loadText(t, "[[ecr]]\nserial = \"/dev/ttyS0\"\n", nil, under)
	require.NoError(t, err)
	require.Len(t, c.Registers(), 1)
	require.Equal(t, []any{"/dev/ttyS0", "", 9600}, []any{c.ECR.Serial, c.ECR.TCP, c.ECR.Baud})
	require.Empty(t, c.Origin()["ecr.tcp"])

	c, err = loadText(t, "[ecr]\nbaud = 57600\n", nil, under)
	require.NoError(t, err)
	require.Len(t, c.Registers(), 2)
	require.Equal(t, 57600, c.ECR.Baud)
	require.Equal(t, "revision 3:5", c.Origin()["ecr[2].serial"])

	c, err = loadText(t, "[[ecr]]\ntcp = \"127.0.0.1:1\"\n", []string{"POSAGENT_ECR_TCP=127.0.0.1:9"}, under)
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:9", c.ECR.TCP)
}

// TestDifferencesOfLists: a register that was added or removed is told key by key.
func TestDifferencesOfLists(t *testing.T) {
	one, err := loadText(t, "[[ecr]]\ntcp = \"127.0.0.1:1\"\n", nil)
	require.NoError(t, err)
	two, err := loadText(t, "[[ecr]]\ntcp = \"127.0.0.1:1\"\n[[ecr]]\nserial = \"/dev/ttyS1\"\n", nil)
	require.NoError(t, err)
	require.Equal(t, []Difference{{"ecr[2].serial", `""`, `"/dev/ttyS1"`}}, one.Differences(two))
	require.Equal(t, []Difference{{"ecr[2].serial", `"/dev/ttyS1"`, `""`}}, two.Differences(one))
	require.Len(t, one.Registers(), 1, "comparing changes neither")
}
