package main

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
)

// canary is a test card whose number and validation code stand nowhere else in a process.
type canary struct{ pan, code string }

// luhn ends a number with its check digit.
func luhn(body string) string {
	sum := 0
	for i := range len(body) {
		n := int(body[len(body)-1-i] - '0')
		if i%2 == 0 {
			if n *= 2; n > 9 {
				n -= 9
			}
		}
		sum += n
	}
	return body + strconv.Itoa((10-sum%10)%10)
}

// start runs the program as a process of its own until the test ends.
func start(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Args[0], cmd.Dir = "posagent", dir
	said, err := os.Create(filepath.Join(dir, args[0]+".log"))
	require.NoError(t, err)
	cmd.Stdout, cmd.Stderr = said, said
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		_ = said.Close()
		if t.Failed() {
			data, _ := os.ReadFile(said.Name())
			t.Logf("%s: %s", args[0], data)
		}
	})
	return cmd
}

// coreOf is what can be written of a process's memory, as a core would hold it.
func coreOf(t *testing.T, pid int, see func(at uint64, data []byte)) {
	t.Helper()
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	require.NoError(t, err)
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	require.NoError(t, err)
	defer mem.Close()
	for line := range strings.Lines(string(maps)) {
		var from, to uint64
		var mode string
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &from, &to, &mode); n != 3 || !strings.HasPrefix(mode, "rw") {
			continue
		}
		data := make([]byte, to-from)
		n, _ := mem.ReadAt(data, int64(from)) // what was unmapped meanwhile is gone
		see(from, data[:n])
	}
}

// envRequests names the size of the run; 0 = small.
const envRequests = "CORE_REQUESTS"

// After requests with card data, next to nothing of them is left in the terminal's memory a while later, and no core is written.
func TestField_P11NoCardDataStaysInMemory(t *testing.T) {
	need.Verify(t, "reads the memory of another process for a minute")
	if os.Geteuid() != 0 {
		need.Missing(t, "root, to read the memory of a process that nobody else may", "run as root")
	}
	requests, _ := strconv.Atoi(os.Getenv(envRequests))
	if requests <= 0 {
		requests = 40
	}
	dir := t.TempDir()
	var ports []any
	for _, p := range need.Ports(t, 3) {
		ports = append(ports, p)
	}
	to, err := url.Parse(fmt.Sprintf("http://127.0.0.1:%s", ports[1]))
	require.NoError(t, err)
	front := httptest.NewTLSServer(httputil.NewSingleHostReverseProxy(to)) // so that crypto/tls is on the way
	t.Cleanup(front.Close)
	roots := filepath.Join(dir, "roots.pem")
	require.NoError(t, os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw}), 0o600))
	text := strings.Replace(fmt.Sprintf(remote, ports...), fmt.Sprintf("base = %q", to), fmt.Sprintf("base = %q\nroots_file = %q", front.URL, roots), 1)
	require.Contains(t, text, roots)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cut.toml"), []byte(text), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "backend.toml"), []byte("[backend]\nwallet_delay = \"100ms\"\n"), 0o600))
	start(t, dir, "backend", "--listen", fmt.Sprintf("127.0.0.1:%s", ports[1]), "--state", "b", "--config", "backend.toml")
	terminal := start(t, dir, "run", "--config", "cut.toml", "--state", "s")

	base := fmt.Sprintf("http://127.0.0.1:%s", ports[2])
	var token []byte
	need.Until(t, "the port and its token", func() bool {
		token, err = os.ReadFile(filepath.Join(dir, "s", "port.token"))
		if err != nil {
			return false
		}
		resp, err := http.Get(base + "/livez")
		if err == nil {
			resp.Body.Close()
		}
		return err == nil
	})
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", terminal.Process.Pid))
	require.NoError(t, err)
	require.Regexp(t, `Max core file size +0 +0 `, string(limits))

	cards := make([]canary, requests)
	client := &http.Client{Timeout: need.Limit(), Transport: &http.Transport{MaxIdleConnsPerHost: 4}}
	for i := range cards {
		cards[i] = canary{luhn(canaryBIN + fmt.Sprintf("%09d", rand.Int64N(1e9))), fmt.Sprintf("%04d", rand.IntN(10000))}
		body := fmt.Sprintf(`{"type":"Moto","amount":1250,"currencyCode":"EUR","processing":"Sale","cardDetails":{"pan":"%s","validationCode":"%s","expiryYear":2090,"expiryMonth":1}}`, cards[i].pan, cards[i].code)
		if i%4 == 3 { // stored
			body = strings.Replace(body, fmt.Sprintf(`"validationCode":"%s",`, cards[i].code), "", 1)
		}
		need.Until(t, fmt.Sprint("an answer to request ", i), func() bool { // the first ones until the services are proven
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/api/v1/payments", strings.NewReader(body))
			require.NoError(t, err)
			req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
			req.Header.Set("Content-Type", "application/json")
			resp, err := client.Do(req)
			if err != nil {
				return false
			}
			defer resp.Body.Close()
			_, _ = io.Copy(io.Discard, resp.Body)
			return resp.StatusCode == http.StatusCreated || resp.StatusCode == http.StatusBadRequest || resp.StatusCode == http.StatusUnprocessableEntity
		})
	}
	wanted := map[string]bool{}
	for _, c := range cards {
		wanted[c.pan], wanted[codeName+c.code] = true, true
	}
	// A copy behind the head of an HTTP request, as far as a buffer of net/http reaches, is in one: bufio's of a connection that is open.
	const buffer = 4 << 10
	count := func() (theirs int, ours []string) {
		coreOf(t, terminal.Process.Pid, func(at uint64, data []byte) {
			for begin, length := range map[string]int{canaryBIN: 16, codeName: len(codeName) + 4} {
				for from := 0; ; {
					i := bytes.Index(data[from:], []byte(begin))
					if i < 0 {
						break
					}
					i += from
					from = i + 1
					if !wanted[string(data[i:min(i+length, len(data))])] {
						continue
					}
					if bytes.Contains(data[max(i-buffer, 0):i], []byte("POST /api/v1/payments HTTP/1.1\r\nHost: ")) {
						theirs++
						continue
					}
					around := visible.ReplaceAll(data[max(i-100, 0):min(i+100, len(data))], []byte("."))
					ours = append(ours, fmt.Sprintf("%x: %q", at+uint64(i), around))
				}
			}
		})
		return theirs, ours
	}
	theirs, ours := count()
	t.Logf("%d requests: %d copies of ours, %d in buffers of net/http right after the last", requests, len(ours), theirs)
	client.CloseIdleConnections()
	// A goroutine that lives on keeps what lies below its own frames, where its stack was cut from pages that held requests.
	const most = 2
	stacks := func() int {
		list := map[uint64]bool{}
		for _, line := range ours {
			at, _, _ := strings.Cut(line, ":")
			address, err := strconv.ParseUint(at, 16, 64)
			require.NoError(t, err)
			list[address>>13] = true // pages of 8 KiB
		}
		return len(list)
	}
	// It is overwritten three times, the last time after a minute. On a machine with much else to do that takes longer.
	need.Until(t, "what is left of the requests to be overwritten", func() bool {
		if stacks() <= most {
			return true
		}
		theirs, ours = count()
		return false
	})
	t.Logf("left: %d of ours, %d in buffers of net/http", len(ours), theirs)
	require.LessOrEqual(t, theirs, 2*mostOpen, "one in each direction of a connection that is open")
}

// codeName is what stands before a validation code.
const codeName = `"validationCode":"`

// canaryBIN begins each canary's number.
const canaryBIN = "472190"

// mostOpen is how many connections the terminal keeps open to one service.
const mostOpen = 4

var visible = regexp.MustCompile(`[^ -~]+`)
