package zvt

import (
	"encoding/binary"
	"io"
	"sync"
	"time"
)

// Capture writes what goes over a line as a pcap file that protocol analysers open: as the packets of one TCP
// connection (synthetic Ethernet, IP and TCP headers, the handshake included; tshark -d tcp.port==20007,zvt), or as
// the bytes of a serial line. Give its Tap to Options.Tap for TCP. It is safe for concurrent use.
type Capture struct {
	mu     sync.Mutex
	w      io.Writer
	now    func() time.Time
	serial bool
	err    error
	seq    [2]uint32 // next sequence number of the register [0] and the terminal [1]
}

const (
	linkEthernet = 1
	linkUser0    = 147 // private use: tshark is told what it is by the user_dlts table
	terminalPort = 20007
	registerPort = 50007
)

// NewCapture begins a capture of a TCP line between port 50007 and the terminal's port 20007.
func NewCapture(w io.Writer, now func() time.Time) *Capture {
	c := &Capture{w: w, now: now, seq: [2]uint32{1000, 2000}}
	c.header(linkEthernet)
	c.segment(0, 0x02, nil) // SYN
	c.seq[0]++
	c.segment(1, 0x12, nil) // SYN ACK
	c.seq[1]++
	c.segment(0, 0x10, nil) // ACK
	return c
}

// NewSerialCapture begins a capture of a serial line: one packet per piece of bytes given to Tap, with the link type
// for private use (tshark -o 'uat:user_dlts:"User 0 (DLT=147)","zvt","0","","0",""').
func NewSerialCapture(w io.Writer, now func() time.Time) *Capture {
	c := &Capture{w: w, now: now, serial: true}
	c.header(linkUser0)
	return c
}

// Err is the first error of the writer.
func (c *Capture) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Tap records bytes that went "out" (from the register) or "in" (to it).
func (c *Capture) Tap(direction string, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	from := 0
	if direction == "in" {
		from = 1
	}
	if len(data) == 0 {
		return
	}
	if c.serial {
		c.packet(data)
		return
	}
	for len(data) > 0 {
		n := min(len(data), 1400)
		c.segment(from, 0x18, data[:n]) // PSH ACK
		c.seq[from] += uint32(n)
		data = data[n:]
	}
}

func (c *Capture) write(b []byte) {
	if c.err == nil {
		_, c.err = c.w.Write(b)
	}
}

func (c *Capture) header(link uint32) {
	b := binary.LittleEndian.AppendUint32(nil, 0xA1B2C3D4)
	b = binary.LittleEndian.AppendUint16(b, 2)
	b = binary.LittleEndian.AppendUint16(b, 4)
	b = append(b, make([]byte, 8)...)
	b = binary.LittleEndian.AppendUint32(b, 0x40000)
	c.write(binary.LittleEndian.AppendUint32(b, link))
}

func (c *Capture) packet(data []byte) {
	now := c.now()
	b := binary.LittleEndian.AppendUint32(nil, uint32(now.Unix()))
	b = binary.LittleEndian.AppendUint32(b, uint32(now.Nanosecond()/1000))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
	c.write(append(b, data...))
}

// segment writes one TCP segment from the register (0) or the terminal (1).
func (c *Capture) segment(from int, flags byte, data []byte) {
	macs := [2][]byte{{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}}
	ips := [2][]byte{{192, 0, 2, 1}, {192, 0, 2, 2}}
	ports := [2]uint16{registerPort, terminalPort}
	to := 1 - from

	tcp := binary.BigEndian.AppendUint16(nil, ports[from])
	tcp = binary.BigEndian.AppendUint16(tcp, ports[to])
	tcp = binary.BigEndian.AppendUint32(tcp, c.seq[from])
	ack := c.seq[to]
	if flags&0x10 == 0 {
		ack = 0
	}
	tcp = binary.BigEndian.AppendUint32(tcp, ack)
	tcp = append(tcp, 5<<4, flags, 0xFF, 0xFF, 0, 0, 0, 0)
	tcp = append(tcp, data...)
	pseudo := append(append([]byte{}, ips[from]...), ips[to]...)
	pseudo = append(pseudo, 0, 6)
	pseudo = binary.BigEndian.AppendUint16(pseudo, uint16(len(tcp)))
	binary.BigEndian.PutUint16(tcp[16:], internetChecksum(append(pseudo, tcp...)))

	ip := []byte{0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 6, 0, 0}
	binary.BigEndian.PutUint16(ip[2:], uint16(20+len(tcp)))
	ip = append(append(ip, ips[from]...), ips[to]...)
	binary.BigEndian.PutUint16(ip[10:], internetChecksum(ip))

	packet := append(append([]byte{}, macs[to]...), macs[from]...)
	packet = append(packet, 0x08, 0x00)
	c.packet(append(append(packet, ip...), tcp...))
}

func internetChecksum(b []byte) uint16 {
	var sum uint32
	for i := 0; i < len(b); i += 2 {
		word := uint32(b[i]) << 8
		if i+1 < len(b) {
			word |= uint32(b[i+1])
		}
		sum += word
	}
	for sum > 0xFFFF {
		sum = sum>>16 + sum&0xFFFF
	}
	return ^uint16(sum)
}
