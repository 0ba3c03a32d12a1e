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
//
// 2026-11-21: after a form the customer gets a page of ours, and it is that page which leads on to the shop (Page.Next). A
// redirect straight to the shop would end there: Chromium holds every further redirect, to another of the shop's hosts say,
// against the form-action of the page the form was on, and drops it without a word to the customer who has just paid.
package pages
