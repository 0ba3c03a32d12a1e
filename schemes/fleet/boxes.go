package fleet

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ReadBoxes reads a list of boxes: CSV with a header that names serial_number and, in any order,
// merchant_id, terminal_id and bax_id. Commas or semicolons separate. The error names the line.
func ReadBoxes(from io.Reader) (list []ImportBox, err error) {
	const most = 1 << 20
	data, err := io.ReadAll(io.LimitReader(from, most+1))
	if err != nil {
		return nil, err
	}
	if len(data) > most {
		return nil, fmt.Errorf("longer than %d bytes", most)
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	r := csv.NewReader(strings.NewReader(text))
	r.TrimLeadingSpace = true
	if first, _, _ := strings.Cut(text, "\n"); strings.Contains(first, ";") {
		r.Comma = ';'
	}
	head, err := r.Read()
	if err != nil {
		return nil, errors.New("line 1: want a header: serial_number,merchant_id,terminal_id,bax_id")
	}
	at := map[string]int{}
	for i, name := range head {
		name = strings.TrimSpace(name)
		if _, twice := at[name]; twice {
			return nil, fmt.Errorf("line 1: column %q is there twice", name)
		}
		switch name {
		case "serial_number", "merchant_id", "terminal_id", "bax_id":
			at[name] = i
		default:
			return nil, fmt.Errorf("line 1: no column %q: there are serial_number, merchant_id, terminal_id and bax_id", name)
		}
	}
	if _, ok := at["serial_number"]; !ok {
		return nil, errors.New("line 1: want a column serial_number")
	}
	lines := map[string]int{}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		var bad *csv.ParseError
		switch {
		case errors.As(err, &bad):
			return nil, fmt.Errorf("line %d: %w", bad.Line, bad.Err)
		case err != nil:
			return nil, err
		}
		line, _ := r.FieldPos(0)
		cell := func(name string) string {
			if i, ok := at[name]; ok {
				return strings.TrimSpace(row[i])
			}
			return ""
		}
		box := ImportBox{SerialNumber: cell("serial_number"), Slot: Slot{cell("merchant_id"), cell("terminal_id"), cell("bax_id")}}
		if !SerialNumber(box.SerialNumber) {
			return nil, fmt.Errorf("line %d: serial_number %q: want 1 to %d letters, digits, dots, dashes and underscores", line, box.SerialNumber, maxName)
		}
		name := strings.ToLower(box.SerialNumber) // two boxes differ in more than in large and small letters
		if before, twice := lines[name]; twice {
			return nil, fmt.Errorf("line %d: serial_number %q stands in line %d too: a box gets one code, take one of the lines out", line, box.SerialNumber, before)
		}
		lines[name] = line
		if list = append(list, box); len(list) > MaxBoxes {
			return nil, fmt.Errorf("line %d: more than %d boxes: split the list", line, MaxBoxes)
		}
	}
	if len(list) == 0 {
		return nil, errors.New("the list has no box")
	}
	return list, nil
}
