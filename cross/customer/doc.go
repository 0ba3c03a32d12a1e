// Package customer is a person at the terminal's page (/display), for the campaigns: it follows the
// scenes, chooses a method, and types what the page asks for.
//
// It guarantees that it presses only keys that the page shows, with the word of that page, and that
// it comes back to a terminal that was started again. It sees the terminal from outside, as a
// browser does. It must not import any other package of the module.
package customer
