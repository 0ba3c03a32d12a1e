package apdu_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr/zvt/apdu"
	"posagent/ecr/zvt/frame"
)

// vector is one line of a vectors file.
type vector struct {
	Source    string `json:"source"`
	Direction string `json:"direction"` // ecr or pt
	Hex       string `json:"hex"`
	Meaning   string `json:"meaning"`
	Framing   string `json:"framing"` // serial or apdu
	Check     string `json:"check"`   // begins with "invalid" if the vector must be refused
}

// TestVectors runs the vectors of the file named by VECTORS, or our own where it is not set: framing, lengths, the
// command and the values its meaning names, and the same bytes when encoded again.
func TestVectors(t *testing.T) {
	path := os.Getenv("VECTORS")
	if path == "" {
		path = "testdata/vectors.jsonl"
	}
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	var good, refused, values, n int
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		n++
		var v vector
		require.NoError(t, json.Unmarshal(lines.Bytes(), &v), "line %d", n)
		t.Run(fmt.Sprintf("%03d", n), func(t *testing.T) {
			t.Log(v.Meaning)
			if strings.HasPrefix(v.Check, "invalid") || strings.Contains(v.Meaning, "parse error") {
				_, _, err := open(t, v)
				require.Error(t, err)
				t.Log("refused:", err)
				refused++
				return
			}
			m, data, err := open(t, v)
			require.NoError(t, err)
			again, err := apdu.Encode(m)
			require.NoError(t, err)
			require.Equal(t, hex.EncodeToString(data), hex.EncodeToString(again))
			if v.Framing == "serial" {
				require.Equal(t, v.Hex, hex.EncodeToString(frame.EncodeBlock(again)))
			}
			k := checkMeaning(t, m, v.Meaning)
			require.Positive(t, k, "nothing in the meaning could be checked")
			values += k
			good++
		})
	}
	require.NoError(t, lines.Err())
	require.Positive(t, good)
	require.Positive(t, refused)
	fmt.Printf("vectors: %s: %d in all, %d decoded and encoded again, %d refused as they must be, %d values checked\n",
		path, n, good, refused, values)
}

func open(t *testing.T, v vector) (apdu.Message, []byte, error) {
	data, err := hex.DecodeString(v.Hex)
	require.NoError(t, err)
	if v.Framing == "serial" {
		if data, err = frame.DecodeBlock(data); err != nil {
			return apdu.Message{}, nil, err
		}
	}
	m, err := apdu.Decode(data)
	return m, data, err
}

var commandWords = []struct {
	words string
	cmd   apdu.Command // its upper byte alone where Code is 0
	class bool
}{
	{`reply to 04 0F|wrong password|Registration refused|84 9C 00`, 0x8400, true},
	{`Registration completion|Status-Enquiry completion|Completion`, apdu.Completion, false},
	{`Registration|recommended Registration`, apdu.Registration, false},
	{`Authorisation`, apdu.Authorisation, false},
	{`Print Line`, apdu.PrintLine, false},
	{`Print Text-Block`, apdu.PrintBlock, false},
	{`Display Text`, apdu.DisplayText, false},
	{`Status-Enquiry`, apdu.StatusEnquiry, false},
	{`(declined: |aborted: |)Status-Information|End-of-Day Status-Information`, apdu.StatusInfo, false},
	{`Abort|TLV 23 list`, apdu.AbortPT, false},
	{`End-of-Day`, apdu.EndOfDay, false},
	{`Intermediate`, apdu.Intermediate, false},
	{`Log-Off`, apdu.LogOff, false},
	{`Initialisation`, apdu.Initialisation, false},
	{`Diagnosis`, apdu.Diagnosis, false},
	{`Reset`, apdu.Reset, false},
	{`Repeat Receipt`, apdu.RepeatReceipt, false},
	{`ack|positive ack`, apdu.Ack, false},
	{`Reservation`, 0x0622, false},
	{`Enquire|Partial reversal`, 0x0623, false},
	{`Pre-Authorisation reversal`, 0x0625, false},
	{`Read Card`, 0x06C0, false},
	{`Reversal`, apdu.Reversal, false},
	{`Refund`, apdu.RefundCmd, false},
	{`unknown command`, 0xFFAA, false},
}

// misread are meanings known to state another amount than their bytes, with what the bytes say.
var misread = map[string]int64{"Status-Information ok 0.10 EUR Visa with TLV 06": 10_00}

// checkMeaning compares what the meaning says with the message and returns how many values it found to compare.
func checkMeaning(t *testing.T, m apdu.Message, meaning string) (checked int) {
	meaning = strings.TrimPrefix(meaning, "serial frame: ")
	for _, w := range commandWords {
		if !regexp.MustCompile(`^(` + w.words + `)\b`).MatchString(meaning) {
			continue
		}
		if w.class {
			require.Equal(t, w.cmd>>8, m.Cmd>>8)
		} else {
			require.Equal(t, w.cmd, m.Cmd)
		}
		checked++
		break
	}
	// find runs f on what the pattern's first group matches.
	find := func(pattern string, f func(s string)) {
		if g := regexp.MustCompile(pattern).FindStringSubmatch(meaning); g != nil {
			f(g[1])
			checked++
		}
	}
	if minor, present, err := m.Amount(); present {
		require.NoError(t, err)
		find(`(?:^|[^.\d])(\d+\.\d\d)(?:[^.\d]|$)`, func(s string) {
			want, err := strconv.ParseInt(strings.Replace(s, ".", "", 1), 10, 64)
			require.NoError(t, err)
			for words, really := range misread {
				if strings.HasPrefix(meaning, words) {
					want = really
				}
			}
			require.Equal(t, want, minor)
		})
	}
	find(`\bpw (\d{6})\b`, func(s string) {
		pw, ok := m.Password()
		require.True(t, ok)
		require.Equal(t, s, pw)
	})
	if m.Cmd == apdu.Registration {
		find(`(?:config|Registration) ([0-9A-F]{2})\b`, func(s string) {
			c, ok := m.Config()
			require.True(t, ok)
			require.Equal(t, s, fmt.Sprintf("%02X", c))
		})
		find(`CC (\d{4})`, func(s string) {
			c, ok := m.Currency()
			require.True(t, ok)
			require.Equal(t, s, fmt.Sprintf("%04d", c))
		})
	}
	find(`receipt (\d{4})\b`, func(s string) {
		n, ok := m.Receipt()
		require.True(t, ok)
		require.Equal(t, s, fmt.Sprintf("%04d", n))
	})
	find(`trace (\d{6})\b`, func(s string) {
		n, ok := m.Trace()
		require.True(t, ok)
		require.Equal(t, s, fmt.Sprintf("%06d", n))
	})
	find(`TID (\d{8})\b`, func(s string) {
		id, ok := m.TerminalID()
		require.True(t, ok)
		require.Equal(t, s, id)
	})
	find(`\b27=([0-9A-F]{2})\b`, func(s string) {
		r, ok := m.Result()
		require.True(t, ok)
		require.Equal(t, s, fmt.Sprintf("%02X", r))
	})
	find(`^Abort ([0-9A-F]{2})\b`, func(s string) {
		r, ok := m.Result()
		require.True(t, ok)
		require.Equal(t, s, fmt.Sprintf("%02X", r))
	})
	find(`^Intermediate status ([0-9A-F]{2})\b`, func(s string) {
		r, _, ok := m.IntermediateStatus()
		require.True(t, ok)
		require.Equal(t, s, fmt.Sprintf("%02X", r))
	})
	find(`^(?:Status-Enquiry completion|Completion).*status ([0-9A-F]{2})\b`, func(s string) {
		_, st, ok := m.TerminalStatus(apdu.CP437)
		require.True(t, ok)
		require.Equal(t, s, fmt.Sprintf("%02X", st))
	})
	find(`MsgSeqId (\d{6})`, func(s string) {
		o, ok := m.FindTLV(0x1F73)
		require.True(t, ok)
		require.Equal(t, s, hex.EncodeToString(o.Value))
	})
	find(`max(?:imum)? status infos (\d+)`, func(s string) {
		b, ok := m.Byte(0x02)
		require.True(t, ok)
		require.Equal(t, s, strconv.Itoa(int(b)))
	})
	find(`"([^"]+)"`, func(s string) {
		cs := apdu.CP437
		if text := meaning; strings.Contains(text, "ISO-8859-1") {
			cs = apdu.Latin1
		}
		// The meaning may have been written with other letters for the umlauts.
		tree, err := json.Marshal(apdu.Describe(m, cs))
		require.NoError(t, err)
		quoted, err := json.Marshal(s)
		require.NoError(t, err)
		require.Contains(t, string(tree), strings.Trim(string(quoted), `"`))
	})
	return checked
}
