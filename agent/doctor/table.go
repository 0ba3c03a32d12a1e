package doctor

import "slices"

// Checks is the table. A check stands behind all that it depends on.
func Checks() []Check {
	return slices.Concat(configChecks(), clockChecks(), diskChecks(), keyChecks(), journalChecks(), networkChecks(), backendChecks(),
		instanceChecks(), lineChecks(), guardChecks(), runChecks(), queueChecks(), boxChecks())
}

// Find returns a check by its id.
func Find(id string) (Check, bool) {
	for _, c := range Checks() {
		if c.ID == id {
			return c, true
		}
	}
	return Check{}, false
}
