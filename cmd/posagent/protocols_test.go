package main

import (
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/ecr/till"
)

const threeLines = `[port]
listen = "127.0.0.1:0"
[[ecr]]
tcp = "127.0.0.1:0"
[[ecr]]
protocol = "jsonl"
tcp = "127.0.0.1:0"
[[ecr]]
protocol = "caisse-ap"
tcp = "127.0.0.1:0"
` + quick + `wallet_delay = "50ms"
`

// askJSON asks one question of a till that speaks JSON lines.
func (p *program) askJSON(message map[string]any) till.JSONLine {
	p.t.Helper()
	conn, err := net.DialTimeout("tcp", p.registers[1], need.Limit())
	require.NoError(p.t, err)
	one := till.NewJSONL(conn, till.JSONLOptions{Wait: need.Limit()})
	defer one.Close()
	l, _, err := one.Ask(p.t.Context(), message)
	require.NoError(p.t, err)
	return l
}

// askCaisse asks one question of a till that speaks Caisse-AP.
func (p *program) askCaisse(request string) string {
	p.t.Helper()
	conn, err := net.DialTimeout("tcp", p.registers[2], need.Limit())
	require.NoError(p.t, err)
	defer conn.Close()
	require.NoError(p.t, conn.SetDeadline(need.Deadline()))
	_, err = io.WriteString(conn, request)
	require.NoError(p.t, err)
	buf := make([]byte, 1024)
	n, err := conn.Read(buf)
	require.NoError(p.t, err)
	return string(buf[:n])
}

// TestOneTerminalSpeaksToThreeRegisters: each in its own protocol, on one journal. A request with an
// id is the same request after a restart, and also where the journal has lost the sale. Each sale is
// in the books once.
func TestOneTerminalSpeaksToThreeRegisters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "c.toml"), []byte(threeLines), 0o600))
	p := runProgramIn(t, dir)
	require.Len(t, p.registers, 3)
	require.Contains(t, p.verb("register", "pay", "1.00", "--line", "tcp:"+p.registers[0]), "approved")
	order := map[string]any{"op": "sale", "id": "order-7", "amount": 1250, "currency": "EUR"}
	first := p.askJSON(order)
	require.Equal(t, []any{"approved", int64(1250)}, []any{first.Outcome, int64(first.Amount)})
	require.NotZero(t, first.Receipt)
	debit := "CZ0040300CJ012012345678901CA00201CE003978BA0010CD0010CB003250"
	answer := p.askCaisse(debit)
	require.Contains(t, answer, "CA00201CB003250CD0010CE003978")
	require.Contains(t, answer, "AE00210")
	require.Contains(t, p.askCaisse(strings.Replace(debit, "CE003978", "CE003840", 1)), "AE00201AF00213", "dollars")
	other := p.askJSON(map[string]any{"op": "sale", "id": "order-7", "amount": 1251, "currency": "EUR"})
	require.Equal(t, "refused", other.Outcome)
	lists := p.verb("sale", "list")
	require.Equal(t, 3, strings.Count(lists, "approved"), lists)
	require.Equal(t, 3, strings.Count(lists, "CONFIRMED"), lists)
	p.end()

	p = runProgramIn(t, dir)
	again := p.askJSON(order)
	require.Equal(t, []any{"approved", first.Receipt, first.Transaction}, []any{again.Outcome, again.Receipt, again.Transaction})
	require.Equal(t, "not_found", p.askJSON(map[string]any{"op": "status", "id": "order-8"}).Outcome)
	p.end()

	var books []struct {
		Amount int64
		State  string
	}
	require.NoError(t, json.Unmarshal([]byte(p.verb("backend", "books", "--json")), &books))
	amounts := []int64{}
	for _, b := range books {
		amounts = append(amounts, b.Amount)
	}
	require.ElementsMatch(t, []int64{100, 1250, 250}, amounts)
}
