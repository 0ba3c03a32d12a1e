// Package convert turns a published TrueType font into the face of a screen.
//
// It guarantees that a face has each letter of the font's first plane, with its outline and its width
// in whole units of the em. A font that cannot be read, or has cubic outlines, is an error.
//
// The program must not import it: what reads fonts is larger than their letters.
package convert
