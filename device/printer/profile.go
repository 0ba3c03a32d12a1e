package printer

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Status is the set of status commands that a printer answers.
type Status uint8

// The status commands.
const (
	RealTime   Status = 1 << iota // DLE EOT 1 to 4: answered at once, also without paper and with the cover open
	InOrder                       // GS r 1: answered when everything before it has been worked through
	AutoBack                      // GS a: four bytes when it is switched on, and whenever something changes
	TryInOrder                    // InOrder from when it answers GS r, which it is asked after a document
	NoStatus   Status = 0         // it never answers: only what the device refuses is noticed
)

// statuses are the words for what a configuration can choose.
var statuses = map[string]Status{"none": NoStatus, "realtime": RealTime, "full": RealTime | InOrder, "inorder": InOrder, "asb": AutoBack}

// StatusNamed returns the status commands of a word: none, realtime, full, inorder or asb. It fails on any other.
func StatusNamed(word string) (Status, error) {
	s, ok := statuses[word]
	if !ok {
		return 0, fmt.Errorf("status %q: want one of %s", word, strings.Join(slices.Sorted(maps.Keys(statuses)), ", "))
	}
	return s, nil
}

// CutMode is what a printer does at the end of a piece of paper.
type CutMode int

// The cuts.
const (
	NoCut      CutMode = iota // the paper is torn off by hand
	PartialCut                // one point is left
	FullCut
)

// Page is a code page of a printer.
type Page struct {
	Name   string // one of PageNames
	Number byte   // of ESC t; most makers use Epson's numbers, some have their own
}

// Profile is what a printer can do.
type Profile struct {
	Columns int    // characters of a line in normal width, 24 to 64
	Dots    int    // of a line, a multiple of 8, 192 to 832
	Pages   []Page // the first is tried first; at least one
	Cut     CutMode
	Tail    int // NoCut: empty lines until the text is past the tear bar, at most MaxFeed
	Status  Status
	Kanji   bool // the printer may take pairs of bytes for Chinese or Japanese characters, and is told not to (FS .)
	Codes   CodeMode
}

// CodeMode is how a Code gets onto the paper.
type CodeMode int

// The modes.
const (
	CodePicture CodeMode = iota // as raster pictures (GS v 0)
	CodeOwn                     // the printer draws it (GS ( k)
	CodeText                    // its text alone
)

// codeModes are the words for what a configuration can choose.
var codeModes = map[string]CodeMode{"picture": CodePicture, "own": CodeOwn, "text": CodeText}

// CodeModeNamed returns the mode of a word: picture, own or text. It fails on any other.
func CodeModeNamed(word string) (CodeMode, error) {
	m, ok := codeModes[word]
	if !ok {
		return 0, fmt.Errorf("codes %q: want one of %s", word, strings.Join(slices.Sorted(maps.Keys(codeModes)), ", "))
	}
	return m, nil
}

// epson are code pages by the numbers of Epson's ESC t: western Europe, central Europe, the Baltic, Turkish, Greek, Cyrillic.
var epson = []Page{{"PC858", 19}, {"PC852", 18}, {"WPC1252", 16}, {"WPC1257", 51}, {"WPC1254", 48}, {"PC737", 14}, {"PC866", 17}}

// profiles are printers by the width of their paper. Config.Profile may be changed from there.
var profiles = map[string]Profile{
	"58mm":    {Columns: 32, Dots: 384, Pages: []Page{{"PC858", 19}, {"PC852", 18}, {"WPC1252", 16}}, Tail: 4, Status: RealTime | TryInOrder, Kanji: true},
	"80mm":    {Columns: 48, Dots: 576, Pages: epson, Cut: PartialCut, Status: RealTime | InOrder, Kanji: true},
	"80mm-42": {Columns: 42, Dots: 512, Pages: epson, Cut: PartialCut, Status: RealTime | InOrder, Kanji: true},
}

// ProfileNames are the names that Named knows.
func ProfileNames() []string { return slices.Sorted(maps.Keys(profiles)) }

// Named returns a profile by the width of its paper, one of ProfileNames. It fails on any other name.
func Named(name string) (Profile, error) {
	p, ok := profiles[name]
	if !ok {
		return Profile{}, fmt.Errorf("printer profile %q: want one of %s", name, strings.Join(ProfileNames(), ", "))
	}
	p.Pages = slices.Clone(p.Pages)
	return p, nil
}

// Validate returns every fault of a profile, or nil.
func (p Profile) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if p.Columns < 24 || p.Columns > 64 {
		bad("columns: %d, want 24 to 64", p.Columns)
	}
	if p.Dots < 192 || p.Dots > 832 || p.Dots%8 != 0 {
		bad("dots: %d, want a multiple of 8 from 192 to 832", p.Dots)
	}
	if p.Cut < NoCut || p.Cut > FullCut {
		bad("cut: %d is unknown", int(p.Cut))
	}
	if p.Tail < 0 || p.Tail > MaxFeed {
		bad("tail: %d, want 0 to %d", p.Tail, MaxFeed)
	}
	if p.Status&^(RealTime|InOrder|AutoBack|TryInOrder) != 0 {
		bad("status: %d is unknown", int(p.Status))
	}
	if p.Codes < CodePicture || p.Codes > CodeText {
		bad("codes: %d is unknown", int(p.Codes))
	}
	if len(p.Pages) == 0 {
		bad("pages: none, want at least one")
	}
	for i, page := range p.Pages {
		if pageLetters(page.Name) == "" {
			bad("pages: %q is unknown, want some of %s", page.Name, strings.Join(PageNames(), ", "))
		}
		if slices.ContainsFunc(p.Pages[:i], func(other Page) bool { return other.Name == page.Name || other.Number == page.Number }) {
			bad("pages: %q or its number %d twice", page.Name, page.Number)
		}
	}
	return errors.Join(errs...)
}
