package zvt

import (
	"encoding/json"

	"posagent/ecr/zvt/apdu"
)

// Bits of the config byte of a registration.
const (
	cfgPrintPayment = 0x02 // the register prints payment receipts
	cfgPrintAdmin   = 0x04 // the register prints administrative receipts
	cfgIntermediate = 0x08 // the register wants 04 FF
	cfgPayment      = 0x10 // the register controls payments: no amount is typed at the terminal
	cfgPrintLines   = 0x80 // receipts come as 06 D1 or 06 D3; otherwise the register builds them from 04 0F
	cfgDefault      = 0x86
)

// Bits of TLV 1F04.
const (
	rcpCustomerOK    = 0x80
	rcpCustomerFail  = 0x40
	rcpMerchantOK    = 0x20
	rcpMerchantFail  = 0x10
	rcpCustomerFirst = 0x08
)

// profile is what a register's registration says; it survives restarts.
type profile struct {
	Version    int    `json:"v"`
	Config     byte   `json:"config"`
	Currency   bool   `json:"currency"` // the register sent one
	Capitals   bool   `json:"capitals"` // service byte bit 1
	TLV        bool   `json:"tlv"`
	ListOnly   bool   `json:"list_only"`  // its container held a command list and nothing else
	Blocks     bool   `json:"blocks"`     // it listed 06 D3
	Charset    *uint8 `json:"charset"`    // TLV 14 it accepted; nil: the line's setting
	Width      int    `json:"width"`      // columns of its printer, 0 = not said
	MaxAPDU    int    `json:"max_apdu"`   // 0 = not said
	Receipts   *byte  `json:"receipts"`   // TLV 1F04
	Sequenced  bool   `json:"sequenced"`  // message sequence ids are in use
	Epoch      int    `json:"epoch"`      // counts registrations with sequence ids, in this journal
	Series     string `json:"series"`     // random, new with each such registration; "" = an older program's, which had Epoch alone
	Registered bool   `json:"registered"` // it sent a config byte
	Shown      bool   `json:"shown"`      // it was made with the password that the terminal asked for
}

const profileVersion = 1

func defaultProfile() profile { return profile{Version: profileVersion, Config: cfgDefault} }

// loadProfile reads what encode wrote; anything else is a register that has not registered yet.
func loadProfile(data []byte) profile {
	p := defaultProfile()
	if len(data) == 0 {
		return p
	}
	var q profile
	if err := json.Unmarshal(data, &q); err != nil || q.Version != profileVersion {
		return p
	}
	return q
}

func (p profile) encode() []byte {
	data, err := json.Marshal(p)
	if err != nil {
		return nil // cannot happen: plain data
	}
	return data
}

// charset is how text is written to the register.
func (p profile) charset(line apdu.Charset) apdu.Charset {
	if p.Charset != nil {
		if cs, ok := apdu.CharsetOfTag(*p.Charset); ok {
			return cs
		}
	}
	return line
}

// begun returns the profile with a new series of sequence ids. A register counts them itself and
// begins at 1 again, so only the series tells yesterday's number 1 from today's. It is random, because
// a count would go back with a journal that is restored or begun anew.
func (p profile) begun(series string) profile {
	p.Epoch++
	p.Series = series
	return p
}

// registered reads a registration. Every detail that does not make sense is left out (facts: be
// liberal). series draws a name where the register offers sequence ids.
func registered(m apdu.Message, old profile, series func() string) profile {
	p := defaultProfile()
	p.Epoch, p.Series = old.Epoch, old.Series
	if cfg, ok := m.Config(); ok {
		p.Config, p.Registered = cfg, true
	}
	_, p.Currency = m.Currency()
	if svc, ok := m.Byte(0x03); ok {
		p.Capitals = svc&0x02 != 0
	}
	objects, ok := m.TLV()
	if !ok {
		return p
	}
	p.TLV = true
	p.ListOnly = len(objects) > 0
	for _, t := range objects {
		p.ListOnly = p.ListOnly && (t.Tag == 0x26 || t.Tag == 0x1F73)
		switch t.Tag {
		case 0x26:
			for _, c := range t.Children {
				if c.Tag == 0x0A && len(c.Value) == 2 && c.Value[0] == 0x06 && c.Value[1] == 0xD3 {
					p.Blocks = true
				}
			}
		case 0x27:
			for _, c := range t.Children {
				if c.Tag != 0x14 || len(c.Value) != 1 || p.Charset != nil {
					continue
				}
				if _, ok := apdu.CharsetOfTag(c.Value[0]); ok {
					p.Charset = &c.Value[0]
				}
			}
		case 0x12:
			if n, err := apdu.UnpackBCD(t.Value); err == nil && len(t.Value) == 1 {
				p.Width = int(n)
			}
		case 0x1A:
			if len(t.Value) == 2 {
				p.MaxAPDU = int(t.Value[0])<<8 | int(t.Value[1])
			}
		case 0x1F04:
			if len(t.Value) > 0 {
				p.Receipts = &t.Value[0]
			}
		case 0x1F73:
			if len(t.Value) == 3 {
				p = p.begun(series())
				p.Sequenced = true
			}
		}
	}
	return p
}
