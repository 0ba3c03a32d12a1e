package doctor

import (
	"context"
	"fmt"

	"posagent/agent/doctor/exam"
)

// printerChecks are about the receipt printer. None fails: no sale waits for paper.
func printerChecks() []Check {
	return []Check{{
		ID: "PA-PRN-001", Severity: exam.Minor, After: []string{"PA-CFG-005"}, Command: "posagent status{flags}",
		Look: func(_ context.Context, f *Facts) Finding {
			switch p := f.Daemon.Printer; {
			case !f.Daemon.Running || !f.Daemon.Told:
				return exam.Nothing("no terminal runs that could have printed something")
			case !p.Set:
				return exam.Nothing("no printer is set")
			case p.Reason != "":
				return exam.Warned("seen", exam.Clean(p.Reason), "waiting", fmt.Sprint(p.Waiting))
			case p.Behind > 0:
				return exam.Warned("seen", fmt.Sprintf("%d document(s) cut off again and again", p.Behind), "waiting", fmt.Sprint(p.Waiting))
			case p.NearEnd:
				return exam.Warned("seen", "the paper ends soon", "waiting", fmt.Sprint(p.Waiting))
			default:
				return exam.Passed("waiting", fmt.Sprint(p.Waiting))
			}
		},
	}}
}
