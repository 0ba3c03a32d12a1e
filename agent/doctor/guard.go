package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"posagent/agent/doctor/exam"
)

// guardChecks are about who else can reach the terminal.
func guardChecks() []Check {
	return []Check{
		{
			ID: "PA-SEC-001", Severity: exam.Critical, After: []string{"PA-CFG-005", "PA-DSK-001"}, Command: "ls -l {state}",
			Look: func(_ context.Context, f *Facts) Finding { return exam.FailedBy(f.Token()) },
		},
		{
			ID: "PA-SEC-002", Severity: exam.Minor, After: []string{"PA-CFG-005"}, Command: showConfig,
			Look: func(_ context.Context, f *Facts) Finding {
				return exam.WarnedIf(len(f.Config.Open) > 0, strings.Join(f.Config.Open, " ")+" takes every address without a password")
			},
		},
		{
			ID: "PA-SEC-003", Severity: exam.Minor, Command: "ps -o user= -C posagent",
			Look: func(_ context.Context, f *Facts) Finding {
				if !f.Daemon.Running {
					return exam.Nothing("no terminal runs")
				}
				uid, ok := userOf(filepath.Join(f.Proc, strconv.Itoa(f.Daemon.PID), "status"))
				switch {
				case !ok:
					return exam.Nothing("the kernel does not say")
				case uid == 0:
					return exam.Warned("seen", "it runs as root")
				}
				return exam.Passed("uid", fmt.Sprint(uid))
			},
		},
		{
			ID: "PA-SEC-004", Severity: exam.Minor, Command: "swapon --show",
			Look: func(_ context.Context, f *Facts) Finding {
				areas := swaps(filepath.Join(f.Proc, "swaps"))
				return exam.WarnedIf(len(areas) > 0, "swap on "+strings.Join(areas, " "))
			},
		},
	}
}

// userOf reads the effective user of a process.
func userOf(status string) (uid int, ok bool) {
	for line := range lines(status) {
		if fields := strings.Fields(line); len(fields) > 2 && fields[0] == "Uid:" {
			uid, err := strconv.Atoi(fields[2])
			return uid, err == nil
		}
	}
	return 0, false
}

// swaps lists the swap areas on a medium.
func swaps(path string) (list []string) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	for i, line := range strings.Split(string(data), "\n") {
		fields := strings.Fields(line)
		if i == 0 || len(fields) < 2 || strings.HasPrefix(fields[0], "/dev/zram") || strings.HasPrefix(fields[0], "/dev/dm-") || strings.HasPrefix(fields[0], "/dev/mapper/") {
			continue
		}
		list = append(list, fields[0])
	}
	return list
}
