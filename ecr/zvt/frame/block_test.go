package frame

import (
	"bytes"
	"encoding/hex"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	require.NoError(t, err)
	return b
}

func TestChecksumParameters(t *testing.T) {
	require.Equal(t, uint16(0x2189), Checksum([]byte("123456789")), "the published check value of CRC-16/KERMIT")
	require.Equal(t, "10028000001003f51f", hex.EncodeToString(EncodeBlock([]byte{0x80, 0, 0})))
}

func TestEncodeDoublesDLEInTheDataOnly(t *testing.T) {
	data := unhex(t, "06010704000010101010")
	block := EncodeBlock(data)
	require.Equal(t, 2+len(data)+4+4, len(block), "four 10 in the data are doubled")
	back, err := DecodeBlock(block)
	require.NoError(t, err)
	require.Equal(t, data, back)
}

func TestDecodeBlockRefuses(t *testing.T) {
	good := EncodeBlock(unhex(t, "06010704000000001250"))
	_, err := DecodeBlock(good)
	require.NoError(t, err)
	wrongLen := EncodeBlock(unhex(t, "06010804000000001250"))
	xmodem := append(bytes.Clone(good[:len(good)-2]), 0x12, 0x34)
	for name, c := range map[string]struct {
		block []byte
		want  error
	}{
		"empty":               {nil, ErrStuffing},
		"no start":            {good[1:], ErrStuffing},
		"no end":              {good[:len(good)-4], ErrStuffing},
		"half a checksum":     {good[:len(good)-1], ErrStuffing},
		"too much":            {append(bytes.Clone(good), 0), ErrStuffing},
		"ends after 10":       {good[:len(good)-3], ErrStuffing},
		"single 10 in data":   {unhex(t, "1002061041001003f51f"), ErrStuffing},
		"another checksum":    {xmodem, ErrCRC},
		"length byte too big": {wrongLen, ErrLength},
		"empty data":          {EncodeBlock(nil), ErrLength},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := DecodeBlock(c.block)
			require.ErrorIs(t, err, c.want)
		})
	}
}

// genAPDU makes well-formed APDUs, rich in the bytes that matter to the framing.
func genAPDU() *rapid.Generator[[]byte] {
	return rapid.Custom(func(t *rapid.T) []byte {
		special := rapid.SampledFrom([]byte{dle, stx, etx, ACK, NAK, 0xFF, 0})
		body := rapid.SliceOfN(rapid.OneOf(special, rapid.Byte()), 0, 300).Draw(t, "body")
		cmd := []byte{rapid.SampledFrom([]byte{4, 5, 6, 0x80, 0x84, dle}).Draw(t, "class"), rapid.Byte().Draw(t, "instr")}
		if len(body) < 0xFF {
			return append(append(cmd, byte(len(body))), body...)
		}
		return append(append(cmd, 0xFF, byte(len(body)), byte(len(body)>>8)), body...)
	})
}

func feed(s *Scanner, b []byte, now time.Time) (blocks [][]byte, acks, naks, bad int) {
	for _, x := range b {
		switch ev := s.Feed(x, now); ev.Kind {
		case GotBlock:
			blocks = append(blocks, ev.Data)
		case GotAck:
			acks++
		case GotNak:
			naks++
		case GotBad:
			bad++
		}
	}
	return blocks, acks, naks, bad
}

var start = time.Unix(1000, 0)

func TestRoundTripAfterGarbage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := genAPDU().Draw(t, "apdu")
		block := EncodeBlock(data)
		back, err := DecodeBlock(block)
		require.NoError(t, err)
		require.Equal(t, data, back)

		s := NewScanner(200*time.Millisecond, MaxAPDU)
		garbage := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom([]byte{dle, stx, etx, ACK}), rapid.Byte()), 0, 60).Draw(t, "garbage")
		feed(s, garbage, start)
		// After T1 of silence the receiver must be in step, whatever came before.
		later := start.Add(200 * time.Millisecond)
		s.Idle(later)
		blocks, _, _, bad := feed(s, block, later)
		require.Equal(t, [][]byte{data}, blocks)
		require.Zero(t, bad)
	})
}

func TestScannerFindsTheNextStartWithoutAnyPause(t *testing.T) {
	good := EncodeBlock(unhex(t, "060000"))
	for name, before := range map[string]string{
		"noise":              "0041424300ff",
		"half a block":       "1002060107040000",
		"start twice":        "1002",
		"bad escape":         "10020601104100000015060600",
		"noise with a 10":    "4110",
		"a whole bad block":  "10028000001003" + "1234",
		"cut before the CRC": "10028000001003f5",
	} {
		t.Run(name, func(t *testing.T) {
			s := NewScanner(200*time.Millisecond, MaxAPDU)
			stream := append(unhex(t, before), good...)
			blocks, acks, naks, _ := feed(s, stream, start)
			if name == "cut before the CRC" { // the start is read as checksum; the block after it is in step again
				require.Empty(t, blocks)
				blocks, _, _, _ = feed(s, good, start)
			}
			require.Equal(t, [][]byte{{6, 0, 0}}, blocks)
			require.Zero(t, acks, "text of a broken block is no acknowledgement")
			require.Zero(t, naks)
		})
	}
}

func TestScannerPause(t *testing.T) {
	block := EncodeBlock(unhex(t, "060000"))
	s := NewScanner(200*time.Millisecond, MaxAPDU)
	now := start
	for i, b := range block { // one byte every 199 ms is in time
		ev := s.Feed(b, now)
		require.Equal(t, i == len(block)-1, ev.Kind == GotBlock)
		require.Equal(t, i < len(block)-1 && i >= 1, s.Busy())
		require.Equal(t, None, s.Idle(now.Add(199*time.Millisecond)).Kind)
		now = now.Add(199 * time.Millisecond)
	}
	feed(s, block[:5], now)
	ev := s.Idle(now.Add(200 * time.Millisecond))
	require.Equal(t, GotBad, ev.Kind)
	require.ErrorIs(t, ev.Err, ErrPause)
	require.False(t, s.Busy())
}

func TestScannerBoundsMemory(t *testing.T) {
	s := NewScanner(200*time.Millisecond, 100)
	feed(s, unhex(t, "1002"), start)
	for range 1_000_000 {
		s.Feed('A', start)
	}
	require.LessOrEqual(t, cap(s.data), 256)
	ev := s.Idle(start.Add(time.Second))
	require.ErrorIs(t, ev.Err, ErrTooLong)
	blocks, _, _, _ := feed(s, EncodeBlock(unhex(t, "060000")), start.Add(time.Second))
	require.Len(t, blocks, 1)
}

// TestNoFlippedBitIsDelivered flips every bit of a block, and every pair of bits of a short one.
func TestNoFlippedBitIsDelivered(t *testing.T) {
	data := unhex(t, "06010a04000000010010490978")
	block := EncodeBlock(data)
	tryOne := func(mutant []byte) {
		s := NewScanner(200*time.Millisecond, MaxAPDU)
		blocks, _, _, _ := feed(s, mutant, start)
		for _, b := range blocks {
			require.Equal(t, data, b, "%x", mutant)
		}
		if got, err := DecodeBlock(mutant); err == nil {
			require.Equal(t, data, got)
		}
	}
	n := len(block) * 8
	for i := range n {
		mutant := bytes.Clone(block)
		mutant[i/8] ^= 1 << (i % 8)
		tryOne(mutant)
		for j := i + 1; j < n; j++ {
			mutant[j/8] ^= 1 << (j % 8)
			tryOne(mutant)
			mutant[j/8] ^= 1 << (j % 8)
		}
	}
}

func FuzzScanner(f *testing.F) {
	f.Add(EncodeBlock([]byte{0x80, 0, 0}), uint8(0))
	f.Add([]byte{dle, stx, dle, dle, dle, etx, 6, 6, 0x15}, uint8(3))
	f.Add(append(EncodeBlock([]byte{6, 1, 0}), EncodeBlock([]byte{4, 0xFF, 1, 0x0E})...), uint8(7))
	f.Fuzz(func(t *testing.T, stream []byte, pause uint8) {
		s := NewScanner(200*time.Millisecond, 1000)
		now := start
		for i, b := range stream {
			if pause > 0 && i%int(pause) == 0 {
				now = now.Add(150 * time.Millisecond)
			}
			if ev := s.Feed(b, now); ev.Kind == GotBlock {
				back, err := DecodeBlock(EncodeBlock(ev.Data))
				require.NoError(t, err)
				require.Equal(t, ev.Data, back)
			}
			require.LessOrEqual(t, len(s.data), 1000)
		}
		now = now.Add(time.Second)
		s.Idle(now)
		require.False(t, s.Busy())
		if got, err := DecodeBlock(stream); err == nil {
			require.Equal(t, stream, EncodeBlock(got))
		}
	})
}
