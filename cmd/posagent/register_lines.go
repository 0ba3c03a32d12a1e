package main

import (
	"context"
	"net"

	"posagent/agent"
	"posagent/agent/config"
	"posagent/agent/ready"
	"posagent/device/line"
	"posagent/store"
)

// registerLine is a line of the terminal, and where a person finds it.
type registerLine struct {
	agent.Line
	at string // "tcp:ADDRESS", or the serial device
}

// registerLines opens the lines of the configuration. Serial ones are opened when the terminal runs:
// the journal is open by then. db knows the ids of the lines; f learns of the first of each kind.
func registerLines(ctx context.Context, cfg config.Config, db store.DB, beside store.Beside, b box, f *facts) (list []registerLine, err error) {
	defer func() {
		if err != nil {
			closeLines(list)
			list = nil
		}
	}()
	var lc net.ListenConfig
	var known []agent.Known
	for _, e := range cfg.Registers() {
		speaks, err := protocols[e.Protocol](cfg, e, b)
		if err != nil {
			return list, err
		}
		l := agent.Line{Protocol: speaks, Patience: e.Patience, Grace: e.Grace, Keep: e.Keeps(), RefundLast: e.RefundLast}
		if e.Protocol == "nexo" {
			l.MaxConns = nexoConns
		}
		if e.Serial != "" {
			serial := line.New(line.Config{Path: e.Serial, Baud: e.Baud, StopBits: e.StopBits})
			f.serial = append(f.serial, serial)
			l.Label, l.Serial = e.LineName("serial"), serial
			list = append(list, registerLine{l, e.Serial})
			known = append(known, agent.Known{Speaks: e.Protocol, Name: l.Label, Base: e.Name, Place: e.Serial})
		}
		if e.TCP != "" {
			l.Label, l.Serial = e.LineName("tcp"), nil
			if l.Allow, err = e.Allowed(); err != nil {
				return list, exitWith(exitConfig, err)
			}
			if l.TCP, err = lc.Listen(ctx, "tcp", e.TCP); err != nil {
				return list, fail(exitFailed, "register line: %v (set [ecr] tcp)", err)
			}
			address := l.TCP.Addr().String()
			f.listens = append(f.listens, hears{address, ready.LineAddress})
			if f.tcp++; f.tcp == 1 {
				f.names.TCP = address
			}
			list = append(list, registerLine{l, "tcp:" + address})
			known = append(known, agent.Known{Speaks: e.Protocol, Name: l.Label, Base: e.Name, Place: "tcp:" + address})
		}
	}
	if err := agent.Identify(ctx, db, beside, agent.AsLine, known); err != nil {
		return list, storeError(err)
	}
	for i := range list {
		list[i].Name = known[i].ID
	}
	return list, nil
}

func closeLines(list []registerLine) {
	for _, l := range list {
		if l.TCP != nil {
			_ = l.TCP.Close()
		}
	}
}
