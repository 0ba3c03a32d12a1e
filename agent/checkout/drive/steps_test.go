package drive_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/schemes/aapay"
)

// TestField_L10TheRegisterHearsWhatTheCustomerHasToDo: a register that shows texts heard "please
// wait" from the start to the end.
func TestField_L10TheRegisterHearsWhatTheCustomerHasToDo(t *testing.T) {
	for language, want := range map[string][2]string{
		"en": {"Scan the code", "Confirm in the app"},
		"de": {"Bitte Code scannen", "Bitte in der App bestätigen"},
	} {
		terminal(t, func(r *rig) {
			r.cfg.Language = language
			r.Restart(false)
			s := r.waiting(aapay.Initialized, 3*time.Second)
			require.True(t, r.screen.code())
			require.Equal(t, ecr.Progress{Step: ecr.StepShowCode, Text: want[0]}, <-s.Progress)
			r.world.lock(func() { r.world.onStatus = say(1, aapay.Pending, "") })
			pass(5 * time.Second)
			require.Equal(t, ecr.Progress{Step: ecr.StepConfirm, Text: want[1]}, <-s.Progress)
			r.world.lock(func() { r.world.pay(r.world.order[0]); r.world.onStatus = nil })
			r.Approved(s, ecr.Told)
		})
	}
}
