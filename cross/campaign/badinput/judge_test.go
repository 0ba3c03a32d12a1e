package badinput

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"posagent/schemes/money"
)

// entry is one row of the journal.
type entry struct {
	ID, Kind, Phase, Result, Reference string
	Amount                             int64
	Settled, UndoOwed, Quarantined     bool
}

func (x *rig) journal() ([]entry, error) {
	out, err := x.verb("sale", "list", "--json", "--limit", "1000").Output()
	if err != nil {
		return nil, fmt.Errorf("sale list: %w", err)
	}
	var v struct{ Sales []entry }
	return v.Sales, json.Unmarshal(out, &v)
}

// settle waits until nothing moves by itself, or as long as this run has time.
func (x *rig) settle() []entry {
	limit := 3 * time.Second
	if x.full {
		limit = 25 * time.Second
	}
	for end := time.Now().Add(limit); ; wait(300 * time.Millisecond) {
		list, err := x.journal()
		open := 0
		for _, e := range list {
			if !e.Settled {
				open++
			}
		}
		if err == nil && open == 0 {
			return list
		}
		if time.Now().After(end) {
			if err != nil {
				x.bad("%v", err)
			}
			return list
		}
	}
}

// agree holds journal, backend and registers against each other. It returns what was found in words.
func (x *rig) agree(list []entry) string {
	x.be.mu.Lock()
	defer x.be.mu.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	bad := func(format string, args ...any) { x.problems = append(x.problems, fmt.Sprintf(format, args...)) }
	journalled, byRef := map[money.Minor]entry{}, map[string]bool{}
	approved, undone, owed := 0, 0, 0
	for _, e := range list {
		byRef[e.Reference] = true
		if e.Quarantined {
			bad("sale %s is quarantined", e.ID)
		}
		if e.Kind != "payment" {
			continue
		}
		if _, twice := journalled[money.Minor(e.Amount)]; twice && !x.lost[money.Minor(e.Amount)] {
			bad("two sales of %d", e.Amount)
		}
		journalled[money.Minor(e.Amount)] = e
		d := x.be.deeds[e.Reference]
		stayed := d != nil && moved(d)
		switch {
		case d != nil && (len(d.keys) != 1 || len(d.bodies) != 1 || d.compounded > 0):
			bad("%s: %d keys, %d bodies under one reference", e.Reference, len(d.keys), len(d.bodies))
		case d != nil && d.amount != e.Amount:
			bad("%s: %d asked, %d sent", e.Reference, e.Amount, d.amount)
		case e.Result == "approved" && e.Phase == "CONFIRMED" && !stayed:
			bad("%s: approved, and no money moved", e.Reference)
		case e.Result != "approved" && stayed && !e.UndoOwed:
			bad("%s: %s (%s), money moved and no undo owed", e.Reference, e.Result, e.Phase)
		case e.Result != "approved" && d != nil && !d.reversed && !d.declined && e.Settled:
			bad("%s: %s, settled without undo or refusal", e.Reference, e.Result)
		case e.Result != "approved" && !e.Settled && !e.UndoOwed && e.Phase != "DECLINED":
			bad("%s: %s, neither settled nor owed (%s)", e.Reference, e.Result, e.Phase)
		case x.full && !e.Settled && !(x.patient && e.UndoOwed):
			bad("%s: not settled in time (%s)", e.Reference, e.Phase)
		}
		switch {
		case e.Result == "approved":
			approved++
		case d != nil && d.reversed:
			undone++
		case e.UndoOwed:
			owed++
		}
	}
	for amount, r := range x.told {
		e, there := journalled[amount]
		switch {
		case r.Approved && e.Result != "approved":
			bad("told approved for %d (%+v), journal says %q: %+v", amount, r, e.Result, list)
		case r.Told && !r.Approved && e.Result == "approved" && e.Settled && !r.Refused && e.Phase == "CONFIRMED":
			bad("told not approved for %d, journal says approved", amount)
		case r.Refused && there:
			bad("refused %d, and journalled", amount)
		}
	}
	for ref, d := range x.be.deeds {
		if d.typ == "payment" && !byRef[ref] {
			bad("the backend has %s, the journal has not", ref)
		}
	}
	for _, w := range x.be.wrong {
		bad("backend: %s", w)
	}
	return fmt.Sprintf("%d sales: %d approved, %d undone, %d owed", len(journalled), approved, undone, owed)
}

// secrets looks for what must not be there: in the output, in the journal as people read it, and in the files.
func (x *rig) secrets(list []entry) {
	texts := map[string]string{"output": x.out.String()}
	if out, err := x.verb("sale", "list", "--json", "--limit", "1000").CombinedOutput(); err == nil {
		texts["sale list"] = string(out)
	}
	for i, e := range list {
		if i < 2 {
			out, _ := x.verb("sale", "show", e.ID, "--json").CombinedOutput()
			texts["sale show"] += string(out)
		}
	}
	out, _ := x.verb("status").CombinedOutput() // exit 4: it does not run any more
	texts["status"] = string(out)
	files, _ := filepath.Glob(filepath.Join(x.state(), "*"))
	for _, f := range files {
		if data, err := os.ReadFile(f); err == nil {
			texts[filepath.Base(f)] = string(data)
		}
	}
	for where, text := range texts {
		for _, c := range []string{payerCanary, cookieCanary, keyCanary, secretCanary, inboxSecret, bodyCanary, cardPAN,
			base64.StdEncoding.EncodeToString([]byte(keyCanary + ":" + secretCanary))} {
			if strings.Contains(text, c) {
				x.bad("%q stands in %s", c, where)
			}
		}
	}
	for _, word := range []string{"panic", "goroutine ", "fatal error", "runtime error", "DATA RACE"} {
		if i := strings.Index(texts["output"], word); i >= 0 {
			x.bad("%s in the output: %.300s", word, texts["output"][i:])
		}
	}
	if i := strings.IndexAny(texts["output"], "\x00\x07\x1b"); i >= 0 {
		x.bad("control characters in the output near %q", texts["output"][max(0, i-40):min(len(texts["output"]), i+20)])
	}
}
