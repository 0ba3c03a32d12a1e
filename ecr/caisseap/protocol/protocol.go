package protocol

import (
	"net"

	"posagent/ecr"
	"posagent/ecr/caisseap"
)

// Options are how the terminal speaks Caisse-AP.
type Options struct {
	caisseap.Config
}

// New returns Caisse-AP for TCP.
func New(o Options) ecr.Protocol {
	return ecr.Protocol{
		Dialogue: func(s ecr.Start) ecr.Dialogue { return caisseap.New(o.Config, s.Line) },
		TCP:      func(conn net.Conn) ecr.Transport { return carry(conn, o.Config) },
		Outline:  caisseap.Outline,
	}
}
