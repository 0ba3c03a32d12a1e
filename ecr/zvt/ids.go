package zvt

import (
	"bytes"
	"slices"

	"posagent/ecr/zvt/apdu"
)

const maxID = 999999

// ids is the message sequence of a connection (TLV 1F73): one count for both sides.
type ids struct {
	last    int    // used last by either side, -1 = none
	command int    // of the register's last command, -1 = none
	data    []byte // that command
	reply   []byte // our answer to it
}

type freshness uint8

const (
	isNew       freshness = iota
	repeats               // the same message again
	contradicts           // the same id, another message
	restarts              // the count went back: ids will be used a second time
)

// idOf reads TLV 1F73.
func idOf(msg apdu.Message) (int, bool) {
	t, ok := msg.FindTLV(0x1F73)
	if !ok || len(t.Value) != 3 {
		return 0, false
	}
	n, err := apdu.UnpackBCD(t.Value)
	return int(n), err == nil
}

// see takes note of a command. id is -1 when it has none or none are in use.
func (s *ids) see(inUse bool, msg apdu.Message, data []byte) (id int, f freshness) {
	n, ok := idOf(msg)
	if !ok || !inUse || msg.Cmd == apdu.Registration {
		s.reply = nil
		return -1, isNew
	}
	switch {
	case n == s.command && bytes.Equal(s.data, data):
		return n, repeats
	case n == s.command:
		return n, contradicts
	case n < s.command:
		f = restarts
	}
	*s = ids{last: n, command: n, data: slices.Clone(data)}
	return n, f
}

// take gives the id of our next message, -1 when none are in use.
func (s *ids) take(inUse bool) int {
	if !inUse {
		return -1
	}
	s.last++
	if s.last > maxID {
		s.last = 1
	}
	return s.last
}

// stamp adds an id to a message's container. 06 D1 has no room for one.
func stamp(msg apdu.Message, id int) apdu.Message {
	if id < 0 || msg.Cmd == apdu.PrintLine {
		return msg
	}
	object := apdu.PrimitiveBCD(0x1F73, int64(id), 3)
	if msg.Cmd == apdu.Intermediate && len(msg.Prefix) == 1 {
		msg.Prefix = append(slices.Clone(msg.Prefix), progressMinute)
	}
	msg.Fields = slices.Clone(msg.Fields)
	for i, f := range msg.Fields {
		if f.BMP == 0x06 {
			msg.Fields[i].TLV = append(slices.Clone(f.TLV), object)
			return msg
		}
	}
	msg.Fields = append(msg.Fields, apdu.Container(object))
	return msg
}

// encode writes a message of ours. A field that does not fit is left out rather than the message.
func encode(msg apdu.Message) []byte {
	data, err := apdu.Encode(msg)
	if err == nil {
		return data
	}
	kept := msg
	kept.Fields = nil
	for _, f := range msg.Fields {
		if _, err := apdu.Encode(apdu.New(msg.Cmd, f)); err == nil {
			kept.Fields = append(kept.Fields, f)
		}
	}
	if data, err = apdu.Encode(kept); err != nil {
		return []byte{byte(msg.Cmd >> 8), byte(msg.Cmd), 0}
	}
	return data
}
