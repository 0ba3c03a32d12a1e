package config

import "errors"

// ErrNoFile is that of a key which names a file that is not there.
var ErrNoFile = errors.New("there is no")

// KeyError is what is wrong with one key.
type KeyError struct {
	Where string // "FILE:LINE", "FILE" or the name of a variable, "" = it stands nowhere
	Key   string // "" = the place says it
	Err   error
}

func (e *KeyError) Error() string {
	s := "config: "
	for _, part := range []string{e.Where, e.Key} {
		if part != "" {
			s += part + ": "
		}
	}
	return s + e.Err.Error()
}

// Unwrap gives the reason.
func (e *KeyError) Unwrap() error { return e.Err }

// Problems takes an error of Load apart; what is no KeyError stands in one without a place.
func Problems(err error) (list []*KeyError) {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range all.Unwrap() {
			list = append(list, Problems(e)...)
		}
		return list
	}
	var one *KeyError
	if errors.As(err, &one) {
		return []*KeyError{one}
	}
	if err != nil {
		return []*KeyError{{Err: err}}
	}
	return nil
}
