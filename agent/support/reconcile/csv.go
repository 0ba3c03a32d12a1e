package reconcile

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// readCSV reads a list whose first line names the columns, in any order. Commas or semicolons stand between them.
func readCSV(data []byte, currency string, zone *time.Location) (List, error) {
	head, _, _ := bytes.Cut(data, []byte("\n"))
	r := csv.NewReader(bytes.NewReader(data))
	r.ReuseRecord, r.TrimLeadingSpace = true, true
	if bytes.Count(head, []byte(";")) > bytes.Count(head, []byte(",")) {
		r.Comma = ';'
	}
	names, err := r.Read()
	if err != nil {
		return List{}, csvError(err)
	}
	var list List
	var t texts
	known, into := t.columns(), make([]*string, len(names))
	seen := map[string]bool{}
	first, _ := r.FieldPos(0)
	for i, name := range names {
		name = strings.ToLower(strings.TrimSpace(name))
		if into[i] = known[name]; into[i] == nil {
			list.Unused = append(list.Unused, name)
			continue
		}
		if seen[name] {
			return List{}, bad(first, "two columns are named %q", name)
		}
		seen[name] = true
	}
	if !seen["paid"] || !seen["amount"] && !seen["minor"] {
		return List{}, bad(first, "the first line has to name the columns, paid and amount among them; known are: %s",
			strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return List{}, csvError(err)
		}
		t = texts{}
		for i, value := range fields {
			if into[i] != nil {
				*into[i] = strings.Clone(strings.TrimSpace(value)) // the record's one string would stay for each
			}
		}
		if !slices.ContainsFunc(fields, func(v string) bool { return strings.TrimSpace(v) != "" }) {
			continue // a spreadsheet's empty row, as ;;
		}
		line, _ := r.FieldPos(0)
		row, err := t.row(line, currency, zone)
		if err != nil {
			return List{}, err
		}
		list.Rows = append(list.Rows, row)
	}
}

// csvError is an error of the CSV reader with its line.
func csvError(err error) error {
	var parse *csv.ParseError
	if !errors.As(err, &parse) {
		return bad(0, "%v", err)
	}
	if errors.Is(parse.Err, csv.ErrFieldCount) {
		return bad(parse.Line, "it has more or fewer columns than the first line")
	}
	return bad(parse.Line, "%v", parse.Err)
}
