package protocol

import (
	"net"

	"posagent/ecr"
	"posagent/ecr/ecr17"
)

// Options are how the terminal speaks ECR17.
type Options struct {
	ecr17.Config
	Scope ecr17.Scope // of check bytes, as the line's registers make them
	// Foreign is called with the scopes that a damaged message would be right in, where there are
	// any: the line is set to another one. It must not block. nil = nothing.
	Foreign func(scopes string)
}

// New returns ECR17 for serial lines and TCP.
func New(o Options) ecr.Protocol {
	return ecr.Protocol{
		Dialogue: func(s ecr.Start) ecr.Dialogue { return ecr17.New(o.Config, s.Line, s.Cable, s.Saved) },
		Serial:   func(conn ecr.Conn) ecr.Transport { return newWire(conn, o, true) },
		TCP:      func(conn net.Conn) ecr.Transport { return newWire(conn, o, false) },
		Outline:  ecr17.Outline,
	}
}
