// Package pages writes the embedded backend's HTML pages.
//
// It guarantees:
//   - Each text and each attribute is escaped. Tags and attribute names are constants of this
//     program; an unexported string type keeps other texts out.
//   - A page needs no foreign asset, and no script but one of ours that it names. It is sent with a
//     policy that allows nothing else.
//
// It must not import a service, the store or a sibling room, nor html/template, which switches off
// the linker's dead-code elimination.
package pages
