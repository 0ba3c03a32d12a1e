// Package form guards the forms of the embedded backend's pages.
//
// It owns the table form_token. It guarantees:
//   - A form is accepted only from the backend's own origin, with a token that was made for the
//     same record, is fresh, and was never used.
//   - A token is invalidated in the commit of the action that it allows. A failed action
//     invalidates none; a form cannot repeat an action that succeeded.
//
// It must not import a service or a room of the backend.
package form
