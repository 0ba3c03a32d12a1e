#!/bin/sh
# All of `make test`: every rule of the product, with Go alone. It installs nothing and leaves nothing behind.
set -u
go=${GO:-go}
processors=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
failed=''

# A folder of its own, with a short name as sockets want it: what a test or a killed process leaves goes with it. So do the lock files
# of pseudo terminals, which a terminal leaves in the machine's folder of locks.
# Its name is the tree's, as Go keeps a result for one value of TMPDIR; a second run beside this one has another.
own=${TMPDIR:-/tmp}/pa$(pwd | cksum | cut -d' ' -f1)
mkdir -m 700 "$own" 2>/dev/null || own=$(mktemp -d "${TMPDIR:-/tmp}/pa.XXXX") || exit 1
TMPDIR=$own
export TMPDIR
gone() {
	find /run/lock -maxdepth 1 -name 'LCK..pts_*' -user "$(id -u)" -newer "$TMPDIR/began" -exec rm -f {} + 2>/dev/null
	rm -rf "$TMPDIR"
}
trap gone EXIT
trap 'exit 130' INT TERM
: >"$TMPDIR/began"

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

tests() {
	PROGRAMS=$(GO="$go" sh cross/programs.sh) || return 1
	export PROGRAMS
	# Vet runs with each package. Twice as many packages at a time as processors: the tests wait more than they compute.
	"$go" test -short -vet=all -timeout "$(sh cross/patience.sh 20)" -p "$((2 * processors))" ${PACKAGES:-./...}
}

[ -d out/programs ] || echo 'the first run compiles the SQLite engine and every test: up to eight minutes; the next one takes seconds'
step gofmt formatted
step tests tests
if [ -n "$failed" ]; then
	echo "== FAILED:$failed"
	exit 1
fi
echo "== all passed (make verify runs what needs tools, emulators, a browser and PostgreSQL)"
