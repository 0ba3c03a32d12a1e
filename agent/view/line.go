package view

import (
	"fmt"
	"time"
)

// RegisterLine is what a register line has counted since the start.
type RegisterLine struct {
	Name           string    `json:"name"` // serial, tcp
	Open           bool      `json:"open"`
	Connections    int       `json:"connections"`
	LastContact    time.Time `json:"lastContact,omitzero"` // when a register's message came last
	Carrier        string    `json:"carrier,omitempty"`    // up, lost; "" where the cable does not show it
	Received       uint64    `json:"framesReceived"`
	Sent           uint64    `json:"framesSent"`
	Unsent         uint64    `json:"framesNotAcknowledged"`
	Repeated       uint64    `json:"framesRepeated"` // by us
	Naks           uint64    `json:"naks"`
	Bad            uint64    `json:"badFrames"` // checksum, length or a pause inside
	Noise          uint64    `json:"noiseBytes"`
	WrongPasswords uint64    `json:"wrongPasswords"`
	WrongFrom      string    `json:"wrongFrom,omitempty"` // where the last one came from
	WrongAt        time.Time `json:"wrongAt,omitzero"`
	Turned         uint64    `json:"turnedAway"`     // connections from addresses that are not allowed
	Strange        uint64    `json:"otherProtocols"` // connections that spoke another protocol
}

// String is the line in one sentence.
func (l RegisterLine) String() string {
	state := "open"
	if !l.Open {
		state = "not open"
	}
	if l.Carrier == "lost" {
		state += ", no register at the other end"
	}
	contact := "no register heard yet"
	if !l.LastContact.IsZero() {
		contact = "heard " + l.LastContact.Local().Format("15:04:05")
	}
	text := fmt.Sprintf("%s %s, %s, %d in, %d out", l.Name, state, contact, l.Received, l.Sent)
	for _, x := range []struct {
		n    uint64
		what string
	}{{l.Unsent, "not acknowledged"}, {l.Naks, "NAK"}, {l.Bad, "bad"}, {l.Noise, "noise bytes"}, {l.Strange, "of another protocol"}, {l.Turned, "turned away"}} {
		if x.n > 0 {
			text += fmt.Sprintf(", %d %s", x.n, x.what)
		}
	}
	return text
}

// Deaf says that bytes come and no message is among them: another speed, another framing, or a bad
// cable.
func (l RegisterLine) Deaf() bool { return l.Received == 0 && l.Bad+l.Noise/16 > 0 }
