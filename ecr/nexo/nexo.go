package nexo

import (
	"cmp"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"time"

	"posagent/ecr"
	"posagent/schemes/money"
)

// Options are how the terminal speaks nexo.
type Options struct {
	POIID        string // MODEL-SERIAL; a request for another terminal is refused. "" = any
	Version      string // ProtocolVersion: "" = 3.0; 3.1 and 5.1 are spoken by some tills
	TerminalID   string
	MerchantID   string
	MerchantName string
	Currency     string // ISO 4217 alpha
	Language     string // of receipts
	Software     string // version of the program

	Keys []Key       // none = messages in clear
	TLS  *tls.Config // nil = plain HTTP, for tests

	// KeepAlive sends blanks while a payment runs, to tills that follow them (Node.js): the terminal
	// then has 110 s instead of 55 s.
	KeepAlive bool
	// Brand gives the wallet's name as the card brand too.
	Brand bool
	// Patience overrides how long a till waits; 0 = 55 s, or 110 s with KeepAlive.
	Patience time.Duration
}

// shared is what the connections of a terminal have in common.
type shared struct {
	Options
	currency money.Currency
	keys     []*derived

	mu    sync.Mutex
	lines map[string]*line
}

// New returns the protocol. It fails where an option is wrong.
func New(o Options) (ecr.Protocol, error) {
	o.Version = cmp.Or(o.Version, "3.0")
	if o.Patience == 0 {
		o.Patience = 55 * time.Second
		if o.KeepAlive {
			o.Patience = 110 * time.Second
		}
	}
	s := &shared{Options: o, lines: map[string]*line{}}
	s.Keys = nil // the passphrases are not needed any more
	switch o.Version {
	case "3.0", "3.1", "5.1":
	default:
		return ecr.Protocol{}, fmt.Errorf("nexo: version %q: 3.0, 3.1 or 5.1", o.Version)
	}
	var ok bool
	if s.currency, ok = money.Lookup(o.Currency); !ok || !s.currency.Payable() || s.currency.Exponent > decimals {
		return ecr.Protocol{}, fmt.Errorf("nexo: currency %q cannot be paid with", o.Currency)
	}
	for _, k := range o.Keys {
		key, err := derive(k)
		if err != nil {
			return ecr.Protocol{}, fmt.Errorf("nexo: %w", err)
		}
		s.keys = append(s.keys, key)
	}
	return ecr.Protocol{
		Dialogue: func(start ecr.Start) ecr.Dialogue { return newDialogue(s, start) },
		TCP:      func(conn net.Conn) ecr.Transport { return serve(conn, s) },
		Claim:    claim,
		Outline:  outline,
	}, nil
}

// claim tells a wrong key from everything else, so that a session counts it and slows its address
// down. A right one is never held back: a second till of that address may have it.
func claim(data []byte) ecr.Claim {
	return ecr.Claim{Password: len(data) > 0 && data[0] == kindStranger}
}

// outline names a message without its content. Of a wrong key it says which one was named, so that
// a person can compare it with the terminal's.
func outline(data []byte) string {
	switch {
	case len(data) > stampSize && data[0] == kindStranger:
		return fmt.Sprintf("not encrypted under a key of this terminal: %.80q", data[stampSize:])
	case len(data) > stampSize && data[0] == kindMessage:
		if message, err := parse(data[stampSize:]); err == nil {
			if h, err := headerOf(objectAt(message, "SaleToPOIRequest")); err == nil {
				return h.category + "Request"
			}
		}
		return "no request"
	case len(data) >= len(accepted):
		return "status " + string(data[:len(accepted)])
	}
	return ""
}

// named is what a message that cannot be opened says of itself: its ServiceID and its key.
func named(envelope object) []byte {
	request := objectAt(envelope, "SaleToPOIRequest")
	service := textAt(request, "MessageHeader", "ServiceID")
	if len(service) > maxService {
		service = ""
	}
	key := textAt(request, "SecurityTrailer", "KeyIdentifier")
	version, _ := valueAt(request, "SecurityTrailer", "KeyVersion").(json.Number)
	return ascii([]any{service, key[:min(len(key), maxName)], version[:min(len(version), maxName)].String()})
}

// stamped takes a message apart: its kind, when it came, and its text.
func stamped(data []byte) (kind byte, atMS int64, text []byte) {
	if len(data) < stampSize {
		return 0, 0, nil
	}
	return data[0], int64(binary.BigEndian.Uint64(data[1:stampSize])), data[stampSize:]
}
