package methods

import "context"

// Service is the method-definition service (S1 4.4).
type Service interface {
	// List returns the definitions of a terminal.
	//  1. the definitions, best priority first as the service ordered them;
	//  2. wire.NotFound: no method exists for the merchant;
	//  3. wire.Invalid / Unauthorized: the question or the credentials are wrong;
	//  4. wire.Unavailable / Internal: no answer now, nothing is known.
	List(ctx context.Context, q Query) ([]Definition, error)
}
