#!/bin/sh
# Repeats what can fail in passing: every package whose tests start a process, listen, open a line or run a background loop.
#   N=20     how often
#   BUSY=0   that many processes that only burn processor time run beside it
# A package that fails is named with its seed and its output, and the rest goes on.
set -u
go=${GO:-go}
packages='./cmd/posagent ./agent/... ./device/... ./ecr/session ./ecr/register ./store/... ./schemes/backend/... ./cross/badinput ./cross/kill
	./cross/upstream ./cross/disk ./cross/lossy ./cross/line ./cross/arm'
busy=''
i=0
while [ "$i" -lt "${BUSY:-0}" ]; do
	(while :; do :; done) &
	busy="$busy $!"
	i=$((i + 1))
done
log=$(mktemp)
trap 'kill $busy 2>/dev/null; rm -f "$log"' EXIT
trap 'exit 130' INT TERM
failed=''
count=0
for package in $("$go" list $packages); do
	began=$(date +%s)
	if "$go" test -count="${N:-20}" -shuffle=on -timeout 60m "$package" >"$log" 2>&1; then
		printf 'flaky: %4d s  %s\n' "$(($(date +%s) - began))" "$(tail -n 1 "$log" | cut -c1-100)"
	else
		cat "$log"
		failed="$failed $package"
	fi
	count=$((count + 1))
done
if [ -n "$failed" ]; then
	echo "flaky: FAILED:$failed"
	exit 1
fi
echo "flaky: $count packages, ${N:-20} times each, ${BUSY:-0} busy loops beside them: 0 failures"
