package main

import (
	"crypto/sha256"
	"encoding/hex"

	"posagent/agent"
	"posagent/agent/config"
	"posagent/agent/gateway"
	"posagent/agent/ready"
	"posagent/agent/view"
	"posagent/schemes/methods"
)

// aboutTerminal is what status says of a terminal that does not change while it runs; backend "" = embedded.
func aboutTerminal(cfg config.Config, sandbox bool) view.Status {
	v := view.Status{Version: version, Sandbox: sandbox, Terminal: cfg.Terminal.TerminalID, Serial: cfg.ECR.Serial, TCP: cfg.ECR.TCP, Sellers: len(cfg.Sellers()), Patience: cfg.ECR.Patience.String()}
	if !sandbox {
		v.Backend = cfg.Upstream.URL("schemes")
	}
	return v
}

// placeOf is where a person mends this terminal.
func placeOf(c *call) ready.Place {
	cfg, err := readConfig(c)
	if err != nil {
		return ready.Place{Config: configPath(c), Flags: c.flags(), Run: c.start()} // its own errors name their places
	}
	return placeIn(c, cfg)
}

// placeIn is placeOf on a configuration.
func placeIn(c *call, cfg config.Config) ready.Place {
	return ready.Place{Config: configPath(c), Flags: c.flags(), Run: c.start(), Origins: cfg.Origin()}
}

// owner names the backend and terminal that a journal belongs to.
func owner(cfg config.Config, sandbox bool) string {
	backend := cfg.Upstream.URL("schemes")
	if sandbox {
		backend = agent.Sandbox
	}
	return agent.Owner(backend, cfg.Terminal.MerchantID, cfg.Terminal.TerminalID)
}

// places are where the services stand that the terminal stores operations or ids for. A sandbox's are its own, at whatever port.
func places(cfg config.Config, sandbox bool) agent.Places {
	client := func(service string) string {
		id := cfg.Upstream.ClientOf(service)
		if id == "" {
			return ""
		}
		sum := sha256.Sum256([]byte(id))
		return hex.EncodeToString(sum[:4]) // enough to tell two apart
	}
	list := agent.Places{}
	for service, account := range map[string]string{
		gateway.Payments: client("payments"), gateway.Tokens: client("tokens"), gateway.Paylinks: cfg.Upstream.Proof("paylinks").Auth.Instance, "hosted": "",
	} {
		list[service] = agent.Place(cfg.Upstream.URL(service), account)
		if sandbox {
			list[service] = agent.Sandbox
		}
	}
	return list
}

// methodQuery is how the terminal asks for its methods.
func methodQuery(cfg config.Config) methods.Query {
	t := cfg.Terminal
	return methods.Query{BaxID: t.BaxID, TerminalID: t.TerminalID, Exclude: cfg.Methods.Exclude, Caller: cfg.Methods.Caller, Lang: t.Language}
}
