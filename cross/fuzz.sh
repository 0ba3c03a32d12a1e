#!/bin/sh
# Runs every fuzz target for $T, one after the other, and reports all that failed.
set -u
go=${GO:-go}
failed=''
for line in $(grep -rno --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' . | sed 's/:[0-9]*:func /:/' | sort); do
	dir=$(dirname "${line%%:*}") target=${line##*:}
	echo "== $dir $target"
	"$go" test -run '^$' -fuzz "^$target\$" -fuzztime "${T:-1m}" "$dir" || failed="$failed $dir:$target"
done
[ -z "$failed" ] && exit 0
echo "== FAILED:$failed"
exit 1
