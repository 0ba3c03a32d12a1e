package doctor

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// guardChecks are about who else can reach the terminal.
func guardChecks() []Check {
	return []Check{
		{
			ID: "PA-SEC-001", Title: "the token of the local port is private", Severity: Critical, After: []string{"PA-CFG-005", "PA-DSK-001"},
			Means:  "another account may have read or planted the token; the terminal does not start",
			How:    "owner, mode, links and length of the token's file are read",
			Remedy: Remedy{Text: "move the file away; the next start makes a new token", Command: "ls -l {state}"},
			Look: func(_ context.Context, f *Facts) Finding {
				if err := f.Token(); err != nil {
					return failed("seen", err.Error())
				}
				return passed()
			},
		},
		{
			ID: "PA-SEC-002", Title: "no register line is open to the whole network", Severity: Minor, After: []string{"PA-CFG-005"},
			Means:  "each device of the shop's network can ask the terminal for a refund",
			How:    "[ecr] tcp, password, allow and open are read",
			Remedy: Remedy{Text: "set allow or password of [ecr] in {config}", Command: "posagent config show{flags}"},
			Look: func(_ context.Context, f *Facts) Finding {
				if f.Config.Open {
					return warned("seen", f.Config.TCP+" takes every address without a password")
				}
				return passed()
			},
		},
		{
			ID: "PA-SEC-003", Title: "the terminal does not run as root", Severity: Minor,
			Means:  "a fault in the program would reach the whole box",
			How:    "the user of the running process is read",
			Remedy: Remedy{Text: "run posagent as an account of its own", Command: "ps -o user= -C posagent"},
			Look: func(_ context.Context, f *Facts) Finding {
				if !f.Daemon.Running {
					return nothing("no terminal runs")
				}
				uid, ok := userOf(filepath.Join(f.Proc, strconv.Itoa(f.Daemon.PID), "status"))
				switch {
				case !ok:
					return nothing("the kernel does not say")
				case uid == 0:
					return warned("seen", "it runs as root")
				}
				return passed("uid", fmt.Sprint(uid))
			},
		},
		{
			ID: "PA-SEC-004", Title: "memory is not swapped to a medium", Severity: Minor,
			Means:  "parts of memory, card data among them, may be written to the medium in clear",
			How:    "the kernel's list of swap areas is read; compressed memory and encrypted devices do not count",
			Remedy: Remedy{Text: "switch swap off, or encrypt it", Command: "swapon --show"},
			Look: func(_ context.Context, f *Facts) Finding {
				if areas := swaps(filepath.Join(f.Proc, "swaps")); len(areas) > 0 {
					return warned("seen", "swap on "+strings.Join(areas, " "))
				}
				return passed()
			},
		},
	}
}

// userOf reads the effective user of a process.
func userOf(status string) (uid int, ok bool) {
	file, err := os.Open(status)
	if err != nil {
		return 0, false
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > 2 && fields[0] == "Uid:" {
			uid, err = strconv.Atoi(fields[2])
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
