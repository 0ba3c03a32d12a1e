#!/bin/sh
# Prints the version that a build of this tree calls itself: the tag, or the day and the commit, "+changed" where files differ
# from it; nothing outside version control. VERSION=… says it instead.
set -u
if [ -n "${VERSION:-}" ]; then
	echo "$VERSION"
	exit 0
fi
git rev-parse --git-dir >/dev/null 2>&1 || exit 0
changed=
[ -z "$(git status --porcelain --untracked-files=no 2>/dev/null)" ] || changed=+changed
tag=$(git describe --tags --abbrev=12 2>/dev/null) || tag=$(git show -s --abbrev=12 --format=%cd-%h --date=format:%Y.%m.%d HEAD 2>/dev/null) || exit 0
echo "${tag#v}$changed"
