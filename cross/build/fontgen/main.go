package main

import (
	"fmt"
	"os"

	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"

	"posagent/cross/build/fontgen/convert"
)

func main() {
	for name, font := range map[string][]byte{"regular": goregular.TTF, "bold": gobold.TTF} {
		face, err := convert.Font(font)
		path := "device/display/glyph/faces/" + name + ".outlines.gz"
		if err == nil {
			err = os.WriteFile(path, face, 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "faces:", err)
			os.Exit(1)
		}
		fmt.Printf("%s: %d bytes, the font has %d\n", path, len(face), len(font))
	}
}
