package agent

import "context"

// Progress returns nil once the journal's writer, the judgement of readiness, the outbox and the checkout have each taken another
// turn. It waits as long as one of them does not, and fails when ctx ends before. It leaves the checkout out until that has resumed
// older sales: a full disk keeps it there, and a restart frees no space.
func (a *Agent) Progress(ctx context.Context) error {
	a.asWriter(func() {})
	a.Judge(ctx)
	a.Lines()
	if err := a.outbox.Turn(ctx); err != nil || !a.drive.Resumed() {
		return err
	}
	return a.drive.Turn(ctx)
}
