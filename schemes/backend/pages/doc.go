// Package pages writes the embedded backend's few HTML pages.
//
// It guarantees that every text and attribute is escaped, that tags and attribute names are constants of this
// program (an unexported string type keeps others out), that a page needs no foreign asset and no script unless it
// names one of ours, and that it is sent with a policy that allows nothing else. html/template is not used: it switches off the linker's dead-code
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
//
// 2026-11-22: a hosted field lives in a frame of the shop's page and has to tell that page what became of it, which needs a
// script. It is a file of ours, never inline, and the page's policy names the one origin that may frame it.
package pages
