// Package form guards the forms of the embedded backend's pages.
//
// It owns the table form_token. It guarantees that a form is taken only from exactly the backend's own origin, with a
// token that was made for the same thing, is fresh, and was never spent; a token is spent in the commit of the act it
// allows, so that an act that did not happen spends none and one that happened cannot happen again by the same form.
//
// It must not import a service or a room of the backend.
package form
