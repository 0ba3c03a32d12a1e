package doctor

import "slices"

// Checks is the table. A check stands behind all that it depends on.
func Checks() []Check {
	list := slices.Concat(configChecks(), clockChecks(), diskChecks(), keyChecks(), journalChecks(), networkChecks(), backendChecks(),
		instanceChecks(), lineChecks(), guardChecks(), runChecks(), queueChecks(), boxChecks())
	english := texts(englishText)
	for i := range list {
		list[i].Text = english[list[i].ID]
	}
	return list
}

// Find returns a check by its id.
func Find(id string) (Check, bool) {
	list := Checks()
	if i := slices.IndexFunc(list, func(c Check) bool { return c.ID == id }); i >= 0 {
		return list[i], true
	}
	return Check{}, false
}
