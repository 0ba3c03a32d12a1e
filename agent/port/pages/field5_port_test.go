package pages

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/view"
)

// TestField5_PortAButtonSaysWhatWasRead: the button that acknowledges an alert says which one it was; a finding of the daily comparison has
// a key of its own. The person's console refuses it for another one.
func TestField5_PortAButtonSaysWhatWasRead(t *testing.T) {
	at := time.Date(2026, 11, 24, 9, 30, 0, 0, time.UTC)
	v := Terminal{Now: at, Acts: &Acts{Path: "/person/X/", Form: "WORD"}}
	v.Status.Alerts = []view.Alert{{Key: "sale-1", Kind: "sale", Reason: "nobody has fetched it", At: at}}
	require.Contains(t, string(v.HTML()), `name="key" value="sale-1"><input type="hidden" name="seen" value="`+AlertAs(at, "nobody has fetched it")+`"`)
	require.NotEqual(t, AlertAs(at, "nobody has fetched it"), AlertAs(at, "possibly twice"))
	require.NotEqual(t, AlertAs(at, "possibly twice"), AlertAs(at.Add(time.Second), "possibly twice"))
}
