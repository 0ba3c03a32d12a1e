#!/bin/sh
# Installs what some tests need, where this is root on a Debian, and says so first. Quick when all is there. A network that
# fails is said and survived, unless REQUIRE_ALL=1. TOOLS=no installs nothing.
set -u
want=''

reason() { # reason PACKAGE
	case $1 in
	gcc | libc6-dev) echo "compiles the race detector's runtime" ;;
	qemu-user-static | proot) echo "run the demo and tests on emulated ARM" ;;
	socat) echo "makes serial lines for the register tests" ;;
	zbar-tools) echo "reads every QR code independently" ;;
	tshark) echo "judges the ZVT messages" ;;
	strace) echo "records system calls for the disk tests" ;;
	php-cli) echo "signs payment links a second way" ;;
	chromium) echo "drives the pages and attacks the local port" ;;
	npm) echo "fetches the accessibility checker of the pages" ;;
	busybox) echo "runs the scripts of the packages for OpenWrt" ;;
	systemd) echo "judges the unit of the packages" ;;
	openssl) echo "verifies the signature of a release a second time" ;;
	groff) echo "reads the manual pages" ;;
	zsh | fish) echo "are asked what they complete" ;;
	mono-mcs | mono-runtime | libmono-*) echo "run the guide's till in C#" ;;
	postgresql-15) echo "is the backend's other engine" ;;
	pgbouncer) echo "stands before the database of a backend" ;;
	redis-server) echo "is the peer beside which make bench measures" ;;
	*) echo "is used by a test" ;;
	esac
}

for pair in gcc:gcc qemu-arm-static:qemu-user-static proot:proot socat:socat zbarimg:zbar-tools tshark:tshark strace:strace php:php-cli chromium:chromium redis-server:redis-server pgbouncer:pgbouncer npm:npm busybox:busybox systemd-analyze:systemd openssl:openssl groff:groff zsh:zsh fish:fish mcs:mono-mcs mono:mono-runtime; do
	command -v "${pair%%:*}" >/dev/null 2>&1 || want="$want ${pair##*:}"
done
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || want="$want postgresql-15"
[ -e /usr/include/stdlib.h ] || want="$want libc6-dev" # for gcc
case $want in *mono-*) want="$want libmono-system-net-http4.0-cil libmono-system-runtime-serialization4.0-cil" ;; esac
[ -z "$want" ] && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
	echo "tools: not there:$want (install: apt-get install$want)"
	[ "${REQUIRE_ALL:-}" = 1 ] && exit 1
	exit 0
fi
if [ "${TOOLS:-}" = no ]; then
	echo "tools: not there:$want (TOOLS=no: nothing is installed; the tests that need them are listed as not run)"
	exit 0
fi
echo "tools: some tests need programs that are not on this machine. Installing them now with apt-get (TOOLS=no leaves that out):"
for package in $want; do
	echo "tools:   $package: $(reason "$package")"
done
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
apt() { timeout 300 apt-get -o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10 -o Acquire::Retries=1 "$@" >>"$log" 2>&1; }
if apt install -y --no-install-recommends $want || { apt update && apt install -y --no-install-recommends $want; }; then
	rm -f "$log"
	exit 0
fi
tail -n 5 "$log"
rm -f "$log"
echo "tools: could not install$want; the tests that need them will not run"
[ "${REQUIRE_ALL:-}" = 1 ] && exit 1
exit 0
