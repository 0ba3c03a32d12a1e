package drive_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/device/display/scene"
	"posagent/ecr"
	"posagent/schemes/aapay"
)

// TestField2_U6TheScreenSaysThatTheCodeIsOver: nobody scanned it, so nobody can confirm in an app. The
// customer and the cashier read what they can do, and the customer has a key; one who had scanned it
// after all is asked to confirm.
func TestField2_U6TheScreenSaysThatTheCodeIsOver(t *testing.T) {
	for language, want := range map[string][3]string{
		"en": {"This code is no longer valid.", "ask for a new code", "Code expired. Not scanned? Cancel and start again"},
		"de": {"Dieser Code ist nicht mehr gültig.", "nach einem neuen Code", "Code abgelaufen. Nicht gescannt? Abbrechen und neu beginnen"},
	} {
		terminal(t, func(r *rig) {
			r.cfg.Language = language
			r.Restart(false)
			s := r.waiting(aapay.Initialized, 3*time.Second)
			require.True(t, r.screen.code())
			r.world.lock(func() { r.world.onStatus = say(1, aapay.Stale, "") })
			pass(30 * time.Second)
			over := r.screen.last()
			says := over.Texts(time.Now(), true)
			require.Nil(t, over.Code)
			require.Equal(t, want[0], says.Headline)
			require.Contains(t, says.Detail, want[1])
			require.Equal(t, s.ID, over.Of.Sale, "whose page has a key to cancel")
			require.Equal(t, ecr.Progress{Step: ecr.StepExpired, Text: want[2]}, <-s.Progress)

			r.world.lock(func() { r.world.onStatus = say(1, aapay.Pending, "") })
			pass(12 * time.Second)
			require.Equal(t, scene.Waiting, r.screen.last().Kind, "it was scanned after all")
			require.Equal(t, ecr.StepApp, (<-s.Progress).Step)
			r.world.lock(func() { r.world.pay(r.world.order[0]); r.world.onStatus = nil })
			r.Approved(s, ecr.Told)
		})
	}
}

// TestField2_U6NoWaitIsWithoutAWord: from the register's request to the end the customer sees the
// amount and what goes on, never "Ready": while the sale begins, while its last status is asked for,
// while it is aborted, and between the code and its end (U9: "Ready" flickered before "Paid").
func TestField2_U6NoWaitIsWithoutAWord(t *testing.T) {
	for name, c := range map[string]struct {
		during func(r *rig, s ecr.Sale)
		want   []scene.Kind
	}{
		"paid": {func(r *rig, s ecr.Sale) {
			r.world.lock(func() { r.world.pay(r.world.order[0]); r.world.onStatus = nil })
		}, []scene.Kind{scene.Moment, scene.Code, scene.Paid}},
		"declined": {func(r *rig, s ecr.Sale) { r.world.lock(func() { r.world.onStatus = say(1, aapay.Rejected, "") }) }, []scene.Kind{scene.Moment, scene.Code, scene.NotPaid}},
		"aborted":  {func(r *rig, s ecr.Sale) { require.NoError(t, r.Abort(context.Background(), s.ID)) }, []scene.Kind{scene.Moment, scene.Code, scene.Moment, scene.NotPaid}},
		"too late": {func(r *rig, s ecr.Sale) {}, []scene.Kind{scene.Moment, scene.Code, scene.Code, scene.Moment, scene.NotPaid}},
	} {
		terminal(t, func(r *rig) {
			from := len(r.screen.shots)
			s := r.waiting(aapay.Initialized, 3*time.Second)
			c.during(r, s)
			out := <-s.Outcome
			var kinds []scene.Kind
			for _, shown := range r.screen.shots[from:] {
				kinds = append(kinds, shown.view.Kind)
				require.NotEmpty(t, shown.view.Amount, name)
			}
			require.Equal(t, c.want, kinds, name)
			r.Told(s, ecr.Told)
			pass(11 * time.Second)
			require.Equal(t, scene.Idle, r.screen.last().Kind, "%s: %s", name, out.Result)
		})
	}
}

// TestField2_U6WhyNothingWasPaid: a sale that never left the terminal was not cancelled by anybody.
func TestField2_U6WhyNothingWasPaid(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.lock(func() {
			r.world.onInit = func(int, aapay.Type, aapay.Request) (*aapay.Reply, error, bool) { return nil, errGone, true }
		})
		s := r.sale(500)
		require.Equal(t, ecr.NoConnection, (<-s.Outcome).Code)
		require.Equal(t, scene.NoConnection, r.screen.last().Kind)
		r.Told(s, ecr.Told)
	})
}
