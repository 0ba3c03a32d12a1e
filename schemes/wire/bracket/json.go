package bracket

import (
	"bytes"
	"encoding/json"
	"strconv"

	"posagent/schemes/wire"
)

// FromJSON reads a JSON object as the form it would be: arrays by index, true and false as 1 and 0, null and empty arrays and objects as
// nothing, numbers as they are written. The error is wire.Invalid or wire.TooLarge.
func FromJSON(data []byte, lim Limits) (Form, error) {
	if err := wire.Check(data); err != nil {
		return nil, wire.AsError("", err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, wire.Errorf(wire.Invalid, "", "body: want a JSON object")
	}
	j := fromJSON{dec: dec, lim: lim.or()}
	err := j.members("", '{')
	return j.form, err
}

type fromJSON struct {
	dec  *json.Decoder
	lim  Limits
	form Form
}

// members reads what stands between an opening bracket and its closing one.
func (j *fromJSON) members(at string, open json.Delim) error {
	for i := 0; j.dec.More(); i++ {
		name := strconv.Itoa(i)
		if open == '{' {
			t, err := j.dec.Token()
			if err != nil {
				return broken(err)
			}
			name, _ = t.(string) // keys are texts
		}
		if at != "" {
			name = at + "[" + name + "]"
		}
		t, err := j.dec.Token()
		if err != nil {
			return broken(err)
		}
		text := ""
		switch v := t.(type) {
		case json.Delim:
			if err := j.members(name, v); err != nil {
				return err
			}
			continue
		case nil:
			continue
		case bool:
			if text = "0"; v {
				text = "1"
			}
		case json.Number:
			text = v.String()
		case string:
			text = v
		}
		if err := j.form.add(Pair{name, text}, j.lim); err != nil {
			return err
		}
	}
	_, err := j.dec.Token() // the closing bracket
	if err != nil {
		return broken(err)
	}
	return nil
}
