package doctor

import (
	"context"
	"slices"

	"posagent/agent/ready"
)

// A finding saw names and values by turns; "seen" is the sentence for a person.
func passed(saw ...string) Finding { return Finding{Status: Pass, Saw: saw} }
func failed(saw ...string) Finding { return Finding{Status: Fail, Saw: saw} }
func warned(saw ...string) Finding { return Finding{Status: Warn, Saw: saw} }

// failedIf fails with the sentence where bad is so, and passes otherwise.
func failedIf(bad bool, sentence string) Finding {
	if bad {
		return failed("seen", sentence)
	}
	return passed()
}

// warnedIf warns with the sentence where bad is so, and passes otherwise.
func warnedIf(bad bool, sentence string) Finding {
	if bad {
		return warned("seen", sentence)
	}
	return passed()
}

// failedBy fails with an error, and passes where there is none.
func failedBy(err error) Finding {
	if err != nil {
		return failed("seen", err.Error())
	}
	return passed()
}

// measured are names and values by turns that a finding shows, whether it passes or not.
type measured []string

func (m measured) passed() Finding { return passed(m...) }

func (m measured) failed(sentence string) Finding {
	return failed(slices.Concat(m, measured{"seen", sentence})...)
}

func (m measured) warned(sentence string) Finding {
	return warned(slices.Concat(m, measured{"seen", sentence})...)
}

// nothing is a check that has nothing to look at.
func nothing(why string) Finding { return Finding{Status: Skip, Saw: []string{"seen", why}} }

// behind is a check that waits for another one's failure that its facts show.
func behind(id string) Finding { return Finding{Status: Skip, Waits: id} }

// typed gives a finding a remedy of its own.
func (f Finding) typed(text, command string) Finding {
	f.Do, f.Type = text, command
	return f
}

// said is a failure that package ready has words for.
func (f *Facts) said(t ready.Trouble) Finding {
	s := ready.Say(t, f.Place)
	return failed("seen", s.Words, "cause", string(s.Cause)).typed(s.Remedy, "")
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
		return nothing(a.None)
	}
	return judge(f, a)
}
