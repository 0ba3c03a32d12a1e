// Package pages writes the embedded backend's few HTML pages.
//
// It guarantees that every text and attribute is escaped, that tags and attribute names are constants of this
// program (an unexported string type keeps others out), that a page needs no script and no foreign asset, and that
// it is sent with a policy that allows neither. html/template is not used: it switches off the linker's dead-code
// elimination.
//
// It must not import a service, the store or a sibling room.
//
// 2026-11-21: the referrer policy of a page with a form is same-origin, not no-referrer: under no-referrer a browser
// sends "Origin: null" with the form, which the exact own-origin check of MONEY D.6 would have to refuse.
package pages
