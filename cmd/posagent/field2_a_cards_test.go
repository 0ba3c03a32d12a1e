package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/cross/need"
	"posagent/device"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

// TestField2_A3NoCardNumberStandsInTheState: tills and shops take a card number for their order number. Wherever a caller may write a name
// of its own, one is written, and none of them stands in a column of the journal, a file of the state, an export, a list or a log.
//
// The kind is the names of the local port (Idempotency-Key and reference of a sale; referenceId and sku of a link; orderId, contractId and
// address of a hosted page) and of a register's line (till, id and reference of a sale, id of an end of day).
func TestField2_A3NoCardNumberStandsInTheState(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var ports []any
	for _, p := range need.Ports(t, 3) {
		ports = append(ports, p)
	}
	text := strings.NewReplacer("[ecr]\n", "[[ecr]]\nprotocol = \"jsonl\"\n", "instance = \"demo\"\n", "instance = \"demo\"\napi_key = \"demo-api-key\"\n").Replace(fmt.Sprintf(remote, ports...))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cut.toml"), []byte(text), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "backend.toml"), []byte("[backend]\nwallet_delay = \"100ms\"\n"), 0o600))
	start(t, dir, "backend", "--listen", fmt.Sprintf("127.0.0.1:%s", ports[1]), "--state", "b", "--config", "backend.toml")
	terminal := start(t, dir, "run", "--config", "cut.toml", "--state", "s")
	base := fmt.Sprintf("http://127.0.0.1:%s", ports[2])
	var token string
	need.Until(t, "the port and its token", func() bool {
		data, err := os.ReadFile(filepath.Join(dir, "s", "port.token"))
		token = strings.TrimSpace(string(data))
		return err == nil && token != ""
	})
	names := map[string]string{} // what stands where, by number
	card := func(where string) string {
		number := luhn(fmt.Sprintf("41111122334%04d", len(names)+1))
		require.NotEqual(t, number, wire.MaskPANs(number))
		names[number] = where
		return number
	}
	ask := func(path, contentType, key, body string, good ...int) {
		t.Helper()
		need.Until(t, "an answer to "+path, func() bool { // the first ones until the services are proven
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+path, strings.NewReader(body))
			require.NoError(t, err)
			req.Header.Set("Authorization", "Bearer "+token)
			req.Header.Set("X-API-KEY", token)
			req.Header.Set("Correlation-Id", "11111111-1111-4111-8111-111111111111")
			req.Header.Set("Content-Type", contentType)
			if key != "" {
				req.Header.Set("Idempotency-Key", key)
			}
			resp, err := (&http.Client{Timeout: need.Limit()}).Do(req)
			if err != nil {
				return false
			}
			said, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			if resp.StatusCode == http.StatusServiceUnavailable {
				return false
			}
			require.Contains(t, good, resp.StatusCode, "%s: %s", path, said)
			return true
		})
	}
	sale, _ := json.Marshal(map[string]any{"amount": 500, "currency": "EUR", "reference": card("reference of a sale")})
	ask("/agent/v1/sales?wait=30s", wire.JSONType, card("Idempotency-Key of a sale"), string(sale), 200)
	ask("/v1.0/Invoice/?instance=demo", "application/x-www-form-urlencoded", "", url.Values{
		"amount": {"1250"}, "currency": {"EUR"}, "title": {"t"}, "purpose": {"p"}, "description": {"d"}, "psp": {"1"},
		"referenceId": {card("referenceId of a link")}, "sku": {card("sku of a link")},
	}.Encode(), 200, 201, 202)
	build, _ := json.Marshal(map[string]any{
		"merchantUrl": "https://shop.example", "order": map[string]any{"orderId": card("orderId"), "amount": "1000", "currency": "EUR"},
		"paymentSession": map[string]any{
			"actionType": "PAY", "amount": "1000", "language": "ITA", "resultUrl": "https://shop.example/r", "cancelUrl": "https://shop.example/c",
			"notificationUrl": "https://shop.example/n?x=" + card("notificationUrl"),
			"recurrence":      map[string]any{"action": "CONTRACT_CREATION", "contractId": card("contractId"), "contractType": "MIT_UNSCHEDULED"},
		},
	})
	ask("/api/phoenix-0.0/psp/api/v1/orders/build", wire.JSONType, "", string(build), 200)
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%s", ports[0]))
	require.NoError(t, err)
	defer conn.Close()
	till := bufio.NewScanner(conn)
	tell := func(ends string, message map[string]any) {
		t.Helper()
		data, err := json.Marshal(message)
		require.NoError(t, err)
		_, err = conn.Write(append(data, '\n'))
		require.NoError(t, err)
		for till.Scan() {
			if bytes.Contains(till.Bytes(), []byte(ends)) {
				return
			}
		}
		require.Failf(t, "the line ended", "%v wants %s", message["op"], ends)
	}
	tell(`"terminal"`, map[string]any{"op": "hello", "till": card("till")})
	id := card("id of a sale")
	tell(`"approved"`, map[string]any{"op": "sale", "id": id, "amount": 500, "currency": "EUR", "reference": card("reference of a till")})
	tell(`"acknowledged"`, map[string]any{"op": "ack", "id": id})
	tell(`"totals"`, map[string]any{"op": "totals", "id": card("id of an end of day"), "close": true})

	var told bytes.Buffer
	for _, args := range [][]string{{"backup", "--export", "x.jsonl"}, {"sale", "list", "--json"}, {"audit", "--json"}, {"ops", "list", "--json"}, {"status", "--json"}} {
		c := exec.Command(os.Args[0], append(args, "--config", "cut.toml", "--state", "s")...)
		c.Args[0], c.Dir, c.Stderr = "posagent", dir, io.Discard
		out, err := c.Output()
		if args[0] != "status" { // which says that a line is not READY by its exit code, too
			require.NoError(t, err, args)
		}
		told.Write(out)
	}
	require.Contains(t, told.String(), "411111******", "the names are there, masked")
	require.NoError(t, terminal.Process.Signal(os.Interrupt))
	_ = terminal.Wait()
	var list []string
	for number, where := range names {
		list = append(list, number)
		require.NotContains(t, told.String(), number, where)
	}
	keys, err := device.OpenKeys(filepath.Join(dir, "s", "keys"))
	require.NoError(t, err)
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, "s", "agent.db"), Steps: agent.Schema(), Wrapper: keys, Ballast: -1})
	require.NoError(t, err)
	require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
		for number, where := range names {
			require.Empty(t, storetest.Holds(t, r, number), where)
		}
		return nil
	}))
	require.NoError(t, db.Close())
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(path, filepath.Join(dir, "b")+"/") {
			return err
		}
		data, err := os.ReadFile(path)
		for _, number := range list {
			require.False(t, bytes.Contains(data, []byte(number)), "%s in %s", names[number], path)
		}
		return err
	}))
}
