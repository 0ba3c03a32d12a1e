package protocol

import (
	"net"

	"posagent/ecr"
	"posagent/ecr/jsonl"
)

// Options are how the terminal speaks JSON lines.
type Options struct {
	JSONL jsonl.Config // Line and Cable are filled in
	// NoChecksum takes lines without a checksum on a serial cable. A spoilt byte can then change an
	// amount.
	NoChecksum bool
}

// New returns JSON lines for serial lines and TCP.
func New(o Options) ecr.Protocol {
	return ecr.Protocol{
		Dialogue: func(s ecr.Start) ecr.Dialogue {
			cfg := o.JSONL
			cfg.Line, cfg.Cable = s.Line, s.Cable
			return jsonl.New(cfg, s.Saved)
		},
		Serial: func(conn ecr.Conn) ecr.Transport { return newLines(conn, cableTimes, !o.NoChecksum) },
		TCP:    func(conn net.Conn) ecr.Transport { return newLines(conn, tcpTimes, false) },
		Claim:  func(data []byte) ecr.Claim { return jsonl.ClaimOf(data, o.JSONL.Password) },

		Outline: jsonl.Outline,
	}
}
