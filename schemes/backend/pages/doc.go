// Package pages writes the embedded backend's few HTML pages.
//
// It guarantees that every text and attribute is escaped, that tags and attribute names are constants of this
// program (an unexported string type keeps others out), that a page needs no foreign asset and no script unless it
// names one of ours, and that it is sent with a policy that allows nothing else. html/template is not used: it switches off the linker's dead-code
// elimination.
//
// It must not import a service, the store or a sibling room.
package pages
