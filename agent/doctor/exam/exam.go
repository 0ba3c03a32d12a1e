package exam

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Status is what a check came to.
type Status string

// The statuses.
const (
	Pass Status = "pass"
	Warn Status = "warn"
	Fail Status = "fail"
	Skip Status = "skip" // a check it depends on failed, or there is nothing to look at
)

// Severity is how much a failure matters.
type Severity string

// The severities.
const (
	Critical Severity = "critical" // no sale, or the journal is in danger
	Major    Severity = "major"    // a person has to act
	Minor    Severity = "minor"    // worth knowing
)

// Check is one row of a table.
type Check[F Facts] struct {
	ID       string // PA-GROUP-NNN
	Severity Severity
	After    []string // ids of the checks it depends on
	Command  string   // what its remedy lets a person type
	Look     Look[F]
	Text     // in English
}

// Look looks at the facts and judges them.
type Look[F Facts] func(ctx context.Context, f F) Finding

// Facts are what the checks of a table look at. They may be asked by several checks at a time.
type Facts interface {
	// Fill puts what is known into a remedy: {state} and its like.
	Fill(text string) string
}

// Schema names the form of results: fields may be added, none is renamed.
const Schema = "posagent.doctor/1"

// Report is an examination as JSON.
type Report struct {
	Schema string   `json:"schema"`
	Checks []Result `json:"checks"`
}

// Group is the middle of the id.
func (c Check[F]) Group() string { return GroupOf(c.ID) }

// GroupOf returns the group of an id, "" where it is none.
func GroupOf(id string) string {
	if parts := strings.Split(id, "-"); len(parts) == 3 && parts[0] == "PA" {
		return parts[1]
	}
	return ""
}

// Groups are the groups of a list, in its order.
func Groups[F Facts](list []Check[F]) (groups []string) {
	for _, c := range list {
		if !slices.Contains(groups, c.Group()) {
			groups = append(groups, c.Group())
		}
	}
	return groups
}

// Remedy is what a person can do. The Do and the Command of a check may hold names that its facts fill in.
type Remedy struct {
	Text    string `json:"text"`
	Command string `json:"command"`
	URL     string `json:"url"`
}

// Evidence is what was seen, by short names.
type Evidence map[string]string

// Finding is what a check answers.
type Finding struct {
	Status Status
	Saw    []string // names and values by turns
	Do     string   // the text of its remedy, "" = that of the check
	Type   string   // the command, "" = that of the check
	Waits  string   // of a skipped check: the id it waits for; "" = there is nothing to look at
}

// Result is a check as Schema shows it.
type Result struct {
	ID         string    `json:"id"`
	Title      string    `json:"title"`
	Status     Status    `json:"status"`
	Severity   Severity  `json:"severity"`
	Evidence   Evidence  `json:"evidence"`
	Remedy     Remedy    `json:"remedy"`
	DependsOn  []string  `json:"depends_on"`
	Since      time.Time `json:"since"` // when it came to this status
	DurationMS int64     `json:"duration_ms"`

	usual Remedy // of the check's failures, for one that passes now and then
}

// WaitsFor is the evidence that names the check a skipped one waits for.
const WaitsFor = "waits_for"

// Limits bound an examination.
type Limits struct {
	Each     time.Duration // of one check
	All      time.Duration // of the whole
	Parallel int           // checks at a time
}

// Usual are the limits of the command line: an examination ends before ten seconds are over.
func Usual() Limits { return Limits{Each: 5 * time.Second, All: 9 * time.Second, Parallel: 4} }

// Examine runs the checks. Results have the order of the list. It panics where a check depends on one that does not stand before it.
func Examine[F Facts](ctx context.Context, list []Check[F], f F, l Limits) []Result {
	ctx, cancel := context.WithTimeout(ctx, l.All)
	defer cancel()
	findings := make([]Finding, len(list))
	took := make([]time.Duration, len(list))
	place, done := map[string]int{}, make([]chan struct{}, len(list))
	slots := make(chan struct{}, l.Parallel)
	var all sync.WaitGroup
	for i, c := range list {
		for _, id := range c.After {
			if _, known := place[id]; !known {
				panic(fmt.Sprintf("exam: %s depends on %s, which does not stand before it", c.ID, id))
			}
		}
		place[c.ID], done[i] = i, make(chan struct{})
	}
	for i, c := range list {
		all.Go(func() {
			defer close(done[i])
			for _, id := range c.After {
				<-done[place[id]]
			}
			if root := waitsFor(c.After, func(id string) Finding { return findings[place[id]] }); root != "" {
				findings[i] = Finding{Status: Skip, Waits: root}
				return
			}
			slots <- struct{}{}
			defer func() { <-slots }()
			began := time.Now()
			findings[i] = look(ctx, c, f, l.Each)
			took[i] = time.Since(began)
		})
	}
	all.Wait()
	results := make([]Result, len(list))
	for i, c := range list {
		results[i] = result(c, findings[i], f)
		results[i].DurationMS = took[i].Milliseconds()
	}
	return results
}

// waitsFor returns the id of the failed check behind the first dependency that has no good end, "" when all of them have.
func waitsFor(after []string, finding func(id string) Finding) string {
	for _, id := range after {
		switch f := finding(id); {
		case f.Status == Fail:
			return id
		case f.Status == Skip && f.Waits != "":
			return f.Waits
		}
	}
	return ""
}

// look runs one check. One that panics, or has no result in time, fails; one that was not begun in time is skipped.
func look[F Facts](ctx context.Context, c Check[F], f F, limit time.Duration) Finding {
	if ctx.Err() != nil {
		return Nothing("not looked at: the time was up")
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	answer := make(chan Finding, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				answer <- Failed("seen", fmt.Sprintf("the check itself failed: %v", p)).Typed("report this to support", "posagent version")
			}
		}()
		answer <- c.Look(ctx, f)
	}()
	select {
	case found := <-answer:
		return found
	case <-ctx.Done():
	}
	select {
	case found := <-answer: // both were ready
		return found
	default:
		return Failed("seen", "no result within the time limit")
	}
}

// result words a finding.
func result[F Facts](c Check[F], found Finding, f F) Result {
	r := Result{ID: c.ID, Title: c.Title, Status: found.Status, Severity: c.Severity, Evidence: Evidence{}, DependsOn: append([]string{}, c.After...)}
	r.usual = Remedy{Text: f.Fill(c.Do), Command: f.Fill(c.Command)}
	for pair := range slices.Chunk(found.Saw, 2) {
		if name, value := pair[0], pair[1]; value != "" {
			r.Evidence[name] = Clean(value)
		}
	}
	if found.Waits != "" {
		r.Evidence[WaitsFor] = found.Waits
	}
	if found.Status == Fail || found.Status == Warn {
		r.Remedy = r.usual
		if found.Do != "" {
			r.Remedy.Text = f.Fill(found.Do)
		}
		if found.Type != "" {
			r.Remedy.Command = f.Fill(found.Type)
		}
	}
	return r
}

// Chosen returns the checks that the names choose, a group or an id each, and what these depend on. Only chosen ones are in shown.
// unknown is the first name that chooses nothing, "" where each does.
func Chosen[F Facts](list []Check[F], names []string) (run []Check[F], shown map[string]bool, unknown string) {
	shown = map[string]bool{}
	for _, name := range names {
		found := false
		for _, c := range list {
			if c.ID == name || c.Group() == name {
				shown[c.ID], found = true, true
			}
		}
		if !found {
			return nil, nil, name
		}
	}
	if len(names) == 0 {
		for _, c := range list {
			shown[c.ID] = true
		}
	}
	needed := maps.Clone(shown)
	for i := len(list) - 1; i >= 0; i-- { // a dependency stands before
		if needed[list[i].ID] {
			for _, id := range list[i].After {
				needed[id] = true
			}
		}
	}
	for _, c := range list {
		if needed[c.ID] {
			run = append(run, c)
		}
	}
	return run, shown, ""
}

// Outcome is the worst status of the results: Fail, Warn or Pass.
func Outcome(results []Result) Status {
	worst := Pass
	for _, r := range results {
		switch {
		case r.Status == Fail:
			return Fail
		case r.Status == Warn:
			worst = Warn
		}
	}
	return worst
}
