package apdu

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	require.NoError(t, err)
	return b
}

func decode(t testing.TB, s string) Message {
	t.Helper()
	m, err := Decode(unhex(t, s))
	require.NoError(t, err, s)
	return m
}

func TestPositionalBytes(t *testing.T) {
	for name, c := range map[string]struct {
		in, prefix string
		fields     []byte
	}{
		"registration, all":              {"0600 0c 000000 be 0978 03 01 06 02 4000", "000000be0978", []byte{3, 6}},
		"registration, no currency":      {"0600 04 000000 be", "000000be", nil},
		"registration, container only":   {"0600 06 000000 be 06 00", "000000be", []byte{6}},
		"registration, 06xx currency":    {"0600 06 000000 be 06 43", "000000be0643", nil},
		"registration, 03xx currency":    {"0600 06 000000 be 03 92", "000000be0392", nil},
		"registration, service only":     {"0600 06 000000 be 03 02", "000000be", []byte{3}},
		"registration, empty":            {"0600 00", "", nil},
		"sale":                           {"0601 0a 04 000000001000 49 0978", "", []byte{4, 0x49}},
		"reversal":                       {"0630 06 123456 87 0001", "123456", []byte{0x87}},
		"reversal, no password":          {"0630 03 87 0001", "", []byte{0x87}},
		"reversal, no password, amount":  {"0630 0a 87 0001 04 000000001000", "", []byte{0x87, 4}},
		"refund, no password":            {"0631 07 04 000000001000", "", []byte{4}},
		"end of day, no password":        {"0650 00", "", nil},
		"status enquiry, service":        {"0501 05 123456 03 02", "123456", []byte{3}},
		"status enquiry, service only":   {"0501 02 03 02", "", []byte{3}},
		"reprint, one":                   {"0612 05 123456 0007", "1234560007", nil},
		"reprint, range":                 {"0612 07 123456 0007 0009", "12345600070009", nil},
		"reprint, one, container":        {"0612 07 123456 0007 06 00", "1234560007", []byte{6}},
		"intermediate":                   {"04ff 01 0e", "0e", nil},
		"intermediate, timeout":          {"04ff 02 0e 06", "0e06", nil},
		"intermediate, timeout and text": {"04ff 08 0e 01 06 04 24 02 0700", "0e01", []byte{6}},
		"completion":                     {"060f 02 19 10", "", []byte{0x19}},
		"completion, status":             {"060f 01 dc", "dc", nil},
		"completion, status 06":          {"060f 03 06 06 00", "06", []byte{6}},
		"completion, container":          {"060f 02 06 00", "", []byte{6}},
		"completion, empty version":      {"060f 04 f0f0f0 00", "f0f0f000", nil},
		"abort":                          {"061e 03 6c 06 00", "6c", []byte{6}},
		"change baud":                    {"0840 01 07", "07", nil},
		"wrong currency":                 {"841e 01 6f", "6f", nil},
		"wrong currency, with it":        {"841e 03 6f 0978", "6f0978", nil},
		"log-off":                        {"0602 00", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := decode(t, c.in)
			require.Equal(t, c.prefix, hex.EncodeToString(m.Prefix))
			var got []byte
			for _, f := range m.Fields {
				got = append(got, f.BMP)
			}
			require.Equal(t, c.fields, got)
			require.Nil(t, m.Raw)
		})
	}
}

func TestErrorsSayWhere(t *testing.T) {
	for in, want := range map[string]SyntaxError{
		"":                               {0, "LEN", ErrTruncated},
		"0601 ff 01":                     {4, "LEN", ErrTruncated},
		"0601 01":                        {3, "LEN", ErrTruncated},
		"0602 00 00":                     {3, "LEN", ErrTrailing},
		"0601 03 04 0000":                {6, "04", ErrTruncated},
		"040f 03 8b f0fa":                {4, "8B", ErrDigits},
		"040f 02 8b f0":                  {4, "8B", ErrTruncated},
		"040f 04 3c f0f0 01":             {4, "3C", ErrDigits},
		"040f 04 8b f0f5 41":             {7, "8B", ErrTruncated},
		"040f 01 06":                     {4, "06", ErrTruncated},
		"040f 02 06 83":                  {4, "06", ErrLength},
		"040f 04 06 04 0702":             {7, "06", ErrTruncated},
		"040f 08 06 06 24 04 07 03 4142": {11, "06/24/07", ErrTruncated},
		"040f 06 06 04 24 02 07 01":      {9, "06/24/07", ErrTruncated},
		"040f 03 06 01 1f":               {5, "06", ErrTruncated},
		"040f 07 06 05 1f8080 8001":      {5, "06", ErrTag},
		"040f 04 06 02 24 80":            {6, "06/24", ErrLength},
		"8000 02 06 05":                  {5, "06", ErrTruncated},
		"04ff 08 0e 06 06 2404 0702 41":  {11, "06", ErrTruncated},
	} {
		t.Run(in, func(t *testing.T) {
			_, err := Decode(unhex(t, in))
			var got *SyntaxError
			require.ErrorAs(t, err, &got)
			require.Equal(t, want, *got)
			require.ErrorIs(t, err, want.Err)
		})
	}
}

func TestUnknownBMP(t *testing.T) {
	m, err := Decode(unhex(t, "0601 09 04 000000001000 77 00"))
	var unknown *UnknownBMPError
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, UnknownBMPError{BMP: 0x77, Offset: 10}, *unknown)
	_, err = Decode(unhex(t, "04ff 08 0e 06 05 24 03 07 01 41"))
	require.ErrorAs(t, err, &unknown, "a container without the timeout before it is not taken for other fields")
	require.Equal(t, Authorisation, m.Cmd, "the command is told, so that it can be refused")
	require.Equal(t, []byte{1, 2, 3}, decode(t, "ffaa 03 010203").Raw)
	require.Equal(t, []byte("42"), decode(t, "8000 02 3432").Raw, "digits of 06 E2")
}

func TestNestingIsBounded(t *testing.T) {
	body := []byte{0x07, 0}
	for range 200 {
		tag := append([]byte{0x24}, func() []byte {
			b, err := appendLen(nil, len(body), 0)
			require.NoError(t, err)
			return b
		}()...)
		body = append(tag, body...)
	}
	data, err := Encode(Message{Cmd: StatusInfo, Fields: []Field{{BMP: 6, TLV: []TLV{}}}})
	require.NoError(t, err)
	require.Equal(t, "040f020600", hex.EncodeToString(data))
	l, err := appendLen([]byte{6}, len(body), 0)
	require.NoError(t, err)
	body = append(l, body...)
	_, err = Decode(append([]byte{4, 0x0F, 0xFF, byte(len(body)), byte(len(body) >> 8)}, body...))
	require.ErrorIs(t, err, ErrDepth)
}

func TestLengthForms(t *testing.T) {
	for _, n := range []int{0, 1, 0xFE, 0xFF, 0x100, 0x28E, MaxData} {
		m := Message{Cmd: PrintLine, Raw: make([]byte, n)}
		data, err := Encode(m)
		require.NoError(t, err)
		if n < 0xFF {
			require.Equal(t, n+3, len(data))
		} else {
			require.Equal(t, []byte{0xFF, byte(n), byte(n >> 8)}, data[2:5], "little endian")
		}
		one, rest, missing := Next(append(bytes.Clone(data), 6, 1))
		require.Zero(t, missing)
		require.Equal(t, data, one)
		require.Equal(t, []byte{6, 1}, rest)
		for cut := range min(len(data), 10) {
			one, rest, missing := Next(data[:cut])
			require.Positive(t, missing)
			require.LessOrEqual(t, missing, len(data)-cut, "never asks for more than there is to come")
			require.Nil(t, one)
			require.Len(t, rest, cut)
		}
	}
	_, err := Encode(Message{Cmd: PrintLine, Raw: make([]byte, MaxData+1)})
	require.ErrorIs(t, err, ErrLength)
}

func TestEncodeRefusesWhatDoesNotFit(t *testing.T) {
	for name, m := range map[string]Message{
		"amount too large":       New(Authorisation, Amount(1e12)),
		"amount negative":        New(Authorisation, Amount(-1)),
		"receipt too large":      New(Reversal, Receipt(10000)),
		"fixed too short":        New(StatusInfo, Bytes(0x0B, 1)),
		"llvar too long":         New(StatusInfo, Bytes(0x8B, make([]byte, 100)...)),
		"lllvar too long":        New(StatusInfo, Bytes(0x3C, make([]byte, 1000)...)),
		"value in container":     New(StatusInfo, Bytes(0x06, 1)),
		"broken tag":             New(StatusInfo, Container(Primitive(0x1F84, 1))),
		"two tags in one":        New(StatusInfo, Container(Primitive(0x0701, 1))),
		"value of a constructed": New(StatusInfo, Container(Primitive(0x24, 1))),
		"children of a plain":    New(StatusInfo, Container(Constructed(0x07, Primitive(0x07)))),
		"raw and fields":         {Cmd: StatusInfo, Raw: []byte{1}, Fields: []Field{Amount(1)}},
		"totals too large":       New(StatusInfo, Totals{Groups: [7]TotalsGroup{{1, 1e12}}}.Field()),
	} {
		t.Run(name, func(t *testing.T) {
			prefix := []byte{1, 2}
			out, err := Append(prefix, m)
			var syntax *SyntaxError
			require.ErrorAs(t, err, &syntax)
			require.Equal(t, prefix, out)
		})
	}
	_, err := Encode(New(StatusInfo, Bytes(0x77, 1)))
	require.True(t, errors.As(err, new(*UnknownBMPError)))
}

func TestGetters(t *testing.T) {
	m := decode(t, "040f 41 2700 04000000004711 0b000123 370000 09 0c142530 0d1121 1960 2990000001 490978 870815 8a7d 88000009 "+
		"8bf0f65457494e5400 060b 41020118 24050703 616263")
	amount, present, err := m.Amount()
	require.NoError(t, err)
	require.True(t, present)
	require.Equal(t, int64(47_11), amount)
	number := func(f func() (int, bool)) int {
		n, ok := f()
		require.True(t, ok)
		return n
	}
	require.Equal(t, 123, number(m.Trace))
	require.Equal(t, 9, number(m.OriginalTrace))
	require.Equal(t, 978, number(m.Currency))
	require.Equal(t, 815, number(m.Receipt))
	require.Equal(t, 9, number(m.Turnover))
	require.Equal(t, 0x7D, number(m.CardType))
	h, mi, s, ok := m.Time()
	require.Equal(t, []int{14, 25, 30}, []int{h, mi, s})
	require.True(t, ok)
	y, mo, d, ok := m.Date()
	require.Equal(t, []int{-1, 11, 21}, []int{y, mo, d})
	require.True(t, ok)
	id, ok := m.TerminalID()
	require.True(t, ok)
	require.Equal(t, "90000001", id)
	name, ok := m.Text(0x8B, CP437)
	require.True(t, ok)
	require.Equal(t, "TWINT", name)
	text, ok := m.FindTLV(0x24, 0x07)
	require.True(t, ok)
	require.Equal(t, "abc", string(text.Value))
	_, ok = m.FindTLV(0x24, 0x08)
	require.False(t, ok)
	_, ok = m.FindTLV()
	require.False(t, ok)

	// A digit A-F in an amount is an error, not another amount.
	_, present, err = decode(t, "0601 07 04 00000000100a").Amount()
	require.True(t, present)
	require.ErrorIs(t, err, ErrBCD)
	_, present, err = decode(t, "0601 00").Amount()
	require.False(t, present)
	require.NoError(t, err)
	_, ok = decode(t, "061e 04 b8 87ffff").Receipt()
	require.False(t, ok)
	_, _, _, ok = decode(t, "040f 04 0c 246000").Time()
	require.False(t, ok)
	big := New(StatusInfo, Trace(0), Container(PrimitiveBCD(0x1F2B, 12345678, 4), Primitive(0x41, 1, 4)))
	require.Equal(t, 12345678, number(big.Trace))
	require.Equal(t, 260, number(big.CardType))
	_, ok = New(StatusInfo, Bytes(0x8A, 0xFF)).CardType()
	require.False(t, ok)
	from, to, ok := decode(t, "0612 07 123456 0007 0009").ReceiptRange()
	require.Equal(t, []int{7, 9}, []int{from, to})
	require.True(t, ok)
	version, status, ok := decode(t, "060f 07 f0f0f3 312e30 51").TerminalStatus(CP437)
	require.Equal(t, "1.0", version)
	require.Equal(t, byte(0x51), status)
	require.True(t, ok)
	_, status, ok = decode(t, "060f 02 19 04").TerminalStatus(CP437)
	require.Equal(t, byte(4), status)
	require.True(t, ok)
	attr, line, ok := decode(t, "06d1 0a 00 456e6465 0603 070141").Line()
	require.True(t, ok)
	require.Equal(t, byte(0), attr)
	require.Equal(t, "Ende", string(line))
	pw, ok := decode(t, "0650 03 012345").Password()
	require.True(t, ok)
	require.Equal(t, "012345", pw)
}

func TestTotals(t *testing.T) {
	in := Totals{From: 1, To: 42, Groups: [7]TotalsGroup{0: {2, 1000}, 6: {7, 123_45}}}
	f := in.Field()
	require.Len(t, f.Value, 53)
	out, ok := ParseTotals(f.Value)
	require.True(t, ok)
	require.Equal(t, in, out)
	require.Equal(t, "receipts 0001-0042: girocard 2 x, 1000; rest 7 x, 12345", out.String())
	_, ok = ParseTotals(f.Value[:52])
	require.False(t, ok)
}

func TestDescribeMasksCards(t *testing.T) {
	for in, want := range map[string]string{
		"5354567890123456":     "535456******3456",
		"535456eeeeee3456":     "535456******3456",
		"5354567890123456789f": "535456*********6789",
		"1234567890":           "**********",
		"eeeeeeeeeeee3456":     "************3456",
	} {
		require.Equal(t, want, MaskPAN(unhex(t, in)))
	}
	msg := New(StatusInfo,
		Bytes(0x22, unhex(t, "5354567890123456")...),
		Bytes(0x23, unhex(t, "5354567890123456d2512201")...),
		Bytes(0x24, []byte("5354567890123456")...),
		Bytes(0x2D, []byte("B5354567890123456^X")...),
		Container(Primitive(0x5A, unhex(t, "5354567890123456")...)))
	tree, err := json.Marshal(Describe(msg, CP437))
	require.NoError(t, err)
	require.NotContains(t, string(tree), "7890")
	require.NotContains(t, string(tree), "37383930")
	require.Contains(t, string(tree), "535456******3456")
}

func TestDescribe(t *testing.T) {
	tree, err := json.Marshal(Describe(decode(t, "04ff 0b ff 03 06 07 24 05 07 03 8481ff"), CP437))
	require.NoError(t, err)
	require.JSONEq(t, `{"command":"04 FF","name":"intermediate-status","length":11,"status":"FF","meaning":"see text","minutes":3,
		"fields":[{"bmp":"06","name":"tlv","objects":[{"tag":"24","name":"display-texts","objects":[
		{"tag":"07","name":"text-line","value":"äü\u00a0"}]}]}]}`, string(tree))
	d := Describe(decode(t, "0600 06 123456 be 0978"), CP437)
	require.Equal(t, "123456", d.Password)
	require.Equal(t, "BE", d.Config)
	require.Equal(t, "0978", d.Currency)
	d = Describe(decode(t, "841e 01 6f"), CP437)
	require.Equal(t, "1E", d.Result)
	require.Equal(t, "6F", d.Prefix)
	d = Describe(decode(t, "06d1 03 40 1b5b"), CP437)
	require.Equal(t, ".[", d.Text, "no escape reaches the terminal of whoever looks")
}

// genMessage makes messages by hand, as the terminal and the register do.
func genMessage() *rapid.Generator[Message] {
	var object func(depth int) *rapid.Generator[TLV]
	object = func(depth int) *rapid.Generator[TLV] {
		return rapid.Custom(func(t *rapid.T) TLV {
			if depth < 4 && rapid.Bool().Draw(t, "constructed") {
				tag := rapid.SampledFrom([]uint32{0x24, 0x25, 0x26, 0x2F, 0x60, 0xE3, 0xFF01}).Draw(t, "tag")
				return Constructed(tag, rapid.SliceOfN(object(depth+1), 0, 3).Draw(t, "children")...)
			}
			tag := rapid.SampledFrom([]uint32{0x07, 0x09, 0x41, 0x1F04, 0x1F8006, 0xDF01}).Draw(t, "tag")
			return Primitive(tag, rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "value")...)
		})
	}
	return rapid.Custom(func(t *rapid.T) Message {
		m := Message{Cmd: StatusInfo}
		for range rapid.IntRange(0, 12).Draw(t, "fields") {
			bmp := rapid.Byte().Filter(func(b byte) bool { _, ok := Lookup(b); return ok }).Draw(t, "bmp")
			spec, _ := Lookup(bmp)
			switch spec.Format {
			case BER:
				m.Fields = append(m.Fields, Container(rapid.SliceOfN(object(0), 0, 4).Draw(t, "objects")...))
			case Fixed:
				m.Fields = append(m.Fields, Bytes(bmp, rapid.SliceOfN(rapid.Byte(), spec.Len, spec.Len).Draw(t, "value")...))
			default:
				m.Fields = append(m.Fields, Bytes(bmp, rapid.SliceOfN(rapid.Byte(), 0, 99).Draw(t, "value")...))
			}
		}
		return m
	})
}

func TestMessagesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := genMessage().Draw(t, "message")
		data, err := Encode(m)
		require.NoError(t, err)
		back, err := Decode(data)
		require.NoError(t, err)
		require.Equal(t, m, back)
	})
}

func TestNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 999_999_999_999).Draw(t, "n")
		b, err := PackBCD(n, 6)
		require.NoError(t, err)
		back, err := UnpackBCD(b)
		require.NoError(t, err)
		require.Equal(t, n, back)
	})
	_, err := UnpackBCD(make([]byte, 10))
	require.ErrorIs(t, err, ErrValue)
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		"06000a123456be097803010600", "060600", "8000020600", "040f0427000600", "06d1ff01000041", "061e036c0600",
		"040f0a0608258105240381000700", "060f05f0f0f00006", "841e016f", "04ff080e01060424020700", "06300887012306000600",
	} {
		f.Add(unhex(f, s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Decode(data)
		if err != nil {
			require.True(t, errors.As(err, new(*SyntaxError)) || errors.As(err, new(*UnknownBMPError)), "%T", err)
			return
		}
		again, err := Encode(m)
		require.NoError(t, err)
		require.Equal(t, data, again)
		_, err = json.Marshal(Describe(m, CP437))
		require.NoError(t, err)
		m.Line()
		m.Date()
		m.CardType()
		m.TerminalStatus(Latin1)
		m.IntermediateStatus()
		m.ReceiptRange()
	})
}
