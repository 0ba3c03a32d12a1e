#!/bin/sh
# Prints the version that a build of this tree calls itself, and its package has: the tag, or the day and time (UTC) of the commit,
# so that the later of two is the higher one, and the commit; "+changed" where files differ from it; nothing outside version control. VERSION=… says it instead.
set -u
if [ -n "${VERSION:-}" ]; then
	echo "$VERSION"
	exit 0
fi
git rev-parse --git-dir >/dev/null 2>&1 || exit 0
changed=
[ -z "$(git status --porcelain --untracked-files=no 2>/dev/null)" ] || changed=+changed
tag=$(git describe --tags --abbrev=12 2>/dev/null) || tag=$(TZ=UTC git show -s --abbrev=12 --format=%cd-%h --date=format-local:%Y.%m.%d.%H%M%S HEAD 2>/dev/null) || exit 0
echo "${tag#v}$changed"
