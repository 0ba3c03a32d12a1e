package jsonl

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
)

// validator knows as much of JSON Schema as schema.json uses. A keyword that it does not know is an
// error, and so is a key that the schema does not name: the terminal says nothing that is not
// described.
type validator struct{ root map[string]any }

func loadSchema(t testing.TB) validator {
	var v validator
	require.NoError(t, json.Unmarshal([]byte(Schema), &v.root))
	return v
}

// check validates a line as a message of one side.
func (v validator) check(side, line string) error {
	var value any
	dec := json.NewDecoder(strings.NewReader(line))
	dec.UseNumber()
	if err := dec.Decode(&value); err != nil {
		return err
	}
	return v.value(map[string]any{"$ref": "#/$defs/" + side}, value, side)
}

func (v validator) value(s map[string]any, value any, at string) error {
	for key, want := range s {
		var err error
		switch key {
		case "$ref":
			defs := v.root["$defs"].(map[string]any)
			target, ok := defs[strings.TrimPrefix(want.(string), "#/$defs/")].(map[string]any)
			if !ok {
				return fmt.Errorf("no such definition: %v", want)
			}
			err = v.value(target, value, at)
		case "oneOf":
			err = v.oneOf(want.([]any), value, at)
		case "description", "properties", "required", "items":
		default:
			err = plain(key, want, value)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
	}
	switch value := value.(type) {
	case map[string]any:
		if s["type"] == "object" {
			return v.object(s, value, at)
		}
	case []any:
		items, _ := s["items"].(map[string]any)
		for i, one := range value {
			if items != nil {
				if err := v.value(items, one, fmt.Sprintf("%s[%d]", at, i)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (v validator) oneOf(list []any, value any, at string) error {
	var fits int
	var errs []string
	for _, one := range list {
		if err := v.value(one.(map[string]any), value, at); err != nil {
			errs = append(errs, err.Error())
		} else {
			fits++
		}
	}
	if fits != 1 {
		return fmt.Errorf("%d forms fit: %s", fits, strings.Join(errs, "; "))
	}
	return nil
}

func (v validator) object(s, value map[string]any, at string) error {
	required, _ := s["required"].([]any)
	for _, key := range required {
		if _, ok := value[key.(string)]; !ok {
			return fmt.Errorf("%s: %v is missing", at, key)
		}
	}
	properties, _ := s["properties"].(map[string]any)
	for key, one := range value {
		p, ok := properties[key].(map[string]any)
		if !ok {
			return fmt.Errorf("%s: %s is not described", at, key)
		}
		if err := v.value(p, one, at+"."+key); err != nil {
			return err
		}
	}
	return nil
}

// plain checks a keyword that looks at one value alone.
func plain(key string, want, value any) error {
	ok := false
	text, isText := value.(string)
	number, isNumber := value.(json.Number)
	n, numErr := number.Int64()
	list, isList := value.([]any)
	bound, _ := want.(float64)
	switch key {
	case "type":
		_, isObject := value.(map[string]any)
		_, isBool := value.(bool)
		ok = map[string]bool{"object": isObject, "array": isList, "string": isText, "boolean": isBool, "integer": isNumber && numErr == nil}[want.(string)]
	case "const":
		ok = want == value
	case "enum":
		ok = slices.Contains(want.([]any), value)
	case "pattern":
		ok = isText && regexp.MustCompile(want.(string)).MatchString(text)
	case "minLength":
		ok = isText && utf8.RuneCountInString(text) >= int(bound)
	case "maxLength":
		ok = isText && utf8.RuneCountInString(text) <= int(bound)
	case "minimum":
		ok = numErr == nil && n >= int64(bound)
	case "maximum":
		ok = numErr == nil && n <= int64(bound)
	case "maxItems":
		ok = isList && len(list) <= int(bound)
	default:
		return fmt.Errorf("keyword %s is not known", key)
	}
	if !ok {
		return fmt.Errorf("%v: not %s %v", value, key, want)
	}
	return nil
}

// TestTheSchemaTellsRightFromWrong: the validator itself, on messages written by hand.
func TestTheSchemaTellsRightFromWrong(t *testing.T) {
	v := loadSchema(t)
	for _, line := range []string{
		`{"op":"hello"}`, `{"op":"sale","id":"7","amount":1250}`, `{"op":"status"}`, `{"op":"totals","id":"d","close":true}`,
		`{"op":"sale","id":"7","amount":1250,"lines":[{"name":"Coffee","quantity":1,"amount":1250,"taxRate":1900}]}`,
		`{"op":"refund","id":"8","amount":1,"original":"R3/17"}`, `{"op":"reverse","id":"9","receipt":17}`, `{"op":"ack","id":"9"}`,
	} {
		require.NoError(t, v.check("register", line))
	}
	for _, line := range []string{
		`{"op":"sale","id":"7"}`, `{"op":"sale","id":"7","amount":0}`, `{"op":"sale","id":"7","amount":12.5}`, `{"op":"sale","id":"a b","amount":1}`,
		`{"op":"buy","id":"7"}`, `{"op":"ack"}`, `{"op":"refund","id":"8","amount":1,"original":"17"}`, `{"op":"sale","id":"7","amount":1,"tip":1}`,
	} {
		require.Error(t, v.check("register", line), line)
	}
	require.NoError(t, v.check("terminal", `{"id":"7","acknowledged":true}`))
	require.Error(t, v.check("terminal", `{"id":"7","outcome":"unknown"}`))
}

// TestTheSchemaNamesEveryWord: every step, code and result of package ecr.
func TestTheSchemaNamesEveryWord(t *testing.T) {
	v := loadSchema(t)
	for _, s := range []ecr.Step{ecr.StepAsking, ecr.StepStarting, ecr.StepShowCode, ecr.StepWaiting, ecr.StepConfirm, ecr.StepExpired, ecr.StepApp, ecr.StepReversing} {
		require.NoError(t, v.check("terminal", `{"id":"7","step":"`+string(s)+`"}`))
	}
	for _, c := range []ecr.Code{ecr.OK, ecr.RejectedByScheme, ecr.AbortedByUser, ecr.WrongCurrency, ecr.Processing, ecr.NoMethod, ecr.AmountWrong,
		ecr.AlreadyReversed, ecr.NotReversible, ecr.Busy, ecr.Impossible, ecr.StillRunning, ecr.NoConnection, ecr.NoOriginal, ecr.NotStored,
		ecr.NotReady, ecr.EODImpossible, ecr.SystemError} {
		require.NoError(t, v.check("terminal", `{"id":"7","outcome":"refused","code":"`+string(c)+`"}`))
	}
	for _, r := range []ecr.Result{ecr.Approved, ecr.Declined, ecr.Aborted, ecr.InProgress} {
		require.NoError(t, v.check("terminal", `{"id":"7","outcome":"`+string(r)+`","code":"ok","kind":"payment","amount":1}`))
	}
}
