#!/bin/sh
# Makes the faces of the screen again: the Go fonts without the instructions for hinting, more than half of their bytes.
set -eu
go=${GO:-go}
to=device/display/glyph/faces
if ! /usr/bin/python3 -c 'import fontTools.subset' 2>/dev/null; then
	echo "faces: fontTools is not there (install: apt-get install python3-fonttools)"
	exit 1
fi
from=$("$go" list -m -f '{{.Dir}}' golang.org/x/image)/font/gofont/ttfs
for face in Go-Regular Go-Bold; do
	/usr/bin/python3 -m fontTools.subset "$from/$face.ttf" --output-file="$to/$face.ttf" --unicodes='*' --glyphs='*' --no-hinting \
		--no-glyph-names --notdef-outline --layout-features='' --drop-tables+=gasp --name-IDs=0,1,2,4,13
done
ls -l "$to"
