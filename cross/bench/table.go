package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// row is one line of the table.
type row struct {
	what    string
	ours    string
	limit   string
	ratio   float64 // of what the goal speaks of; 0 = none
	atLeast float64 // goal; 0 = none
	atMost  float64 // goal; 0 = none
	note    string
}

func (r row) failed() bool {
	return r.atLeast > 0 && r.ratio < r.atLeast || r.atMost > 0 && r.ratio > r.atMost
}

func (r row) goal() string {
	switch {
	case r.atLeast > 0:
		return ">= " + plain(r.atLeast)
	case r.atMost > 0:
		return "<= " + plain(r.atMost)
	}
	return ""
}

func (r row) verdict() string {
	switch {
	case r.failed():
		return "FAIL"
	case r.goal() != "":
		return "ok"
	}
	return ""
}

// plain writes a ratio with as many digits as it deserves.
func plain(f float64) string {
	switch {
	case f == 0:
		return ""
	case f < 0.1:
		return fmt.Sprintf("%.4f", f)
	case f < 10:
		return fmt.Sprintf("%.2f", f)
	}
	return fmt.Sprintf("%.1f", f)
}

// table collects rows and prints them as they come.
type table struct {
	rows   []row
	shown  int
	notRun []string
}

func (t *table) add(r row) { t.rows = append(t.rows, r) }

func (t *table) missing(format string, args ...any) {
	t.notRun = append(t.notRun, fmt.Sprintf(format, args...))
}

const layout = "%-58s %14s %14s %8s %9s %s\n"

// flush prints the rows that were added since.
func (t *table) flush(out io.Writer, part string) {
	if t.shown == len(t.rows) {
		return
	}
	if t.shown == 0 {
		fmt.Fprintf(out, "\n"+layout, "", "ours", "limit", "ratio", "goal", "")
	}
	fmt.Fprintf(out, "-- %s\n", part)
	for _, r := range t.rows[t.shown:] {
		line := fmt.Sprintf(layout, r.what, r.ours, r.limit, plain(r.ratio), r.goal(), strings.TrimSpace(r.verdict()+"  "+r.note))
		fmt.Fprintln(out, strings.TrimRight(line, " \n"))
	}
	t.shown = len(t.rows)
}

// end prints what the table comes to.
func (t *table) end(out io.Writer) bool {
	failed, judged := failures(t.rows), 0
	for _, r := range t.rows {
		if r.goal() != "" {
			judged++
		}
	}
	for _, line := range t.notRun {
		fmt.Fprintln(out, "not run: "+line)
	}
	fmt.Fprintf(out, "%d rows, %d with a goal, %d failed\n", len(t.rows), judged, failed)
	return failed == 0
}

func failures(rows []row) int {
	n := 0
	for _, r := range rows {
		if r.failed() {
			n++
		}
	}
	return n
}

// median of any numbers; 0 of none.
func median[T cmp.Ordered](list []T) T { return quantile(list, 0.5) }

func quantile[T cmp.Ordered](list []T, q float64) T {
	var none T
	if len(list) == 0 {
		return none
	}
	sorted := slices.Sorted(slices.Values(list))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// short writes a duration with three digits.
func short(d time.Duration) string {
	switch {
	case d >= 100*time.Millisecond:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.2f ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.0f us", float64(d)/1e3)
}

func perSecond(f float64) string { return fmt.Sprintf("%.0f /s", f) }

func kib(n float64) string { return fmt.Sprintf("%.1f KiB", n/1024) }

func mib(n float64) string { return fmt.Sprintf("%.2f MiB", n/(1<<20)) }

// fileSystem names the file system of a directory.
func fileSystem(dir string) string {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return "an unknown file system"
	}
	switch int64(st.Type) {
	case 0xEF53:
		return "ext4"
	case 0x01021994:
		return "tmpfs (no disk: the durable rows mean nothing)"
	case 0x794c7630:
		return "overlayfs"
	case 0x9123683E:
		return "btrfs"
	case 0x58465342:
		return "xfs"
	}
	return fmt.Sprintf("file system %#x", int64(st.Type))
}
