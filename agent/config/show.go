package config

import (
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/wire"
)

// Setting is one key as it is in use.
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`  // as it would stand in the file; a secret is masked
	Origin string `json:"origin"` // "FILE:LINE", the name of a variable, or "default"
}

// masked stands for a secret that is set.
const masked = `"********"`

// Settings lists every key in the order of the example, secrets masked.
func (c Config) Settings() (list []Setting) {
	add := func(key string, v reflect.Value) {
		origin := c.origin[key]
		if origin == "" {
			origin = "default"
		}
		text := tomlText(v)
		if isPassword(key) && !v.IsZero() {
			text = masked
		}
		list = append(list, Setting{key, text, origin})
	}
	for _, f := range fields(&c) {
		clients, named := f.v.Interface().(map[string]Client)
		if !named {
			add(f.path, f.v)
			continue
		}
		names := make([]string, 0, len(clients))
		for name := range clients {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			client := clients[name]
			path := f.path + "." + name
			if c.origin[path] != "" { // a name with its token alone
				add(path, reflect.ValueOf(client.Token))
				continue
			}
			for _, own := range []struct {
				key string
				v   any
			}{{".token", client.Token}, {".id", client.ID}, {".may", client.May}} {
				add(path+own.key, reflect.ValueOf(own.v))
			}
		}
	}
	return list
}

// Difference is a key that two configurations have at different values.
type Difference struct {
	Key string `json:"key"`
	Was string `json:"was"` // as Setting.Value; two secrets that differ are both masked
	Is  string `json:"is"`
}

// Differences lists what another configuration has changed, in the order of the example. Of the local clients, which are a table, it
// says only that they differ.
func (c Config) Differences(is Config) (list []Difference) {
	for n := len(c.More); n < len(is.More); n++ {
		c.More = append(slices.Clip(c.More), Default().ECR)
	}
	for n := len(is.More); n < len(c.More); n++ {
		is.More = append(slices.Clip(is.More), Default().ECR)
	}
	next := fields(&is)
	for i, f := range fields(&c) {
		if reflect.DeepEqual(f.v.Interface(), next[i].v.Interface()) {
			continue
		}
		d := Difference{Key: f.path, Was: tomlText(f.v), Is: tomlText(next[i].v)}
		switch {
		case f.secrets():
			d.Was, d.Is = fmt.Sprintf("%d clients", f.v.Len()), fmt.Sprintf("%d clients", next[i].v.Len())
		case isPassword(f.path):
			d.Was, d.Is = masked, masked
		}
		list = append(list, d)
	}
	return list
}

// isPassword says that a key is the password of a register line, which is no wire.Secret.
func isPassword(key string) bool {
	return strings.HasPrefix(key, "ecr") && strings.HasSuffix(key, ".password")
}

// tomlText is a value as it would stand in the file.
func tomlText(v reflect.Value) string {
	switch v := v.Interface().(type) {
	case wire.Secret:
		if v == "" {
			return `""`
		}
		return masked
	case string:
		return strconv.Quote(v)
	case time.Duration:
		return strconv.Quote(v.String())
	case *time.Duration:
		if v == nil {
			return `""`
		}
		return strconv.Quote(v.String())
	case []string:
		quoted := make([]string, 0, len(v))
		for _, s := range v {
			quoted = append(quoted, strconv.Quote(s))
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	case []int32:
		return strings.ReplaceAll(fmt.Sprint(v), " ", ", ")
	}
	return fmt.Sprint(v.Interface()) // numbers, true and false
}
