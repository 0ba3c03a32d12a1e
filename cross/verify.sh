#!/bin/sh
# All of `make verify`: make test, then what it leaves out. ONLY="race arm" runs these steps alone, without make test.
#   race      the packages with most goroutines under the race detector, in random order
#   tests     every package that leaves something to this level, in full and in random order; the other half of them has no race step
#   postgres  the packages whose tests run on a PostgreSQL server, likewise
#   unit      the program's own packages under the system call filters of the packages' unit
#   arm       the demo on emulated armv5, armv7 and arm64
#   browser   the pages in Chromium
#   workflow  the workflow of continuous integration, read by actionlint
# Every step runs, even after one has failed. The end says what failed, what was not run, and how long each step took.
set -u
go=${GO:-go}
processors=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
only=${ONLY:-test race tests postgres unit arm browser workflow}
race=${RACE:-./ecr/... ./device/... ./agent/... ./schemes/wire ./schemes/backend/books}
NOT_RUN=$(mktemp)
export NOT_RUN
trap 'rm -f "$NOT_RUN"' EXIT
failed='' times=''

step() { # step NAME COMMAND...
	case " $only " in *" $1 "*) ;; *) return ;; esac
	name=$1
	shift
	echo "== $name"
	start=$(date +%s)
	"$@" || failed="$failed $name"
	times="$times $name $(($(date +%s) - start)) s;"
}

tools() {
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
		sh cross/tools.sh
	fi
}

# leaving PATTERN: the packages whose tests, or whose suites, use what PATTERN names.
leaving() { grep -rlE "$1" --include='*_test.go' agent cmd cross device ecr schemes store | grep -v '^cross/browser/' | xargs -n 1 dirname | sort -u | sed 's,^,./,'; }

# without LIST: the lines of standard input that LIST lacks.
without() { grep -vxF "$1" || true; }

postgres='pgtest\.|pgserver\.'

packages() { # packages STEP
	case $1 in
	race) "$go" list $race ;;
	postgres) leaving "$postgres" | xargs "$go" list ;;
	tests)
		left=$(leaving 'need\.(Tool|Verify|Size|Missing)\(' | xargs "$go" list)
		{
			"$go" list ./... | without "$("$go" list $race)"
			echo "$left"
		} | sort -u | without "$(leaving "$postgres" | xargs "$go" list)"
		;;
	esac
}

programs() {
	PROGRAMS=$(GO="$go" sh cross/programs.sh) && export PROGRAMS
}

raced() {
	command -v gcc >/dev/null 2>&1 || {
		echo 'not run: the race detector needs gcc (install: apt-get install gcc libc6-dev)' | tee -a "$NOT_RUN"
		return 0
	}
	# The SQLite engine is C turned into Go and starts no goroutine: watched, it took four fifths of the time of this step.
	CGO_ENABLED=1 "$go" test -race '-gcflags=modernc.org/...=-race=false' -short -vet=off -shuffle=on -timeout "$(sh cross/patience.sh 30)" $(packages race)
}

whole() { # whole STEP PACKAGES-AT-A-TIME [COMMAND that runs go]
	programs && ${3:-} "$go" test -vet=off -shuffle=on -timeout "$(sh cross/patience.sh 30)" -p "$2" $(packages "$1")
}

# What the unit of the packages forbids, and the program does, fails here: what it starts, opens and asks of the kernel.
unit='./agent/control ./agent/port ./device/line ./device/node ./ecr/socket ./store/sqlite'

filtered() {
	command -v systemd-analyze >/dev/null 2>&1 || {
		echo "not run: the unit's filters need systemd-analyze (install: apt-get install systemd)" | tee -a "$NOT_RUN"
		return 0
	}
	programs && "$go" build -o out/under-unit ./cross/unit && out/under-unit true &&
		"$go" test -short -vet=off -timeout "$(sh cross/patience.sh 30)" -exec "$PWD/out/under-unit" $unit &&
		"$go" test -short -vet=off -timeout "$(sh cross/patience.sh 30)" -exec "$PWD/out/under-unit" -run 'TestScripts/(print|offline|keypad)|TestNexo|TestField2_A8' ./cmd/posagent
}

workflow() { "$go" run github.com/rhysd/actionlint/cmd/actionlint@v1.7.7 .github/workflows/*.yml; }

step test sh cross/test.sh
only="$only tools"
step tools tools
step race raced
step tests whole tests "$((2 * processors))"
step postgres whole postgres "$processors" "$go run ./cross/postgres"
step unit filtered
step arm sh cross/cross.sh run
step browser sh cross/browser.sh
step workflow workflow

echo "== took:$times"
if [ -s "$NOT_RUN" ]; then
	echo "== not run"
	sort -u "$NOT_RUN"
	[ "${REQUIRE_ALL:-}" = 1 ] && failed="$failed not-run"
fi
if [ -n "$failed" ]; then
	echo "== FAILED:$failed"
	exit 1
fi
echo "== all passed"
