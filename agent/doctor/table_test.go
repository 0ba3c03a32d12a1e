package doctor_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/doctor"
	"posagent/agent/doctor/exam"
)

// golden are the ids. One that was released keeps its meaning for ever: add behind the last of its group, remove none.
const golden = `
CFG 001 002 003 004 005 006 007 008 009 010 011
CLK 001 002 003 004
DSK 001 002 003 004 005 006
KEY 001 002 003 004 005
DB  001 002 003 004 005 006 007 008 009
NET 001 002 003 004 005 006 007 008 009 010 011 012
UPS 001 002 003 004 005 006 007 008 009
SYS 001 002 003 004 005 006 007 008 009
SER 001 002 003 004 005 006 007 008 009
PAD 001
DSP 001
SEC 001 002 003 004
QUE 001 002 003 004 005 006 007 008
PRN 001
REC 001
`

// TestIDsAreStable: scripts and notes of technicians name them.
func TestIDsAreStable(t *testing.T) {
	want := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(golden), "\n") {
		fields := strings.Fields(line)
		for _, n := range fields[1:] {
			want["PA-"+fields[0]+"-"+n] = true
		}
	}
	got := map[string]bool{}
	for _, c := range doctor.Checks() {
		require.False(t, got[c.ID], "%s stands twice", c.ID)
		got[c.ID] = true
		require.Equal(t, strings.Split(c.ID, "-")[1], c.Group())
		found, ok := doctor.Find(c.ID)
		require.True(t, ok)
		require.Equal(t, c.Title, found.Title)
	}
	require.Equal(t, want, got)
	require.GreaterOrEqual(t, len(got), 30)
	require.Empty(t, exam.GroupOf("PA-CFG"))
}

// TestField2_U4EveryCheckReachesTheStatusScreen: what doctor calls a failure is never missing there. The
// screen makes the check, tells what the last examination found, or reads the same rows of the journal
// for lines of its own. The campaign of cross/campaign/doctor compares the two on each fault.
func TestField2_U4EveryCheckReachesTheStatusScreen(t *testing.T) {
	const itsOwnLines = "PA-DB-006 PA-DB-007 PA-QUE-001 PA-QUE-002 PA-QUE-003 PA-QUE-004 PA-QUE-006 PA-QUE-007 PA-QUE-008"
	seen := map[string]int{}
	for _, list := range [][]doctor.Check{doctor.AtStatus(), doctor.Remembered()} {
		for _, c := range list {
			seen[c.ID]++
		}
	}
	for id := range strings.FieldsSeq(itsOwnLines) {
		seen[id]++
	}
	require.Len(t, seen, len(doctor.Checks()))
	for _, c := range doctor.Checks() {
		require.Equal(t, 1, seen[c.ID], c.ID)
	}
	made := doctor.AtStatus()
	require.True(t, slices.ContainsFunc(made, func(c doctor.Check) bool { return c.ID == "PA-SER-007" }), "the wrong baud")
}

// TestEveryCheckSaysWhatToDo: each row is whole, has words of its own, and its remedy deletes nothing.
func TestEveryCheckSaysWhatToDo(t *testing.T) {
	bad := regexp.MustCompile(`(?i)\b(reset|rm|delete|erase|purge|format|mkfs|truncate|restore|drop|kill)\b`)
	titles := map[string]string{}
	for _, c := range doctor.Checks() {
		for what, text := range map[string]string{"title": c.Title, "means": c.Means, "how": c.How, "remedy": c.Do, "command": c.Command} {
			require.NotEmpty(t, text, "%s %s", c.ID, what)
			require.NotContains(t, text, "\n", c.ID)
			require.Empty(t, bad.FindString(text), "%s: %s", c.ID, text)
			require.LessOrEqual(t, len(strings.Fields(text)), 32, "%s: %s", c.ID, text)
		}
		require.Empty(t, titles[c.Title], c.ID)
		titles[c.Title] = c.ID
		require.NotNil(t, c.Look, c.ID)
		require.Contains(t, []exam.Severity{exam.Critical, exam.Major, exam.Minor}, c.Severity, c.ID)
	}
}

// TestEveryCheckIsTranslated: German says as much as English, about the same checks, with the same commands and places in it.
func TestEveryCheckIsTranslated(t *testing.T) {
	marks := regexp.MustCompile(`\{\w+\}|posagent (?:accept|audit|config|doctor|journal|ops|run|sale|status)\b|--[a-z]+|\[\w+\]`)
	for _, c := range doctor.Checks() {
		en, in := doctor.TextOf(c, "en")
		require.Equal(t, "en", in)
		de, in := doctor.TextOf(c, "de")
		require.Equal(t, "de", in, c.ID)
		for i, pair := range [][2]string{{en.Title, de.Title}, {en.Means, de.Means}, {en.How, de.How}, {en.Do, de.Do}} {
			require.NotEmpty(t, pair[1], "%s %d", c.ID, i)
			require.NotEqual(t, pair[0], pair[1], c.ID)
			require.ElementsMatch(t, marks.FindAllString(pair[0], -1), marks.FindAllString(pair[1], -1), "%s: %s", c.ID, pair[1])
		}
		_, in = doctor.TextOf(c, "fr")
		require.Equal(t, "en", in)
	}
}
