#!/bin/sh
# Builds for every target and runs on emulated ARM.
#   cross.sh build   bin/posagent-TARGET for each target, and their sizes: a shop's terminal gets the same program as a developer;
#                    beside each what is inside it (.cdx.json) and the licences of that (.copyright), as a package has them
#   cross.sh run     the demo on emulated armv5, armv7 and arm64, where the emulators are
set -u
go=${GO:-go}
version=$(sh cross/version.sh)
mkdir -p bin

build() { # build TARGET
	case $1 in
	armv*) arch=arm arm=${1#armv} ;;
	*) arch=$1 arm= ;;
	esac
	# HTTP/2 brings a terminal nothing. cross/check holds the budget with the same flags.
	CGO_ENABLED=0 GOOS=linux GOARCH=$arch GOARM=$arm "$go" build -trimpath -tags nethttpomithttp2 -ldflags="-s -w -X main.linked=$version" -o "bin/posagent-$1" ./cmd/posagent
}

missing() { # missing TOOL PACKAGE WHAT
	command -v "$1" >/dev/null 2>&1 && return 1
	line="not run: $3 needs $1 (install: apt-get install $2)"
	if [ "${REQUIRE_ALL:-}" = 1 ]; then
		echo "$line"
		exit 1
	fi
	if [ -n "${NOT_RUN:-}" ]; then echo "$line" >>"$NOT_RUN"; else echo "$line"; fi
	return 0
}

# emulated TARGET EMULATOR: the demo executes its own binary, so every process of it has to be emulated: proot does that.
# The demo bounds each of its steps. What hangs all the same is the emulator: the story is begun again once, and it is said.
emulated() {
	log=bin/demo-$1.log
	for try in 1 2; do
		timeout -k 10 "${DEMO_LIMIT:-600}" proot -q "$2" "bin/posagent-$1" demo >"$log" 2>&1
		case $? in
		0)
			echo "demo on $1 ($2): $(tail -n 1 "$log")"
			return 0
			;;
		124 | 137) why="nothing more after ${DEMO_LIMIT:-600} s" ;;
		*) why=$(grep -o 'the emulator deadlocks while forking' "$log") || break ;;
		esac
		echo "demo on $1 ($2): $why; the last line was: $(tail -n 1 "$log")"
		[ "$try" = 2 ] || echo "demo on $1 ($2): begun again once, as this is a fault of the emulator"
	done
	cat "$log"
	echo "demo on $1 ($2): FAILED"
	return 1
}

case ${1:-} in
build)
	for target in armv5 armv6 armv7 arm64 amd64 386; do
		build "$target" || exit 1
		printf '%-6s %9d bytes\n' "$target" "$(wc -c <"bin/posagent-$target")"
	done
	VERSION=$version "$go" run ./cross/build/packages about bin/posagent-armv5 bin/posagent-armv6 bin/posagent-armv7 bin/posagent-arm64 bin/posagent-amd64 bin/posagent-386
	;;
run)
	missing proot proot "the demo on emulated ARM" && exit 0
	missing qemu-arm-static qemu-user-static "the demo on emulated ARM" && exit 0
	for target in armv7 arm64 armv5; do build "$target" || exit 1; done
	# They mostly wait, so they run side by side.
	emulated armv7 'qemu-arm-static' & first=$!
	emulated arm64 'qemu-aarch64-static' & second=$!
	emulated armv5 'qemu-arm-static -cpu arm926' & third=$!
	status=0
	for run in $first $second $third; do wait "$run" || status=1; done
	exit $status
	;;
*)
	echo "usage: cross.sh build|run" >&2
	exit 2
	;;
esac
