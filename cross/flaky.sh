#!/bin/sh
# Repeats what can fail in passing, at the level of make test: every package whose tests start a process, listen, open a line, run
# a background loop or draw from a seed.
#   N=20        how often
#   BUSY=0      that many processes that only burn processor time run beside it
#   LANES=2     packages at a time, as many as there are processors unless given
#   PACKAGES=   these alone
# A package that fails is named with its seed and its output, and the rest goes on.
set -u
go=${GO:-go}
n=${N:-20}
# The long ones come first: at the end no lane waits for one of them.
packages=${PACKAGES:-'./cmd/posagent ./cross/campaign/kill ./cross/campaign/doctor ./cross/campaign/badinput ./cross/campaign/upstream ./cross/campaign/disk ./cross/campaign/lossy ./cross/campaign/line ./cross/campaign/books ./ecr/torture ./ecr/session ./ecr/jsonl/... ./ecr/caisseap/... ./ecr/nexo/... ./ecr/ecr17/...
	./agent/... ./device/... ./ecr/till/... ./store/... ./schemes/backend/...'}

if [ "${1:-}" = one ]; then # flaky.sh one PACKAGE
	log=$(mktemp)
	began=$(date +%s)
	unset N # it is the size of a campaign, too
	if "$go" test -short -count="$n" -shuffle=on -timeout "$(sh cross/patience.sh 240)" "$2" >"$log" 2>&1; then
		printf 'flaky: %4d s  %s\n' "$(($(date +%s) - began))" "$(tail -n 1 "$log" | cut -c1-100)"
		rm -f "$log"
		exit 0
	fi
	cat "$log"
	rm -f "$log"
	printf '%s\n' "$2" >>"$FAILED"
	exit 1
fi

busy=''
i=0
while [ "$i" -lt "${BUSY:-0}" ]; do
	(while :; do :; done) &
	busy="$busy $!"
	i=$((i + 1))
done
FAILED=$(mktemp)
trap 'kill $busy 2>/dev/null; rm -f "$FAILED"' EXIT
trap 'exit 130' INT TERM
PROGRAMS=$(GO="$go" sh cross/programs.sh) || exit 1
export FAILED GO="$go" N="$n" PROGRAMS
list=$("$go" list $packages) || exit 1
lanes=${LANES:-$(getconf _NPROCESSORS_ONLN)}
if ! echo "$list" | xargs -n 1 -P "$lanes" sh cross/flaky.sh one || [ -s "$FAILED" ]; then
	echo "flaky: FAILED: $(tr '\n' ' ' <"$FAILED")"
	exit 1
fi
echo "flaky: $(echo "$list" | wc -l) packages, $n times each, $lanes at a time, ${BUSY:-0} busy loops beside them: 0 failures"
