package main

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"posagent/agent/config"
	"posagent/cross/need"
)

const nexoPhrase = "correct horse battery"

// nexoTerminal is a running sandbox with an encrypting nexo line, and what it trusts.
type nexoTerminal struct {
	t       *testing.T
	run     *terminalRun
	dir, at string
	pem     []byte
}

func nexoSandbox(t *testing.T, dir string) *nexoTerminal {
	t.Helper()
	text := fmt.Sprintf("[port]\nlisten = \"127.0.0.1:0\"\n[[ecr]]\nprotocol = \"nexo\"\ntcp = \"127.0.0.1:0\"\npoi_id = \"POSAGENT-000020000001\"\n"+
		"key_id = \"till\"\nkey_version = 3\npassphrase_file = %q\n", filepath.Join(dir, "phrase")) + quick + "wallet_delay = \"100ms\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "phrase"), []byte(nexoPhrase+"\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), 0o600))
	x := &nexoTerminal{t: t, run: runIn(t, dir), dir: dir}
	for word := range strings.FieldsSeq(x.run.until("^ready ")) {
		if at, ok := strings.CutPrefix(word, "register=tcp:"); ok {
			x.at = at
		}
	}
	require.NotEmpty(t, x.at)
	x.pem = []byte(x.verb("register", "certificate"))
	return x
}

func (x *nexoTerminal) verb(args ...string) string {
	x.t.Helper()
	out, err := exec.Command("posagent", append(args, "--state", filepath.Join(x.dir, "state"))...).Output()
	require.NoError(x.t, err, args)
	return string(out)
}

// post sends a body on a connection of its own, as tills do.
func (x *nexoTerminal) post(body []byte, header ...string) (int, []byte) {
	x.t.Helper()
	pool := x509.NewCertPool()
	require.True(x.t, pool.AppendCertsFromPEM(x.pem))
	client := http.Client{Timeout: need.Limit(), Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true}}
	req, err := http.NewRequest(http.MethodPost, "https://"+x.at+"/nexo/", io.MultiReader(bytes.NewReader(body))) // chunked, as tills send
	require.NoError(x.t, err)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := client.Do(req)
	require.NoError(x.t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(x.t, err)
	return resp.StatusCode, data
}

// nexoBox is a message in its encryption, as tills write it.
type nexoBox struct {
	MessageHeader   json.RawMessage
	NexoBlob        []byte
	SecurityTrailer struct {
		AdyenCryptoVersion int
		KeyIdentifier      string
		KeyVersion         int
		Nonce, Hmac        []byte
	}
}

// nexoCBC is AES-CBC under a passphrase, in place, and the HMAC of a plaintext.
func nexoCBC(t *testing.T, phrase string, data, nonce []byte, encrypt bool) func([]byte) []byte {
	t.Helper()
	all, err := pbkdf2.Key(sha1.New, phrase, []byte("AdyenNexoV1Salt"), 4000, 80)
	require.NoError(t, err)
	iv := make([]byte, 16)
	for i := range iv {
		iv[i] = all[64+i] ^ nonce[i]
	}
	block, err := aes.NewCipher(all[32:64])
	require.NoError(t, err)
	if encrypt {
		cipher.NewCBCEncrypter(block, iv).CryptBlocks(data, data)
	} else {
		cipher.NewCBCDecrypter(block, iv).CryptBlocks(data, data)
	}
	return func(plain []byte) []byte {
		h := hmac.New(sha256.New, all[:32])
		h.Write(plain)
		return h.Sum(nil)
	}
}

func nexoHeader(category, service string) string {
	return fmt.Sprintf(`{"ProtocolVersion":"3.0","MessageClass":"Service","MessageCategory":%q,"MessageType":"Request","ServiceID":%q,"SaleID":"till1","POIID":"POSAGENT-000020000001"}`,
		category, service)
}

// seal encrypts a request.
func (x *nexoTerminal) seal(phrase, category, service, body string) []byte {
	plain := []byte(fmt.Sprintf(`{"SaleToPOIRequest":{"MessageHeader":%s,"%sRequest":%s}}`, nexoHeader(category, service), category, body))
	pad := 16 - len(plain)%16
	b := nexoBox{MessageHeader: json.RawMessage(nexoHeader(category, service)), NexoBlob: append(bytes.Clone(plain), bytes.Repeat([]byte{byte(pad)}, pad)...)}
	s := &b.SecurityTrailer
	s.AdyenCryptoVersion, s.KeyIdentifier, s.KeyVersion, s.Nonce = 1, "till", 3, []byte("0123456789abcdef")
	s.Hmac = nexoCBC(x.t, phrase, b.NexoBlob, s.Nonce, true)(plain)
	data, err := json.Marshal(map[string]nexoBox{"SaleToPOIRequest": b})
	require.NoError(x.t, err)
	return data
}

// ask sends an encrypted request and opens the answer.
func (x *nexoTerminal) ask(category, service, body string) string {
	x.t.Helper()
	code, data := x.post(x.seal(nexoPhrase, category, service, body), "X-API-Key", "another-service-key")
	require.Equal(x.t, http.StatusOK, code, string(data))
	var out struct{ SaleToPOIResponse nexoBox }
	require.NoError(x.t, json.Unmarshal(data, &out))
	b := out.SaleToPOIResponse
	sum := nexoCBC(x.t, nexoPhrase, b.NexoBlob, b.SecurityTrailer.Nonce, false)
	plain := b.NexoBlob[:len(b.NexoBlob)-int(b.NexoBlob[len(b.NexoBlob)-1])]
	require.Equal(x.t, sum(plain), b.SecurityTrailer.Hmac)
	return string(plain)
}

const nexoPayment = `{"SaleData":{"SaleTransactionID":{"TransactionID":"order-1","TimeStamp":"2026-11-24T11:00:00.000Z"}},"PaymentTransaction":{"AmountsReq":{"Currency":"EUR","RequestedAmount":12.5}}}`

// TestANexoTillPaysOnce: over TLS that it trusts by what the program printed, encrypted. What it asks
// again is the same sale, also after the terminal started anew, whose certificate is the same.
func TestANexoTillPaysOnce(t *testing.T) {
	t.Parallel()
	x := nexoSandbox(t, t.TempDir())
	require.Equal(t, 1, strings.Count(string(x.pem), "BEGIN CERTIFICATE"))
	require.NotContains(t, string(x.pem), "PRIVATE")
	require.Contains(t, x.verb("register", "certificate", "--json"), `"schema": "posagent.register.certificate/1"`)
	file := filepath.Join(x.dir, "state", "nexo-nexo-tcp.pem")
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())

	require.Contains(t, x.ask("Login", "L1", `{"DateTime":"2026-11-24T11:00:00Z","OperatorLanguage":"en","SaleSoftware":{"ManufacturerID":"a","ApplicationName":"b","SoftwareVersion":"1","CertificationCode":"c"}}`), `"Result":"Success"`)
	require.Contains(t, x.ask("Diagnosis", "D1", `{"HostDiagnosisFlag":false}`), `"GlobalStatus":"OK"`)
	for range 2 {
		got := x.ask("Payment", "P1", nexoPayment)
		require.Contains(t, got, `"Result":"Success"`)
		require.Contains(t, got, `"AuthorizedAmount":12.5`)
	}
	code, data := x.post(x.seal("another passphrase", "Payment", "P2", nexoPayment))
	require.Equal(t, http.StatusUnauthorized, code, string(data))
	code, data = x.post(x.seal(nexoPhrase, "Payment", "P3", nexoPayment), "Origin", "http://evil.example")
	require.Equal(t, http.StatusForbidden, code, string(data))
	code, data = x.post([]byte(fmt.Sprintf(`{"SaleToPOIRequest":{"MessageHeader":%s,"PaymentRequest":%s}}`, nexoHeader("Payment", "P4"), nexoPayment)))
	require.Equal(t, http.StatusUnauthorized, code, "in clear: %s", data)

	books := x.verb("backend", "books", "--config", filepath.Join(x.dir, "config.toml"), "--json")
	require.Equal(t, 1, strings.Count(books, `"accountState": "COMMIT"`), books)
	x.run.stop()
	for _, secret := range []string{nexoPhrase, "another-service-key"} {
		require.NotContains(t, x.run.said(), secret)
	}

	y := nexoSandbox(t, x.dir)
	require.Equal(t, string(x.pem), string(y.pem), "a till need not trust anew")
	got := y.ask("TransactionStatus", "S1", `{"MessageReference":{"MessageCategory":"Payment","SaleID":"till1","ServiceID":"P1"}}`)
	require.Contains(t, got, `"RepeatedMessageResponse"`)
	require.Contains(t, got, `"AuthorizedAmount":12.5`)
	require.Contains(t, y.ask("TransactionStatus", "S2", `{"MessageReference":{"MessageCategory":"Payment","SaleID":"till1","ServiceID":"P2"}}`), `"NotFound"`)
	require.Contains(t, y.ask("Payment", "P1", nexoPayment), `"AuthorizedAmount":12.5`)
	books = y.verb("backend", "books", "--config", filepath.Join(y.dir, "config.toml"), "--json")
	require.Equal(t, 1, strings.Count(books, `"accountState": "COMMIT"`), books)
	y.run.stop()

	require.NoError(t, os.WriteFile(file, []byte("spoilt"), 0o600))
	z := nexoSandbox(t, x.dir)
	require.NotEqual(t, string(x.pem), string(z.pem))
	require.Contains(t, z.run.said(), "every till has to trust it")
	require.Contains(t, z.ask("Diagnosis", "D2", `{"HostDiagnosisFlag":false}`), `"GlobalStatus":"OK"`)
	z.run.stop()
}

// TestAPaymentIsHeldWhileOthersAsk: a till opens a connection for each message, more than eight at once.
func TestAPaymentIsHeldWhileOthersAsk(t *testing.T) {
	t.Parallel()
	x := nexoSandbox(t, t.TempDir())
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(x.pem))
	for range 20 {
		conn, err := tls.Dial("tcp", x.at, &tls.Config{RootCAs: pool})
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
	}
	require.Contains(t, x.ask("Diagnosis", "D1", `{"HostDiagnosisFlag":false}`), `"GlobalStatus":"OK"`)
}

// TestTheCertificateOfALineOnEveryNetwork has the machine's addresses, and is not made anew when they change.
func TestTheCertificateOfALineOnEveryNetwork(t *testing.T) {
	has := func() (list []netip.Addr, err error) {
		for _, a := range []string{"fd00::7", "192.168.1.20", "fe80::1", "127.0.0.1", "::1"} {
			list = append(list, netip.MustParseAddr(a))
		}
		return list, nil
	}
	for listen, want := range map[string][2]string{
		"0.0.0.0:8443":      {"[127.0.0.1 ::1]", "[127.0.0.1 ::1 192.168.1.20 fd00::7]"},
		"192.168.1.20:8443": {"[127.0.0.1 ::1 192.168.1.20]", "[127.0.0.1 ::1 192.168.1.20]"},
		"127.0.0.1:8443":    {"[127.0.0.1 ::1]", "[127.0.0.1 ::1]"},
	} {
		must, all, err := nexoAddresses(listen, has)
		require.NoError(t, err)
		require.Equal(t, want, [2]string{fmt.Sprint(must), fmt.Sprint(all)}, listen)
	}
}

// TestField2_A8_AddressesThatAreMissingAreSaid: why the addresses of the machine are not in a new certificate, and that an earlier one has none of them, with what
// to do. The certificate of an earlier start stays: every till trusts it.
func TestField2_A8_AddressesThatAreMissingAreSaid(t *testing.T) {
	denied := func() ([]netip.Addr, error) { return nil, unix.EAFNOSUPPORT }
	_, all, err := nexoAddresses("0.0.0.0:8443", denied)
	require.ErrorIs(t, err, unix.EAFNOSUPPORT)
	require.Equal(t, "[127.0.0.1 ::1]", fmt.Sprint(all))

	there := func() ([]netip.Addr, error) { return []netip.Addr{netip.MustParseAddr("192.168.1.20")}, nil }
	var said bytes.Buffer
	b := box{state: t.TempDir(), log: slog.New(slog.NewTextHandler(&said, nil)), addresses: denied}
	e := config.ECR{Protocol: "nexo", TCP: "0.0.0.0:8443", POIID: "POSAGENT-000020000001"}
	made, err := nexoCertificate(e, b)
	require.NoError(t, err)
	require.Contains(t, said.String(), "the addresses of this machine cannot be read")
	require.Contains(t, said.String(), "AF_NETLINK (systemctl cat posagent)")
	require.Contains(t, said.String(), unix.EAFNOSUPPORT.Error())

	said.Reset()
	b.addresses = there
	kept, err := nexoCertificate(e, b)
	require.NoError(t, err)
	require.True(t, made.Leaf.Equal(kept.Leaf), "every till trusts it")
	require.Contains(t, said.String(), "has none of this machine's addresses")
	require.Contains(t, said.String(), "posagent register certificate")

	said.Reset()
	require.NoError(t, os.Remove(filepath.Join(b.state, "nexo-nexo-tcp.pem")))
	anew, err := nexoCertificate(e, b)
	require.NoError(t, err)
	require.NoError(t, anew.Leaf.VerifyHostname("192.168.1.20"))
	_, err = nexoCertificate(e, b)
	require.NoError(t, err)
	require.Empty(t, said.String())
}

// TestField2_A8_AddressesAreFoundWithoutAsking: a unit, or another init system, that forbids the question leaves the kernel's lists.
func TestField2_A8_AddressesAreFoundWithoutAsking(t *testing.T) {
	denied := func() (map[netip.Addr]net.Interface, error) { return nil, unix.EAFNOSUPPORT }
	proc := t.TempDir()
	_, err := ownAddresses(proc, denied)
	require.ErrorIs(t, err, unix.EAFNOSUPPORT, "no list, either")
	require.NoError(t, os.MkdirAll(filepath.Join(proc, "net"), 0o700))
	put := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(proc, "net", name), []byte(text), 0o600))
	}
	put("fib_trie", "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 192.0.2.0\n        /24 link UNICAST\n     |-- 192.0.2.2\n        /32 host LOCAL\n     |-- 192.0.2.255\n        /32 link BROADCAST\nLocal:\n     |-- 192.0.2.2\n        /32 host LOCAL\n")
	list, err := ownAddresses(proc, denied)
	require.NoError(t, err)
	require.Equal(t, "[192.0.2.2]", fmt.Sprint(list))
	put("if_inet6", "fd000000000000000000000000000002 04 40 00 82     eth0\n")
	list, err = ownAddresses(proc, denied)
	require.NoError(t, err)
	require.ElementsMatch(t, []netip.Addr{netip.MustParseAddr("192.0.2.2"), netip.MustParseAddr("fd00::2")}, list)
	list, err = ownAddresses(proc, func() (map[netip.Addr]net.Interface, error) {
		return map[netip.Addr]net.Interface{netip.MustParseAddr("192.0.2.9"): {}}, nil
	})
	require.NoError(t, err)
	require.Equal(t, "[192.0.2.9]", fmt.Sprint(list), "the kernel's answer is better than its lists")
}
