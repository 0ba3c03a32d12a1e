package zvt

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/ecr/zvt/apdu"
)

// inPhase is a machine brought to a phase by the shortest dialogue that gets there.
func inPhase(t testing.TB, p phase) *script {
	lines := map[phase][]string{
		idle:      nil,
		asking:    {"E 06 01 07 04 00 00 00 00 12 50"},
		running:   {"E 06 01 07 04 00 00 00 00 12 50", "< begun s1"},
		working:   {"E 06 50 03 00 00 00"},
		prompting: {"E 06 E1 08 F0 0A F1 F0 F3 41 42 43"},
		telling:   {"E 06 01 07 04 00 00 00 00 12 50", "< begun s1", "< outcome approved"},
		pausing:   {"E 06 01 07 04 00 00 00 00 12 50", "< begun s1", "< outcome approved", "E 84 9C 00"},
		recording: {"E 06 01 07 04 00 00 00 00 12 50", "< begun s1", "< outcome approved", "E 80 00 00"},
		printing:  {"E 06 01 07 04 00 00 00 00 12 50", "< begun s1", "< outcome approved", "E 80 00 00", "< recorded approved"},
		ending:    {"E 06 18 00"},
		waiting:   {"E@s1 06 20 05 12 34 56 03 03"},
	}[p]
	s := &script{m: New(testConfig(), nil), gen: map[string]int{}}
	for _, l := range lines {
		s.input(t, l)
	}
	if p != elsewhere {
		require.Equal(t, p, s.m.phase)
	}
	s.out = nil
	return s
}

var sampleCommands = map[apdu.Command]string{
	apdu.Registration:   "06 00 06 12 34 56 9E 09 78",
	apdu.LogOff:         "06 02 00",
	apdu.StatusEnquiry:  "05 01 03 12 34 56",
	apdu.Authorisation:  "06 01 07 04 00 00 00 00 99 99",
	apdu.Reversal:       "06 30 06 12 34 56 87 00 07",
	apdu.RefundCmd:      "06 31 0D 12 34 56 04 00 00 00 00 05 00 87 00 07",
	apdu.RepeatReceipt:  "06 20 05 12 34 56 03 01",
	apdu.AbortECR:       "06 B0 00",
	apdu.EndOfDay:       "06 50 03 12 34 56",
	apdu.TurnoverTotals: "06 10 03 12 34 56",
	apdu.Diagnosis:      "06 70 00",
	apdu.Initialisation: "06 93 03 12 34 56",
	apdu.Reset:          "06 18 00",
	apdu.BookTip:        "06 0C 0D 12 34 56 04 00 00 00 00 01 00 87 00 07",
	apdu.ReprintReceipt: "06 12 07 12 34 56 00 01 00 02",
	apdu.PrintConfig:    "06 1A 03 12 34 56",
	apdu.SetTerminalID:  "06 1B 08 12 34 56 29 52 50 00 38",
	apdu.Reservation:    "06 22 07 04 00 00 00 00 99 99",
	apdu.BookPart:       "06 23 0A 87 00 07 04 00 00 00 00 05 00",
	apdu.BookTotal:      "06 24 0A 87 00 07 04 00 00 00 00 05 00",
	apdu.Release:        "06 25 03 87 00 07",
	apdu.PartialClose:   "06 52 03 12 34 56",
	apdu.SetDate:        "06 91 0B 12 34 56 AA 26 11 26 0C 20 45 00",
	apdu.StartOPT:       "08 20 03 12 34 56",
	apdu.StartOPTInit:   "08 22 03 12 34 56",
	apdu.OutputOPT:      "08 23 03 12 34 56",
	apdu.ChangeBaud:     "08 40 01 00",
	apdu.ActivateReader: "08 50 01 00",
	apdu.DisplayText:    "06 E0 08 F0 05 F1 F0 F3 41 42 43",
	apdu.DisplayKey:     "06 E1 08 F0 14 F1 F0 F3 41 42 44",
	apdu.DisplayNumber:  "06 E2 08 F0 14 F1 F0 F3 41 42 43",
	apdu.PrintLine:      "06 D1 04 00 41 42 43",
	apdu.PrintBlock:     "06 D3 0C 06 0A 25 08 07 03 41 42 43 09 01 81",
}

// begins is what a command sets off when it is taken.
var begins = map[apdu.Command]string{
	apdu.Registration: "> save", apdu.LogOff: "> save", apdu.StatusEnquiry: "> report", apdu.Authorisation: "> begin payment 9999 EUR",
	apdu.Reversal: "> begin reversal 0 EUR receipt=7", apdu.RefundCmd: "> begin refund 500 EUR original=R7", apdu.RepeatReceipt: "> last",
	apdu.EndOfDay: "> close", apdu.TurnoverTotals: "> turnover", apdu.Diagnosis: "> check", apdu.Initialisation: "> check", apdu.Reset: "P 06 0F 00",
	apdu.BookTip:        "P 04 0F",
	apdu.ReprintReceipt: "> last 1",
	apdu.PrintConfig:    "> report",
	apdu.SetTerminalID:  "P 06 0F 00",
	apdu.Reservation:    "P 04 0F",
	apdu.BookPart:       "P 04 0F",
	apdu.BookTotal:      "P 04 0F",
	apdu.Release:        "P 04 0F",
	apdu.PartialClose:   "> turnover",
	apdu.SetDate:        "P 06 0F 00",
	apdu.StartOPT:       "> check",
	apdu.StartOPTInit:   "> check",
	apdu.OutputOPT:      "> report",
	apdu.ChangeBaud:     "P 84 7D 00",
	apdu.ActivateReader: "P 80 00 00",
	apdu.DisplayText:    "> notify text",
	apdu.DisplayKey:     "> notify key",
	apdu.DisplayNumber:  "> notify number",
	apdu.PrintLine:      "P 84 CC 00",
	apdu.PrintBlock:     "P 84 CC 00",
}

// grid is what the register sees of each command in each phase, written out by hand. A sale of
// 12.50 runs or is told in the phases of a sale; working is a running end of day.
//
//	begin  the command is begun
//	lost   the approval that is being told is handed back as lost, and the command is begun
//	first  the same, but the command waits until the loss is recorded
//	join   the command is begun, the approval is not handed back
//	A0     84 A0 00 and nothing else
//	untold 84 A0 00; the sale goes on, no 04 0F tells it, and its outcome is handed back as lost
//	83     84 83 00 and nothing else
//	9C     80 00 00, and nothing is begun
//	abort  the desk is asked to abort the sale; there is no answer yet
//	later  nothing yet: the abort follows when the sale exists
//	prompt the prompt that waits is given up, and the command is begun
//	endprompt  the prompt is answered with a time-out, then the command with 80 00 00
//	wait   80 00 00, and nothing is begun until the other connection's dialogue is over
const grid = `
        idle      asking    running   working   prompting telling   pausing   recording printing  ending    waiting   elsewhere
06 00   begin     begin     begin     begin     prompt    lost      lost      begin     begin     begin     begin     begin
06 02   begin     begin     begin     begin     prompt    lost      lost      begin     begin     begin     begin     begin
05 01   begin     9C        9C        9C        prompt    9C        9C        9C        9C        begin     9C        9C
06 01   begin     A0        untold    A0        prompt    first     A0        A0        A0        begin     A0        A0
06 30   begin     A0        untold    A0        prompt    first     A0        A0        A0        begin     A0        A0
06 31   begin     A0        untold    A0        prompt    first     A0        A0        A0        begin     A0        A0
06 20   begin     A0        join      A0        prompt    join      join      join      join      begin     A0        wait
06 B0   83        later     abort     83        endprompt 83        83        83        83        83        abort     abort
06 50   begin     A0        A0        A0        prompt    A0        A0        A0        A0        begin     A0        A0
06 10   begin     A0        A0        A0        prompt    A0        A0        A0        A0        begin     A0        A0
06 70   begin     A0        A0        A0        prompt    A0        A0        A0        A0        begin     A0        A0
06 93   begin     A0        A0        A0        prompt    A0        A0        A0        A0        begin     A0        A0
06 18   begin     A0        A0        A0        prompt    A0        A0        A0        A0        begin     A0        A0
06 0C   begin     A0        A0        A0        prompt    A0        A0        A0        A0        begin     A0        A0
06 12   begin     A0        A0        A0        prompt    A0        A0        A0        A0        begin     A0        A0
06 1A   begin     A0        A0        A0        prompt    A0        A0        A0        A0        begin     A0        A0
06 1B   begin     A0        A0        A0        prompt    A0        A0        A0        A0        begin     A0        A0
06 22   begin     A0        A0        A0        prompt    A0        A0        A0        A0        begin     A0        A0
06 23   begin     A0        A0        A0        prompt    A0        A0        A0        A0        begin     A0        A0
06 24   begin     A0        A0        A0        prompt    A0        A0        A0        A0        begin     A0        A0
06 25   begin     A0        A0        A0        prompt    A0        A0        A0        A0        begin     A0        A0
06 52   begin     A0        A0        A0        prompt    A0        A0        A0        A0        begin     A0        A0
06 91   begin     A0        A0        A0        prompt    A0        A0        A0        A0        begin     A0        A0
08 20   begin     A0        A0        A0        prompt    A0        A0        A0        A0        begin     A0        A0
08 22   begin     A0        A0        A0        prompt    A0        A0        A0        A0        begin     A0        A0
08 23   begin     A0        A0        A0        prompt    A0        A0        A0        A0        begin     A0        A0
08 40   begin     A0        A0        A0        prompt    A0        A0        A0        A0        begin     A0        A0
08 50   begin     A0        A0        A0        prompt    A0        A0        A0        A0        begin     A0        A0
06 E0   begin     A0        A0        A0        prompt    A0        A0        A0        A0        begin     A0        A0
06 E1   begin     A0        A0        A0        prompt    A0        A0        A0        A0        begin     A0        A0
06 E2   begin     A0        A0        A0        prompt    A0        A0        A0        A0        begin     A0        A0
06 D1   begin     A0        A0        A0        prompt    A0        A0        A0        A0        begin     A0        A0
06 D3   begin     A0        A0        A0        prompt    A0        A0        A0        A0        begin     A0        A0
`

// TestField_U10Matrix walks every command through every phase and holds the machine to the grid.
func TestField_U10Matrix(t *testing.T) {
	for _, p := range []phase{idle, ending, waiting, prompting} {
		require.False(t, inPhase(t, p).m.Holds(), "the next command may come on another connection in %v", p)
	}
	for _, p := range []phase{asking, running, working, telling, pausing, recording, printing} {
		require.True(t, inPhase(t, p).m.Holds(), "%v", p)
	}
	rows := strings.Split(strings.TrimSpace(grid), "\n")
	columns := strings.Fields(rows[0])
	require.Len(t, columns, int(phases), "a phase without a column")
	require.Len(t, rows[1:], len(table), "a command without a row")
	require.Len(t, sampleCommands, len(table), "a command without a sample")
	for _, row := range rows[1:] {
		words := strings.Fields(row)
		require.Len(t, words, 2+len(columns), row)
		b := unhexString(words[0] + " " + words[1])
		cmd := apdu.Command(b[0])<<8 | apdu.Command(b[1])
		sample, ok := sampleCommands[cmd]
		require.True(t, ok, row)
		for n, column := range columns {
			p := phase(n)
			require.Equal(t, column, p.String())
			want := words[2+n]
			t.Run(words[0]+words[1]+"/"+column, func(t *testing.T) {
				s := inPhase(t, p)
				if p == elsewhere || p == waiting {
					s.input(t, "E@s1 "+sample)
				} else {
					s.input(t, "E "+sample)
				}
				out := strings.Join(s.out, "\n")
				switch want {
				case "begin", "join":
					require.Contains(t, out, begins[cmd])
					require.NotContains(t, out, "> lost")
				case "prompt":
					require.Equal(t, "> end notice", s.out[0])
					require.Contains(t, out, begins[cmd])
				case "endprompt":
					require.Equal(t, []string{"> end notice", "P 80 00 01 6C", "P 80 00 00"}, s.out)
				case "lost":
					require.Contains(t, out, "> lost s1")
					require.Contains(t, out, begins[cmd])
				case "first":
					require.Equal(t, []string{"> lost s1"}, s.out)
					s.out = nil
					s.input(t, "E 80 00 00") // what it says to the old 04 0F confirms nothing
					require.Empty(t, s.out)
					s.input(t, "< recorded aborted")
					require.Equal(t, []string{begins[cmd]}, s.out)
				case "A0":
					require.Equal(t, []string{"P 84 A0 00"}, s.out)
				case "untold":
					require.Equal(t, []string{"P 84 A0 00"}, s.out)
					s.out = nil
					s.input(t, "< outcome approved")
					s.input(t, "E 80 00 00") // a register's automatic answer to whatever came last
					require.Equal(t, []string{"> lost s1"}, s.out)
				case "83":
					require.Equal(t, []string{"P 84 83 00"}, s.out)
				case "9C":
					require.Equal(t, "P 80 00 00", s.out[0])
					require.NotContains(t, out, "> ")
				case "abort":
					require.Equal(t, []string{"> abort s1"}, s.out)
				case "later":
					require.Empty(t, s.out)
				case "wait":
					require.Equal(t, []string{"P 80 00 00"}, s.out)
					require.Equal(t, waiting, s.m.phase)
				default:
					t.Fatalf("no such word: %s", want)
				}
				if want == "A0" || want == "83" || want == "9C" {
					require.Equal(t, p == elsewhere, s.m.phase == idle && p != idle, "the dialogue goes on")
				}
				require.LessOrEqual(t, strings.Count(out, "P 80 00 00")+strings.Count(out, "P 84"), 1, "answered once")
			})
		}
	}
}

// TestUnknownCommandsAreRefusedInEveryPhase: the rest of the command space, and what cannot be
// decoded.
func TestUnknownCommandsAreRefusedInEveryPhase(t *testing.T) {
	for p := range phases {
		for class := range 256 {
			for _, instr := range []byte{0x00, 0x01, 0x0F, 0x21, 0x52, 0xC0, 0xE0, 0xFF} {
				cmd := apdu.Command(class)<<8 | apdu.Command(instr)
				if _, known := table[cmd]; known || cmd.IsReply() {
					continue
				}
				s := inPhase(t, p)
				s.step(t, ecr.Received{Data: []byte{byte(class), instr, 0}, Elsewhere: p == elsewhere})
				require.Equal(t, []string{"P 84 83 00"}, s.out, "%v in %v", cmd, p)
			}
		}
	}
}

// TestApprovalIsConfirmedByItsAnswerOnly: of all events, only 80 00 or 84 00 to the 04 0F makes it
// told.
func TestApprovalIsConfirmedByItsAnswerOnly(t *testing.T) {
	for line, want := range map[string]string{
		"E 80 00 00":                      "> told s1",
		"E 84 00 00":                      "> told s1",
		"E 80 00 02 01 02":                "> told s1",
		"E 84 66 00":                      "> refused s1",
		"E 84 83 00":                      "> refused s1",
		"E 84 9D 07 04 00 00 00 00 10 00": "> refused s1",
		"T reply":                         "> lost s1",
		"< gone":                          "> lost s1",
		"E 84 9C 00":                      "",
	} {
		s := inPhase(t, telling)
		s.input(t, line)
		require.Equal(t, want, strings.Join(s.out, "\n"), line)
	}
	for _, p := range []phase{idle, asking, running, working, pausing, recording, ending} {
		s := inPhase(t, p)
		s.input(t, "E 80 00 00")
		require.NotContains(t, strings.Join(s.out, "\n"), "> told", "a stray answer in %v", p)
	}
}

func TestEveryCodeHasItsByte(t *testing.T) {
	for code, want := range map[ecr.Code]byte{
		ecr.OK: 0x00, ecr.RejectedByScheme: 0x05, ecr.AbortedByUser: 0x6C, ecr.WrongCurrency: 0x6F, ecr.Processing: 0x66, ecr.NoMethod: 0xC5,
		ecr.AmountWrong: 0xB7, ecr.AlreadyReversed: 0xB4, ecr.NotReversible: 0xB5, ecr.Busy: 0xA0, ecr.Impossible: 0x83, ecr.StillRunning: 0x9C,
		ecr.NotStored: 0xB1, ecr.NoConnection: 0xA3, ecr.NoOriginal: 0x83, ecr.NotReady: 0xA0, ecr.EODImpossible: 0x77, ecr.SystemError: 0xFF, "new": 0xFF,
	} {
		require.Equal(t, want, codeByte(code), code)
	}
	// A result that is not an approval never goes out as 00, whatever its code.
	for _, r := range []ecr.Result{ecr.Declined, ecr.Aborted, ecr.InProgress, ""} {
		require.NotZero(t, resultByte(ecr.Outcome{Result: r, Code: ecr.OK}), r)
	}
	require.Zero(t, resultByte(ecr.Outcome{Result: ecr.Approved, Code: ecr.OK}))
}

func TestThePackageIsPure(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, i := range parsed.Imports {
			switch strings.Trim(i.Path.Value, `"`) {
			case "os", "net", "database/sql", "context", "sync", "log/slog", "io":
				t.Errorf("%s imports %s", file, i.Path.Value)
			}
		}
	}
}

func TestProfileThatCannotBeReadIsADefault(t *testing.T) {
	for _, data := range []string{"", "x", "{", `{"v":2,"config":8}`, `{"v":1,"config":"a"}`, "null", "[]"} {
		require.Equal(t, defaultProfile(), loadProfile([]byte(data)), data)
	}
	p := profile{Version: 1, Config: 8, TLV: true, Epoch: 7}
	require.Equal(t, p, loadProfile(p.encode()))
}

func TestReceiptsFitThePrinter(t *testing.T) {
	out := outcomeNamed("text")
	out.Label = strings.Repeat("long label ", 9)
	for _, width := range []int{16, 24, 40} {
		for _, l := range layOut(receiptLines(testConfig(), euro(t), out, customerReceipt, true), width) {
			require.LessOrEqual(t, len([]rune(l.text)), width)
		}
	}
	m := New(testConfig(), nil)
	m.prof.Blocks, m.prof.TLV, m.prof.MaxAPDU, m.prof.Capitals = true, true, 160, true
	messages := m.printMessages(customerReceipt, receiptLines(testConfig(), euro(t), out, customerReceipt, true))
	require.Greater(t, len(messages), 1)
	for i, msg := range messages {
		data := encode(stamp(msg, 123))
		require.LessOrEqual(t, len(data), 160)
		text, ok := msg.FindTLV(0x25)
		require.True(t, ok)
		last := text.Children[len(text.Children)-1]
		require.Equal(t, i == len(messages)-1, last.Tag == 0x09 && last.Value[0] == attrLast, "only the last block ends the receipt")
	}
	require.Contains(t, string(encode(messages[0])), "CUSTOMER RECEIPT")
}

// TestField_L13GermanReceipt: the end of a reversal read "Zahlung erfolgt", and amounts had a
// point.
func TestField_L13GermanReceipt(t *testing.T) {
	cfg := testConfig()
	cfg.Language = "de-AT"
	var text []string
	for _, l := range layOut(receiptLines(cfg, euro(t), outcomeNamed("reversed"), merchantReceipt, true), 24) {
		text = append(text, l.text)
	}
	require.Equal(t, []string{"Café Müller", "Händlerbeleg", "KOPIE", "", "Terminal        52500038", "Beleg               0008",
		"Trace             000043", "Original-Trace    000042", "21.11.2026      12:34:56", "TWINT", "", "Storno         12,50 EUR", "",
		"Transaktion", "        9007199254740993", "Storno erfolgt"}, text)
	last := func(name string) string {
		lines := receiptLines(cfg, euro(t), outcomeNamed(name), customerReceipt, false)
		return lines[len(lines)-1].text
	}
	require.Equal(t, "Zahlung erfolgt", last("approved"))
	refund := outcomeNamed("approved")
	refund.Kind = ecr.Refund
	lines := receiptLines(cfg, euro(t), refund, customerReceipt, false)
	require.Equal(t, "Gutschrift erfolgt", lines[len(lines)-1].text)
}
