#!/bin/sh
# All of `make test`. Every step runs, even after one has failed; the end says what failed and what was not run.
set -u
go=${GO:-go}
POSAGENT_NOT_RUN=$(mktemp)
export POSAGENT_NOT_RUN
trap 'rm -f "$POSAGENT_NOT_RUN"' EXIT
failed=''

step() { # step NAME COMMAND...
	name=$1
	shift
	echo "== $name"
	"$@" || failed="$failed $name"
}

formatted() {
	bad=$("$("$go" env GOROOT)/bin/gofmt" -l agent cmd cross device ecr schemes store) || return 1
	[ -z "$bad" ] || { echo "not formatted by gofmt:"; echo "$bad"; return 1; }
}

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
	step tools sh cross/tools.sh
fi
step gofmt formatted
step vet "$go" vet ./...
# Twice as many packages at a time as processors: the tests wait more than they compute.
step tests "$go" test -timeout 20m -shuffle=on -p "$((2 * $(getconf _NPROCESSORS_ONLN)))" ./...
step arm sh cross/cross.sh run
step browser sh cross/browser.sh

if [ -s "$POSAGENT_NOT_RUN" ]; then
	echo "== not run"
	sort -u "$POSAGENT_NOT_RUN"
	[ "${REQUIRE_ALL:-}" = 1 ] && failed="$failed not-run"
fi
if [ -n "$failed" ]; then
	echo "== FAILED:$failed"
	exit 1
fi
echo "== all passed"
