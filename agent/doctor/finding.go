package doctor

import (
	"context"

	"posagent/agent/doctor/exam"
	"posagent/agent/ready"
)

// What the table is made of.
type (
	// Check is one row of the table.
	Check = exam.Check[*Facts]
	// Look looks at the facts and judges them.
	Look = exam.Look[*Facts]
	// Finding is what a check answers.
	Finding = exam.Finding
)

var _ exam.Facts = (*Facts)(nil)

// said is a failure that package ready has words for.
func (f *Facts) said(t ready.Trouble) Finding {
	s := ready.Say(t, f.Place)
	return exam.Failed("seen", s.Words, "cause", string(s.Cause)).Typed(s.Remedy, "")
}

// ofJournal looks at what was read of the journal.
func ofJournal(judge func(f *Facts, j Journal) Finding) Look {
	return func(ctx context.Context, f *Facts) Finding { return judge(f, f.Journal(ctx)) }
}

// ofBackend looks at what asking the backend for the method list came to. It has nothing to look at where the backend was not asked.
func ofBackend(judge func(f *Facts, a Answer) Finding) Look {
	return func(ctx context.Context, f *Facts) Finding { return f.asked(f.Backend(ctx), judge) }
}

func (f *Facts) asked(a Answer, judge func(f *Facts, a Answer) Finding) Finding {
	if a.None != "" {
		return exam.Nothing(a.None)
	}
	return judge(f, a)
}
