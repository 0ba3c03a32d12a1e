package program

import (
	"encoding/json"
	"fmt"
	"os/exec"
)

// Entry is one transaction of the backend's books.
type Entry struct {
	Service, ID, Reference, Original, Type, State string
	Amount                                        int64
	Postings                                      []struct {
		Account string
		Amount  int64
	}
}

// Net returns what a transaction moved to the merchant.
func (e Entry) Net() (net int64) {
	for _, p := range e.Postings {
		if p.Account == "merchant" {
			net += p.Amount
		}
	}
	return net
}

// Books reads the books of a backend with the command line. It fails where the postings of a transaction do not sum to zero.
func Books(bin, state string) (list []Entry, err error) {
	out, err := exec.Command(bin, "backend", "books", "--json", "--state", state).Output()
	if err != nil {
		return nil, fmt.Errorf("backend books: %w", err)
	}
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, err
	}
	for _, e := range list {
		sum := int64(0)
		for _, p := range e.Postings {
			sum += p.Amount
		}
		if sum != 0 {
			return nil, fmt.Errorf("the postings of %s %s sum to %d", e.Service, e.ID, sum)
		}
	}
	return list, nil
}
