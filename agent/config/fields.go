package config

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/wire"
)

// field is one key of the configuration.
type field struct {
	path string // "upstream.auth.bearer"
	v    reflect.Value
	use  use // of the file that the value names
}

func (f field) secret() bool { return f.v.Type() == reflect.TypeFor[wire.Secret]() }

// secrets says that a key is a section whose keys are names of one's own, each with a client.
func (f field) secrets() bool {
	return f.path != "" && f.v.Type() == reflect.TypeFor[map[string]Client]()
}

// fields lists every key of c, in the order of the struct.
func fields(c *Config) []field {
	var list []field
	var walk func(prefix string, v reflect.Value)
	walk = func(prefix string, v reflect.Value) {
		for i := range v.NumField() {
			name := v.Type().Field(i).Tag.Get("toml")
			if name == "" {
				continue
			}
			if f := v.Field(i); f.Kind() == reflect.Struct {
				walk(prefix+name+".", f)
			} else {
				list = append(list, field{prefix + name, f, use(v.Type().Field(i).Tag.Get("file"))})
			}
		}
	}
	walk("", reflect.ValueOf(c).Elem())
	for i := range c.More {
		walk(LineKey(i+1)+".", reflect.ValueOf(&c.More[i]).Elem())
	}
	return list
}

// maxDuration is where a duration stops being meant.
const maxDuration = 10 * 366 * 24 * time.Hour

// duration reads a text. usual is what the key has otherwise; where the unit is missing, the error suggests one that comes near it.
func duration(s string, usual time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	switch {
	case err != nil && s != "" && strings.Trim(s, "0123456789.-+") == "":
		return 0, unitless(strconv.Quote(s), s, usual)
	case err != nil:
		return 0, fmt.Errorf("%q is not a duration like \"90s\", \"10m\" or \"24h\"", s)
	case d < 0:
		return 0, fmt.Errorf("%q is negative", s)
	case d > maxDuration:
		return 0, fmt.Errorf("%q is more than ten years", s)
	case d == 0 && strings.Trim(s, "0.+-") == "":
		return 0, fmt.Errorf("%q has no unit: write \"0s\"", s)
	}
	return d, nil
}

// clean refuses control characters, which no value of ours has.
func clean(s string) error {
	if i := strings.IndexFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f }); i >= 0 {
		return errors.New("contains a control character")
	}
	return nil
}

// set gives a key the value the TOML decoder produced.
func (f field) set(raw any) error {
	switch dst := f.v.Addr().Interface().(type) {
	case *string:
		s, ok := raw.(string)
		if !ok {
			return want("a text in quotes", raw)
		}
		if err := clean(s); err != nil {
			return err
		}
		*dst = s
	case *wire.Secret:
		s, ok := raw.(string)
		if !ok {
			return want("a text in quotes", nil)
		}
		if err := clean(s); err != nil {
			return err
		}
		*dst = wire.Secret(s)
	case *bool:
		b, ok := raw.(bool)
		if !ok {
			return want("true or false", raw)
		}
		*dst = b
	case *int:
		n, ok := raw.(int64)
		if !ok || n < math.MinInt32 || n > math.MaxInt32 {
			return want("a whole number", raw)
		}
		*dst = int(n)
	case *int64:
		n, ok := raw.(int64)
		if !ok {
			return want("a whole number", raw)
		}
		*dst = n
	case *time.Duration:
		d, err := rawDuration(raw, *dst)
		if err != nil {
			return err
		}
		*dst = d
	case **time.Duration:
		var usual time.Duration
		if *dst != nil {
			usual = **dst
		}
		d, err := rawDuration(raw, usual)
		if err != nil {
			return err
		}
		*dst = &d
	case *[]string:
		list, ok := raw.([]any)
		if !ok {
			return want("a list like [\"a\", \"b\"]", raw)
		}
		*dst = nil
		for _, e := range list {
			s, ok := e.(string)
			if !ok {
				return want("texts in the list", e)
			}
			if err := clean(s); err != nil {
				return err
			}
			*dst = append(*dst, s)
		}
	case *[]int32:
		list, ok := raw.([]any)
		if !ok {
			return want("a list like [1, 2]", raw)
		}
		*dst = nil
		for _, e := range list {
			n, ok := e.(int64)
			if !ok || n < math.MinInt32 || n > math.MaxInt32 {
				return want("whole numbers in the list", e)
			}
			*dst = append(*dst, int32(n))
		}
	default:
		return fmt.Errorf("no rule for %s", f.v.Type())
	}
	return nil
}

func rawDuration(raw any, usual time.Duration) (time.Duration, error) {
	switch v := raw.(type) {
	case string:
		return duration(v, usual)
	case int64, float64:
		return 0, unitless(fmt.Sprint(v), fmt.Sprint(v), usual)
	}
	return 0, want("a duration like \"90s\"", raw)
}

// unitless is the error of a number without a unit. It suggests the unit with which the number comes next to the usual value.
func unitless(said, number string, usual time.Duration) error {
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || n <= 0 || usual <= 0 {
		return fmt.Errorf("%s has no unit: write \"%ss\" or \"%sm\"", said, number, number)
	}
	best, least := "", math.MaxFloat64
	for _, unit := range []struct {
		name string
		long time.Duration
	}{{"ms", time.Millisecond}, {"s", time.Second}, {"m", time.Minute}, {"h", time.Hour}} {
		ratio := n * float64(unit.long) / float64(usual)
		if far := max(ratio, 1/ratio); far < least {
			best, least = unit.name, far
		}
	}
	return fmt.Errorf("%s has no unit: write \"%s%s\"", said, number, best)
}

func want(what string, got any) error {
	switch v := got.(type) {
	case nil:
		return fmt.Errorf("want %s", what)
	case string:
		return fmt.Errorf("want %s, not the text %q", what, v)
	case int64, float64, bool:
		return fmt.Errorf("want %s, not %v", what, v)
	}
	return fmt.Errorf("want %s", what)
}

// setText gives a key the value of a variable.
func (f field) setText(s string) error {
	switch f.v.Interface().(type) {
	case bool:
		b, err := strconv.ParseBool(s)
		if err != nil {
			return want("true or false", s)
		}
		return f.set(b)
	case int, int64:
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return want("a whole number", s)
		}
		return f.set(n)
	case []string:
		list := []any{}
		for _, e := range split(s) {
			list = append(list, e)
		}
		return f.set(list)
	case []int32:
		list := []any{}
		for _, e := range split(s) {
			n, err := strconv.ParseInt(e, 10, 32)
			if err != nil {
				return want("whole numbers separated by commas", s)
			}
			list = append(list, n)
		}
		return f.set(list)
	}
	return f.set(s)
}

func split(s string) []string {
	var list []string
	for e := range strings.SplitSeq(s, ",") {
		if e = strings.TrimSpace(e); e != "" {
			list = append(list, e)
		}
	}
	return list
}
