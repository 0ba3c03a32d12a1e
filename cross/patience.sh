#!/bin/sh
# patience.sh MINUTES: what a package of tests may take, as `go test -timeout` reads it: MINUTES on an idle machine, four times that
# where more than four processes stand in line for each processor, sixteen times beyond sixteen. The steps are wide, as Go keeps a result
# for one value of -timeout: a run right after another finds more load, and must find the results, too.
line=$(cut -d. -f1 /proc/loadavg 2>/dev/null || echo 1)
processors=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
often=1
while [ "$line" -gt "$((4 * often * processors))" ]; do often=$((4 * often)); done
echo "$((${1:?minutes} * often))m"
