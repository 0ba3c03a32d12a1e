package bracket

import (
	"strconv"
	"strings"

	"posagent/schemes/wire"
)

// Object is an ordered set of named values. A value that was read is a string or a *Object; Form also writes bool, int, int64,
// float64, []any, and leaves nil out.
type Object struct {
	Fields []Field
	Auto   bool // at least one name was given as []
}

// Field is one of its values.
type Field struct {
	Name  string
	Value any
}

// Add appends a field and returns o.
func (o *Object) Add(name string, value any) *Object {
	o.Fields = append(o.Fields, Field{name, value})
	return o
}

// Get returns a field's value, nil where there is none.
func (o *Object) Get(name string) any {
	if i := o.index(name); i >= 0 {
		return o.Fields[i].Value
	}
	return nil
}

func (o *Object) index(name string) int {
	for i := range o.Fields {
		if o.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// Tree puts the pairs together by their names. The error is wire.Invalid.
func (f Form) Tree() (*Object, error) {
	root := new(Object)
	for _, p := range f {
		if err := root.put(p); err != nil {
			return nil, err
		}
	}
	return root, nil
}

func (o *Object) put(p Pair) error {
	head, rest, nested := strings.Cut(p.Name, "[")
	if nested {
		rest = "[" + rest
	}
	if head == "" || strings.ContainsRune(head, ']') {
		return wire.Errorf(wire.Invalid, "", "form: brackets of a name do not match")
	}
	for {
		i := o.index(head)
		if rest == "" {
			if i >= 0 {
				return wire.Errorf(wire.Invalid, "", "form: a name is given twice")
			}
			o.Add(head, p.Value)
			return nil
		}
		key, after, ok := strings.Cut(rest[1:], "]")
		if !ok || strings.ContainsRune(key, '[') || after != "" && after[0] != '[' {
			return wire.Errorf(wire.Invalid, "", "form: brackets of a name do not match")
		}
		if i < 0 {
			o.Add(head, new(Object))
			i = len(o.Fields) - 1
		}
		child, ok := o.Fields[i].Value.(*Object)
		if !ok {
			return wire.Errorf(wire.Invalid, "", "form: a name is a text and an object")
		}
		if key == "" {
			child.Auto, key = true, child.next()
		}
		o, head, rest = child, key, after
	}
}

// next is the first index above every index there is.
func (o *Object) next() string {
	n := 0
	for _, f := range o.Fields {
		if i, err := strconv.Atoi(f.Name); err == nil && i >= n && i < 1<<30 {
			n = i + 1
		}
	}
	return strconv.Itoa(n)
}

// Form writes the object out, in order. It panics for a value of a type that Object does not name.
func (o *Object) Form() Form {
	var f Form
	for _, field := range o.Fields {
		f.write(field.Name, field.Value)
	}
	return f
}

func (f *Form) write(name string, value any) {
	text := ""
	switch v := value.(type) {
	case nil:
		return
	case *Object:
		for _, field := range v.Fields {
			f.write(name+"["+field.Name+"]", field.Value)
		}
		return
	case []any:
		for i, item := range v {
			f.write(name+"["+strconv.Itoa(i)+"]", item)
		}
		return
	case string:
		text = v
	case bool:
		if text = "0"; v {
			text = "1"
		}
	case int:
		text = strconv.Itoa(v)
	case int64:
		text = strconv.FormatInt(v, 10)
	case float64:
		text = float(v)
	default:
		panic("bracket: a value of a type no form has")
	}
	*f = append(*f, Pair{name, text})
}

// float writes a number as PHP's http_build_query does: 14 digits, without trailing zeros, plain from 1e-4 to below 1e14, and as 1.0E+25
// beyond.
func float(v float64) string {
	mantissa, exponent, ok := strings.Cut(strconv.FormatFloat(v, 'E', 13, 64), "E")
	exp, err := strconv.Atoi(exponent)
	if !ok || err != nil {
		return strings.ToUpper(strings.TrimPrefix(mantissa, "+")) // INF, NAN
	}
	mantissa = strings.TrimRight(mantissa, "0")
	if exp >= -4 && exp < 14 {
		rounded, _ := strconv.ParseFloat(mantissa+"E"+exponent, 64) // it was printed as one
		return strconv.FormatFloat(rounded, 'f', -1, 64)
	}
	if strings.HasSuffix(mantissa, ".") {
		mantissa += "0"
	}
	sign := "+"
	if exp < 0 {
		sign = ""
	}
	return mantissa + "E" + sign + strconv.Itoa(exp)
}
