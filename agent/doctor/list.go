package doctor

import (
	"context"

	"posagent/agent/doctor/exam"
)

// listChecks are about the till's list of the daily comparison. No sale needs it.
func listChecks() []Check {
	return []Check{{
		ID: "PA-REC-001", Severity: exam.Major, After: []string{"PA-CFG-005"}, Command: "ls -l {list}",
		Look: func(_ context.Context, f *Facts) Finding {
			if f.Config.List == "" {
				return exam.Nothing("no list is compared daily")
			}
			if words, remedy := f.List(); words != "" {
				return exam.Failed("seen", exam.Clean(words), "file", f.Config.List).Typed(exam.Clean(remedy), "")
			}
			return exam.Passed("file", f.Config.List)
		},
	}}
}
