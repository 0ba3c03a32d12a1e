package live

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/ecr"
)

const key = "0198c0de-0000-7000-8000-000000000001"

func TestTheNewerCommitSetsTheTimer(t *testing.T) {
	s := New()
	row := &journal.Row{Key: key, State: checkout.State{Phase: checkout.Waiting}}
	first, fresh := s.Advance(row, 2, true)
	require.True(t, fresh)
	_, fresh = s.Advance(row, 1, true)
	require.False(t, fresh, "an older commit that is performed later")
	require.EqualValues(t, 2, s.Seq(key))
	stop, fresh := s.Advance(row, 3, false)
	require.True(t, fresh)
	require.Nil(t, stop)
	<-first // the timer before is stopped
}

func TestAnOlderCommitDoesNotReplaceAQuestion(t *testing.T) {
	s := New()
	row := &journal.Row{Key: key, State: checkout.State{Phase: checkout.Waiting}}
	s.Advance(row, 2, false)
	first, ok := s.PlanRead(key, time.Second, 2*time.Second, 10*time.Second, 2)
	require.True(t, ok)
	require.Equal(t, time.Second, first.After)
	_, ok = s.PlanRead(key, time.Second, 2*time.Second, 10*time.Second, 1)
	require.False(t, ok)
	s.BeginRead(key, first, 11*time.Second)
	late, ok := s.PlanRead(key, 0, 2*time.Second, 12*time.Second, 1)
	require.True(t, ok, "where none waits it goes on")
	require.Equal(t, time.Second, late.After, "never faster than the floor")
	require.True(t, s.Overtaken(key, first))
	require.False(t, s.Overtaken(key, late))
	s.StopRead(key, 1)
	require.False(t, s.Overtaken(key, late))
	s.StopRead(key, 2)
	<-late.Stop
	require.True(t, s.Overtaken(key, late))
}

func TestAWaiterIsToldOnce(t *testing.T) {
	s := New()
	sale, w := s.Join(key)
	s.SetProgress(key, ecr.Progress{Step: ecr.StepStarting})
	s.SetProgress(key, ecr.Progress{Step: ecr.StepWaiting})
	require.Equal(t, ecr.StepWaiting, (<-sale.Progress).Step, "the latest alone")
	require.True(t, s.Take(key, w))
	require.False(t, s.Take(key, w))
	all, alone := s.TakeAll(key)
	require.Empty(t, all)
	require.False(t, alone, "it is being told just now")
	require.True(t, s.Held(key))
	w.Give(ecr.Outcome{Result: ecr.Approved})
	require.Equal(t, ecr.Approved, (<-sale.Outcome).Result)
	s.Unrecorded(key, ecr.Told)
	require.Equal(t, ecr.Told, s.Heard(key))
	s.Released(key, false)
	require.False(t, s.Held(key))
	require.Equal(t, ecr.Lost, s.Heard(key))
}

func TestASaleIsForgottenWhenNobodyNeedsIt(t *testing.T) {
	s := New()
	row := &journal.Row{Key: key, State: checkout.State{Phase: checkout.Done}}
	_, w := s.Join(key)
	known, over := s.Find(key)
	require.NotNil(t, known)
	s.Forget(row)
	require.NotNil(t, s.sales[key], "a caller waits for it")
	require.Equal(t, []*Waiter{w}, s.GiveUp(known, ecr.Outcome{Result: ecr.Aborted}))
	require.True(t, s.GivenUp(key))
	s.Forget(row)
	require.NotNil(t, s.sales[key], "it is being told")
	s.Released(key, false)
	s.Forget(row)
	<-over
	require.Empty(t, s.sales)
	require.False(t, s.GivenUp(key))
}
