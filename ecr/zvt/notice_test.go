package zvt

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
)

// sends are the APDUs among actions.
func sends(actions []ecr.Action) (out [][]byte) {
	for _, a := range actions {
		if s, ok := a.(ecr.Send); ok {
			out = append(out, s.Data)
		}
	}
	return out
}

// registeredAs is a machine whose register has finished its registration with a config byte.
func registeredAs(t *testing.T, config string) *Machine {
	t.Helper()
	m := New(testConfig(), nil)
	m.Step(ecr.Received{Data: unhex(t, "06 00 06 00 00 00 "+config+" 09 78")})
	done := m.Step(ecr.Saved{Gen: m.gen})
	for _, a := range done {
		if s, ok := a.(ecr.Send); ok {
			m.Step(ecr.Sent{Seq: s.Seq, OK: true})
		}
	}
	m.Step(ecr.Received{Data: unhex(t, "80 00 00")})
	require.Equal(t, idle, m.phase)
	return m
}

// A register that is still connected is told that an approval it never acknowledged is
// taken back.
func TestUndoingIsToldToAConnectedRegister(t *testing.T) {
	m := registeredAs(t, "8E")
	require.Equal(t, [][]byte{unhex(t, "04 FF 01 05")}, sends(m.Step(ecr.Undoing{})))
	require.Empty(t, sends(m.Step(ecr.Undoing{})), "one at a time")
	m.Step(ecr.Received{Data: unhex(t, "80 00 00")})
	require.Equal(t, idle, m.phase)

	quiet := registeredAs(t, "86")
	require.Empty(t, quiet.Step(ecr.Undoing{}), "a register that wants no 04 FF gets none")
}

// Another connection's registration does not take the intermediate status from a sale that began
// with it.
func TestARegistrationElsewhereLeavesARunningSaleItsStatus(t *testing.T) {
	m := registeredAs(t, "8E")
	m.Step(ecr.Received{Data: unhex(t, "06 01 07 04 00 00 00 00 12 50")})
	m.Step(ecr.Begun{Gen: m.gen, Sale: "s"})
	require.True(t, m.intermediates())
	m.Step(ecr.Learned{Profile: profile{Version: profileVersion, Config: 0x86}.encode()})
	require.True(t, m.intermediates())
	require.Equal(t, running, m.phase)
}
