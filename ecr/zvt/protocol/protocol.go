package protocol

import (
	"crypto/rand"
	"net"
	"time"

	"posagent/ecr"
	"posagent/ecr/zvt"
	"posagent/ecr/zvt/frame"
)

// maxAPDU bounds what a register may send at once on TCP: no command we know comes near.
const maxAPDU = 16 << 10

// Options are how the terminal speaks ZVT.
type Options struct {
	ZVT   zvt.Config // Line, Cable and Series are filled in
	Frame frame.Config
	T3    time.Duration // TCP: an APDU must be complete within, 0 = 5 s
}

// New returns ZVT for serial lines and TCP.
func New(o Options) ecr.Protocol {
	return ecr.Protocol{
		Dialogue: func(s ecr.Start) ecr.Dialogue {
			cfg := o.ZVT
			cfg.Line, cfg.Cable, cfg.Series = s.Line, s.Cable, rand.Text
			return zvt.New(cfg, s.Saved)
		},
		Serial: func(conn ecr.Conn) ecr.Transport { return frame.New(conn, o.Frame) },
		TCP:    func(conn net.Conn) ecr.Transport { return frame.NewTCP(conn, o.T3, frame.WithMaxAPDU(maxAPDU)) },
		Claim:  func(data []byte) ecr.Claim { return zvt.ClaimOf(data, o.ZVT.Password) },

		Outline: zvt.Outline,
	}
}
