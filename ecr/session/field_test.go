package session

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr/ecrtest/desk"
)

// page is what a browser writes to the line for `fetch(…, {method: "POST", mode: "no-cors", body:
// …})`.
func page(body []byte) []byte {
	return append(fmt.Appendf(nil, "POST / HTTP/1.1\r\nHost: 127.0.0.1:20007\r\nConnection: keep-alive\r\nContent-Length: %d\r\n"+
		"Origin: http://prize.example\r\nUser-Agent: Mozilla/5.0\r\nAccept: */*\r\nReferer: http://prize.example/\r\n\r\n", len(body)), body...)
}

// TestField_L1AStrangeByteClosesTheLine: a byte that begins no message closes the connection by
// itself, as the first byte of a connection and as the first byte after any number of good
// messages.
func TestField_L1AStrangeByteClosesTheLine(t *testing.T) {
	begins := map[byte]bool{0x04: true, 0x05: true, 0x06: true, 0x08: true, 0x0F: true, 0x80: true, 0x84: true}
	address, _ := serveTCP(t, desk.New(), func(o *setup) { o.t3 = time.Hour })
	for before, good := range map[string]string{
		"first": "", "after a status enquiry": "05 01 03 12 34 56", "after replies": "80 00 00 84 00 00", "after a run of 04": "04 04 00 04 04 00",
	} {
		for b := range 256 {
			p := dial(t, address)
			if good != "" {
				p.send(good)
			}
			p.send(fmt.Sprintf("%02X", b))
			if begins[byte(b)] {
				p.send("FE 00 05 01 00")
				for got := p.next(); got[:4] != "060F"; got = p.next() {
					require.Contains(t, []string{"800000", "848300", "84A000"}, got, "%s: %02X", before, b)
					if got == "84A000" { // the status enquiry before it is not answered yet
						break
					}
				}
				_ = p.conn.Close()
				continue
			}
			for got := p.next(); got != ""; got = p.next() {
				require.NotEmpty(t, good, "%02X was answered %s", b, got)
			}
			_ = p.conn.Close()
		}
	}
}

// TestField_L1AWebPageReachesNoSale: what a browser sends for a page moves nothing, whatever the
// page puts behind the header and wherever a reader of the stream would be by then.
func TestField_L1AWebPageReachesNoSale(t *testing.T) {
	d := desk.New()
	address, s := serveTCP(t, d, nil)
	till := dial(t, address)
	till.register(noPrint)
	till.begin(pay)
	till.expectApproval()
	till.send("80 00 00")
	till.expect("06 0F 00")
	till.send("80 00 00")
	till.begin(payOpen)
	received := s.Stats().Received
	reverse := []byte{0x06, 0x30, 0x06, 0x12, 0x34, 0x56, 0x87, 0x00, 0x01}
	for shift := range 7 {
		body := bytes.Repeat([]byte{0x04}, 4096+shift)
		body = append(append(body, reverse...), 0x06, 0xB0, 0x00)
		for name, stream := range map[string][]byte{
			"POST":              page(body),
			"preflight":         append([]byte("OPTIONS / HTTP/1.1\r\n\r\n"), body...),
			"WebSocket upgrade": append([]byte("GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"), body...),
			"TLS hello":         append([]byte{0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xFC}, body...),
			"STUN over TCP":     append([]byte{0x00, 0x01, 0x00, 0x58, 0x21, 0x12, 0xA4, 0x42}, body...),
			"framed STUN":       append([]byte{0x00, 0x6C, 0x00, 0x01, 0x00, 0x58}, body...),
			"channel data":      append([]byte{0x40, 0x00, 0x10, 0x00}, body...),
			"HTTP/2":            append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), body...),
		} {
			p := dial(t, address)
			go func() { _, _ = p.conn.Write(stream) }()
			require.Empty(t, p.next(), "%s is answered", name)
		}
	}
	require.Equal(t, received, s.Stats().Received, "no message was taken from any of it")
	d.Mu.Lock()
	require.Len(t, d.Begun, 2)
	require.True(t, d.Sales[1].Open, "the running sale runs on")
	d.Mu.Unlock()
	d.Approve()
	till.expectApproval()
}
