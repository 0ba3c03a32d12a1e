package doctor

import "context"

// listChecks are about the till's list of the daily comparison. No sale needs it.
func listChecks() []Check {
	return []Check{{
		ID: "PA-REC-001", Severity: Major, After: []string{"PA-CFG-005"}, Command: "ls -l {list}",
		Look: func(_ context.Context, f *Facts) Finding {
			if f.Config.List == "" {
				return nothing("no list is compared daily")
			}
			if words, remedy := f.List(); words != "" {
				return failed("seen", clean(words), "file", f.Config.List).typed(clean(remedy), "")
			}
			return passed("file", f.Config.List)
		},
	}}
}
