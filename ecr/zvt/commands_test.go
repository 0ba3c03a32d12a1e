package zvt

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// commands is every command that a register can send, with what it hears at idle and during a sale,
// by hand:
//
//	C    80 00 00, and then a completion: 06 0F or 06 1E
//	S    80 00 00, then 04 0F and a completion
//	OK   80 00, with what was typed at a prompt, and nothing more
//	xx   84 xx 00
//	9C   80 00 00 and the status 9C, beside the sale
//	ends 80 00 00 and a completion; the sale goes on without this dialogue
//	join 80 00 00, and the sale's outcome
const commands = `
06 00 06 12 34 56 9E 09 78                              | C  | ends
06 01 07 04 00 00 00 00 99 99                           | S  | A0
06 02 00                                                | OK | OK
06 03 00                                                | 83 | 83
06 04 00                                                | 83 | 83
06 05 00                                                | 83 | 83
06 09 0A 00 01 00 04 00 00 00 00 10 00                  | 83 | 83
06 0A 00                                                | 83 | 83
06 0C 0D 12 34 56 04 00 00 00 00 01 00 87 00 07         | S  | A0
06 10 03 12 34 56                                       | S  | A0
06 12 07 12 34 56 00 01 00 03                           | C  | A0
06 18 03 12 34 56                                       | C  | A0
06 1A 03 12 34 56                                       | C  | A0
06 1B 08 12 34 56 29 52 50 00 38                        | C  | A0
06 1B 08 12 34 56 29 52 50 00 39                        | 83 | A0
06 20 05 12 34 56 03 03                                 | S  | join
06 21 07 04 00 00 00 00 12 50                           | 83 | 83
06 22 07 04 00 00 00 00 12 50                           | S  | A0
06 23 0A 87 00 07 04 00 00 00 00 05 00                  | S  | A0
06 24 0A 87 00 07 04 00 00 00 00 05 00                  | S  | A0
06 25 03 87 00 07                                       | S  | A0
06 26 03 87 00 07                                       | 83 | 83
06 30 06 12 34 56 87 00 07                              | S  | A0
06 31 0D 12 34 56 04 00 00 00 00 05 00 87 00 07         | S  | A0
06 50 03 12 34 56                                       | S  | A0
06 51 03 12 34 56                                       | 83 | 83
06 52 03 12 34 56                                       | S  | A0
06 70 00                                                | C  | A0
06 79 00                                                | 83 | 83
06 85 00                                                | 83 | 83
06 86 00                                                | 83 | 83
06 87 00                                                | 83 | 83
06 88 00                                                | 83 | 83
06 91 0B 12 34 56 AA 26 11 26 0C 20 45 00               | C  | A0
06 92 03 12 34 56                                       | 83 | 83
06 93 03 12 34 56                                       | C  | A0
06 95 06 12 34 56 65 43 21                              | 83 | 83
06 B0 00                                                | 83 | abort
06 C0 01 0F                                             | 83 | 83
06 C1 00                                                | 83 | 83
06 C5 00                                                | 83 | 83
06 C6 00                                                | 83 | 83
06 D0 00                                                | 83 | 83
06 D1 04 00 41 42 43                                    | OK | A0
06 D1 04 81 41 42 43                                    | OK | A0
06 D3 0C 06 0A 25 08 07 03 41 42 43 09 01 81            | OK | A0
06 D8 00                                                | 83 | 83
06 DD 00                                                | 83 | 83
06 E0 08 F0 05 F1 F0 F3 41 42 43                        | OK | A0
06 E1 08 F0 14 F1 F0 F3 41 42 43                        | OK | A0
06 E2 08 F0 14 F1 F0 F3 41 42 43                        | OK | A0
06 E3 00                                                | 83 | 83
06 E4 00                                                | 83 | 83
06 E5 00                                                | 83 | 83
06 E6 00                                                | 83 | 83
06 E7 00                                                | 83 | 83
06 E8 00                                                | 83 | 83
06 F0 00                                                | 83 | 83
06 F1 00                                                | 83 | 83
05 01 03 12 34 56                                       | C  | 9C
08 01 00                                                | 83 | 83
08 02 01 01                                             | 83 | 83
08 10 00                                                | 83 | 83
08 11 00                                                | 83 | 83
08 12 00                                                | 83 | 83
08 13 00                                                | 83 | 83
08 14 00                                                | 83 | 83
08 20 03 12 34 56                                       | C  | A0
08 21 00                                                | 83 | 83
08 22 03 12 34 56                                       | C  | A0
08 23 03 12 34 56                                       | C  | A0
08 24 00                                                | 83 | 83
08 30 01 00                                             | 83 | 83
08 40 01 00                                             | OK | A0
08 40 01 07                                             | 7D | A0
08 50 01 00                                             | OK | A0
08 50 01 FF                                             | 83 | A0
0F 10 00                                                | 83 | 83
`

// answer plays the rooms behind the machine until nothing is open, and the register that
// acknowledges everything. It returns what the register was sent.
func (s *script) answer(t *testing.T) (sent []string) {
	t.Helper()
	for range 200 {
		out := s.out
		s.out = nil
		acts := 0
		for _, line := range out {
			kind, rest, _ := strings.Cut(line, " ")
			acts++
			if kind == "P" {
				sent = append(sent, rest)
				if !strings.HasPrefix(rest, "80 ") && !strings.HasPrefix(rest, "84 ") {
					s.input(t, "E 80 00 00")
				}
				continue
			}
			switch first, _, _ := strings.Cut(rest, " "); first {
			case "begin", "last":
				s.input(t, "< begun s1")
				s.input(t, "< outcome approved")
			case "abort":
				s.input(t, "< aborted yes")
			case "told", "refused":
				s.input(t, "< recorded approved")
			case "close", "turnover":
				s.input(t, "< totals")
			case "check", "report":
				s.input(t, "< health ready")
			case "save":
				s.input(t, "< saved")
			case "notify":
				s.input(t, "< noticed confirm 42")
			case "print":
				s.input(t, "< printed")
			}
		}
		if acts == 0 {
			return sent
		}
	}
	t.Fatal("it never ends")
	return nil
}

// heard is what a register hears of a command in the words of the table.
func heard(t *testing.T, sent []string) string {
	t.Helper()
	status, ends, oks, other := 0, 0, 0, ""
	for _, one := range sent {
		switch {
		case strings.HasPrefix(one, "80 00"):
			oks++
		case strings.HasPrefix(one, "84 "):
			other = one[3:5]
		case strings.HasPrefix(one, "04 0F"):
			status++
		case strings.HasPrefix(one, "06 0F"), strings.HasPrefix(one, "06 1E"):
			ends++
		case !strings.HasPrefix(one, "06 D1"):
			t.Fatalf("unexpected: %s", one)
		}
	}
	switch {
	case other != "" && oks+status+ends == 0:
		return other
	case other == "" && oks == 1 && status == 1 && ends == 1:
		return "S"
	case other == "" && oks == 1 && ends == 1 && status == 0:
		return "C"
	case other == "" && oks == 1 && status+ends == 0:
		return "OK"
	}
	return strings.Join(sent, "; ")
}

// TestNoCommandHangs: each command is answered before T3 is over, whatever the rooms behind the
// machine do (a prompt 5 s after the time that it names), and the register is master again at its end.
func TestNoCommandHangs(t *testing.T) {
	for row := range strings.Lines(strings.TrimSpace(commands)) {
		words := strings.Split(strings.TrimSpace(row), "|")
		require.Len(t, words, 3, row)
		command, atIdle, inSale := strings.TrimSpace(words[0]), strings.TrimSpace(words[1]), strings.TrimSpace(words[2])
		t.Run(command[:5], func(t *testing.T) {
			cfg := testConfig()
			cfg.Cable, cfg.Baud, cfg.Prints = true, 9600, true
			begin := func() *script { return &script{m: New(cfg, nil), gen: map[string]int{}} }

			s := begin()
			s.input(t, "E "+command)
			s.inTime(t)
			require.Equal(t, atIdle, heard(t, s.answer(t)), "at idle")
			require.Equal(t, idle, s.m.phase)

			s = begin() // and the rooms behind it answer never
			s.input(t, "E "+command)
			if s.m.timers[TimerAnswer] != 0 {
				s.input(t, "T answer")
			}
			require.True(t, slices.ContainsFunc(s.out, isReply), "no answer: %v", s.out)

			s = begin()
			for _, line := range []string{"E 06 01 07 04 00 00 00 00 12 50", "< begun s1"} {
				s.input(t, line)
			}
			s.out = nil
			s.input(t, "E "+command)
			s.inTime(t)
			switch inSale {
			case "9C":
				require.Equal(t, []string{"P 80 00 00", "P 06 0F 07 F0 F0 F3 31 2E"}, []string{s.out[0], s.out[1][:25]})
				require.Contains(t, s.out[1], " 9C")
				s.out = nil
				s.input(t, "E 80 00 00")
				require.Equal(t, running, s.m.phase)
			case "ends":
				require.Equal(t, "C", heard(t, s.answer(t)))
				s.input(t, "< outcome approved gen=1")
				require.Equal(t, []string{"> lost s1"}, s.out, "06 20 tells it")
			case "join":
				require.Equal(t, "S", heard(t, s.answer(t)))
			case "abort":
				require.Equal(t, []string{"> abort s1"}, s.out)
				require.Equal(t, []string{"80 00 00"}, s.answer(t))
			case "OK":
				require.Equal(t, "OK", heard(t, s.answer(t)))
			default:
				require.Equal(t, []string{"P 84 " + inSale + " 00"}, s.out, "during a sale")
				require.Equal(t, running, s.m.phase, "the sale goes on")
			}
		})
	}
}

// isReply says that a line of a script answers a command of the register.
func isReply(line string) bool {
	return strings.HasPrefix(line, "P 80") || strings.HasPrefix(line, "P 84")
}

// inTime checks that a command was answered, or will be within the register's T3.
func (s *script) inTime(t *testing.T) {
	t.Helper()
	if slices.ContainsFunc(s.out, isReply) {
		return
	}
	require.NotZero(t, s.m.timers[TimerAnswer], "nothing answers it: %v", s.out)
	within := 5 * time.Second // T3
	if s.m.phase == prompting {
		within += 20*time.Second + 1
	}
	require.Less(t, s.after[TimerAnswer], within)
}
