#!/bin/sh
# Installs what some tests need. Quick when all is there; a network that fails is said and survived, unless REQUIRE_ALL=1.
set -u
want=''
for pair in gcc:gcc qemu-arm-static:qemu-user-static proot:proot socat:socat zbarimg:zbar-tools tshark:tshark strace:strace php:php-cli chromium:chromium redis-server:redis-server; do
	command -v "${pair%%:*}" >/dev/null 2>&1 || want="$want ${pair##*:}"
done
[ -e /usr/include/stdlib.h ] || want="$want libc6-dev" # for gcc
[ -z "$want" ] && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
	echo "tools: not there:$want (install: apt-get install$want)"
	[ "${REQUIRE_ALL:-}" = 1 ] && exit 1
	exit 0
fi
echo "tools: installing$want"
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
