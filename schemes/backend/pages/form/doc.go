// Package form guards the forms of the embedded backend's pages.
//
// It owns the table form_token. It guarantees:
//   - A form is accepted only from the backend's own origin, with a token that was made for the
//     same thing, is fresh, and was never spent.
//   - A token is spent in the commit of the act that it allows. An act that did not happen spends
//     none; an act that happened cannot happen again by the same form.
//
// It must not import a service or a room of the backend.
package form
