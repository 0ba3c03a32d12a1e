package doctor

import (
	"context"
	"fmt"
)

// printerChecks are about the receipt printer. None fails: no sale waits for paper.
func printerChecks() []Check {
	return []Check{{
		ID: "PA-PRN-001", Severity: Minor, After: []string{"PA-CFG-005"}, Command: "posagent status{flags}",
		Look: func(_ context.Context, f *Facts) Finding {
			switch p := f.Daemon.Printer; {
			case !f.Daemon.Running || !f.Daemon.Told:
				return nothing("no terminal runs that could have printed something")
			case !p.Set:
				return nothing("no printer is set")
			case p.Reason != "":
				return warned("seen", clean(p.Reason), "waiting", fmt.Sprint(p.Waiting))
			case p.Behind > 0:
				return warned("seen", fmt.Sprintf("%d document(s) cut off again and again", p.Behind), "waiting", fmt.Sprint(p.Waiting))
			case p.NearEnd:
				return warned("seen", "the paper ends soon", "waiting", fmt.Sprint(p.Waiting))
			default:
				return passed("waiting", fmt.Sprint(p.Waiting))
			}
		},
	}}
}
