package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/ecr/ecrtest/lines"
	"posagent/ecr/till"
)

const italianLines = `[port]
listen = "127.0.0.1:0"
[[ecr]]
protocol = "ecr17"
tcp = "127.0.0.1:0"
terminal_id = "12345678"
[[ecr]]
protocol = "ecr17"
serial = "%s"
lrc = "stx"
` + quick + `wallet_delay = "50ms"
`

// sold reads a result E: whether it is done, its number, and its authorisation.
func sold(t *testing.T, said string, err error) (number, auth string) {
	t.Helper()
	require.NoError(t, err)
	require.Equal(t, []string{"E", "00"}, []string{said[9:10], said[10:12]}, said)
	return said[59:65], said[34:40]
}

// TestAnItalianTillLosesItsAnswers: over TCP and over a cable a till sells, its line breaks before the
// result, and G tells it the sale; another till hears nothing of it. It takes a payment back, once, and
// ends the day. Each sale is in the books once.
func TestAnItalianTillLosesItsAnswers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cable, err := lines.Plug(dir)
	require.NoError(t, err)
	t.Cleanup(func() { cable.Pull() })
	require.NoError(t, os.WriteFile(filepath.Join(dir, "c.toml"), fmt.Appendf(nil, italianLines, cable.Name), 0o600))
	p := runProgramIn(t, dir)
	require.Len(t, p.registers, 2)
	patient := till.ECR17Options{ID: "00000001", Wait: need.Limit(), AckWait: min(need.Limit()/12, 20*time.Second)}
	dial := func(id string) *till.ECR17 {
		conn, err := net.DialTimeout("tcp", p.registers[0], need.Limit())
		require.NoError(t, err)
		o := patient
		o.ID = id
		z := till.NewECR17(conn, o)
		t.Cleanup(func() { _ = z.Close() })
		return z
	}
	one := dial("00000001")
	said, err := one.Ask(one.Status())
	require.NoError(t, err)
	require.Equal(t, "2", said[30:31], said)
	said, err = one.Ask(one.Sale("P", 1250))
	first, _ := sold(t, said, err)

	_, err = one.Begin(one.Sale("X", 700))
	require.NoError(t, err)
	require.NoError(t, one.Close())
	one = dial("00000001")
	said, err = one.Ask(one.Last())
	second, auth := sold(t, said, err)
	require.Greater(t, second, first)
	require.NotEqual(t, "000000", auth)
	require.Equal(t, "00000700", said[74:82], "an extended payment's result has its amount")
	other := dial("00000002")
	said, err = other.Ask(other.Last())
	require.NoError(t, err)
	require.Equal(t, "01NO TRANSACTION", strings.TrimSpace(said[10:36]))

	serial := patient
	serial.Fold, serial.Cable = 1, true
	z := till.NewECR17(cable.Far, serial)
	_, err = z.Begin(z.Sale("P", 300))
	require.NoError(t, err)
	cable.Pull()
	again, err := lines.Plug(dir)
	require.NoError(t, err)
	t.Cleanup(again.Pull)
	z = till.NewECR17(again.Far, serial)
	need.Until(t, "the terminal to open the cable again", func() bool {
		said, err = z.Ask(z.Last())
		return err == nil
	})
	_, third := sold(t, said, err)
	require.NotEqual(t, "000000", third)

	said, err = one.Ask(one.Reversal(0))
	_, auth = sold(t, said, err)
	require.Equal(t, "000000", auth, "of the till's own last payment, 7.00")
	said, err = one.Ask(one.Reversal(0))
	require.NoError(t, err)
	require.Equal(t, "01REVERSED ALREADY", strings.TrimSpace(said[10:36]))
	said, err = one.Ask(one.Last())
	require.NoError(t, err)
	require.Equal(t, "01NOT DONE", strings.TrimSpace(said[10:36]), "its last request was the second reversal")

	list := p.verb("sale", "list")
	require.Equal(t, 4, strings.Count(list, "approved"), list)
	require.Zero(t, strings.Count(list, "UNCONFIRMED"), list)
	said, err = one.Ask(one.DayEnd())
	require.NoError(t, err)
	require.Equal(t, []string{"C", "00", "0000000000001550"}, []string{said[9:10], said[10:12], said[12:28]})
	p.end()

	var books []struct {
		Type, State, AccountState string
		Amount                    int64
	}
	text := p.verb("backend", "books", "--json")
	require.NoError(t, json.Unmarshal([]byte(text), &books))
	amounts := []int64{}
	for _, b := range books {
		if strings.EqualFold(b.Type, "payment") {
			amounts = append(amounts, b.Amount)
		}
	}
	require.ElementsMatch(t, []int64{1250, 700, 300}, amounts, text)
}
