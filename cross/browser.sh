#!/bin/sh
# Drives the pages in Chromium, where it is installed. With SCREENS=DIR it leaves a picture of each page there.
set -u
go=${GO:-go}
if ! command -v chromium >/dev/null 2>&1; then
	line='not run: the pages in a browser need chromium (install: apt-get install chromium)'
	if [ "${REQUIRE_ALL:-}" = 1 ]; then
		echo "$line"
		exit 1
	fi
	if [ -n "${NOT_RUN:-}" ]; then echo "$line" >>"$NOT_RUN"; else echo "$line"; fi
	exit 0
fi
if [ -n "${SCREENS:-}" ]; then
	mkdir -p "$SCREENS"
	SCREENS=$(cd "$SCREENS" && pwd)
	export SCREENS
fi
cd cross/browser || exit 1
exec "$go" test -count=1 -timeout 15m ./...
