package agent

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/ready"
)

// TestField_U2AMomentWithoutTheBackendIsNotTold: a terminal that stays ready says that it is offline once that has lasted; what makes it not
// ready is told at once.
func TestField_U2AMomentWithoutTheBackendIsNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j judged
		well := ready.Report{Ready: true}
		away := ready.Report{Ready: true, Offline: &ready.Said{Cause: "stall", Words: "a does not answer in time"}}
		pulled := ready.Report{NotReady: &ready.Said{Cause: ready.LinePulled, Words: "the register line was unplugged"}}
		require.True(t, j.changed(well), "the first is told")
		require.False(t, j.changed(well))
		require.False(t, j.changed(away))
		<-time.After(time.Second)
		require.False(t, j.changed(well))
		require.False(t, j.changed(away), "it begins anew")
		<-time.After(1900 * time.Millisecond)
		require.False(t, j.changed(away))
		<-time.After(200 * time.Millisecond)
		require.True(t, j.changed(away))
		require.True(t, j.changed(pulled), "at once")
		require.True(t, j.changed(well), "at once")
	})
}
