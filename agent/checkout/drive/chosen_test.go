package drive_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
)

// The timers are those of the method that was chosen, not of the one that was offered first: a
// journal that works never makes a register hear "aborted" while the sale lives.
func TestField_J8TheChosenMethodsTimersCount(t *testing.T) {
	terminal(t, func(r *rig) {
		short, long := swish(), swish()
		one, five := int32(20), int32(300)
		short.StaleTimeOut, short.FinalizeTimeOut = &one, &one
		long.PaymentProviderID, long.Name, long.Priority = 2, "SLOW", 2
		long.StaleTimeOut, long.FinalizeTimeOut = &five, &five
		r.defs, r.cfg.TimeoutUnit = []methods.Definition{short, long}, "s"
		r.cfg.Choose = true
		p := &prompter{answers: make(chan answer, 1)}
		r.prompt = p
		r.Restart(false)
		r.world.onStatus = say(1, aapay.Authorized, "")
		s := r.Accepted(ecr.Request{Amount: 700})
		synctest.Wait()
		require.Equal(t, checkout.Choosing, r.phase(s.ID))
		p.answers <- answer{method: "SLOW"}
		synctest.Wait()
		r.Waits(s.ID)
		pass(5 * time.Minute)
		require.Equal(t, checkout.Waiting, r.phase(s.ID))
		r.world.lock(func() { r.world.onStatus = say(1, aapay.Finalized, aapay.Commit) })
		o := <-s.Outcome
		require.Equal(t, ecr.Approved, o.Result)
		r.Told(s, ecr.Told)
		require.Equal(t, checkout.Confirmed, r.phase(s.ID))
	})
}
