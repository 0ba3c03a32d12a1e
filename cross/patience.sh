#!/bin/sh
# patience.sh MINUTES: what a package of tests may take, as `go test -timeout` reads it: MINUTES on an idle machine, and as
# often more as processes stand in line for a processor.
line=$(cut -d. -f1 /proc/loadavg 2>/dev/null || echo 1)
processors=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
echo "$((${1:?minutes} * (1 + line / processors)))m"
