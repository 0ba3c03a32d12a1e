package config

import (
	"errors"
	"reflect"
	"slices"
	"sort"
	"strings"

	"posagent/schemes/wire"
)

// named takes a section whose keys are names of one's own, each with a secret or, as NAME_file, the path of one.
func (l *loader) named(f field, raw any) {
	list, ok := raw.(map[string]any)
	if !ok {
		l.fail(l.at(f.path), f.path, errors.New("want a section of names, each with its token or token file"))
		return
	}
	keys := make([]string, 0, len(list))
	for key := range list {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	if len(list) == 0 {
		return
	}
	clients := map[string]wire.Secret{}
	*f.v.Addr().Interface().(*map[string]wire.Secret) = clients
	for _, key := range keys {
		name := strings.TrimSuffix(key, "_file")
		var secret wire.Secret
		path := f.path + "." + name
		l.fields[path] = field{path, reflect.ValueOf(&secret).Elem()}
		l.value(f.path+"."+key, list[key])
		delete(l.fields, path)
		if l.seen[path] == "" {
			continue // it failed, and says so
		}
		clients[name] = secret
	}
}

// clientLetters are what a client's name is made of.
const clientLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-"

func (c Config) clients(k *check) {
	tokens := []wire.Secret{c.Port.Token}
	for name, token := range c.Port.Clients {
		key := "port.clients." + name
		switch n := len(token); {
		case name == "" || len(name) > 32 || strings.Trim(name, clientLetters) != "":
			k.fail(key, "a name is 1 to 32 letters, digits and hyphens")
		case n < 16 || n > 1024:
			k.fail(key, "not 16 to 1024 characters")
		case slices.Contains(tokens, token):
			k.fail(key, "another client has the same token")
		}
		tokens = append(tokens, token)
	}
	if n := c.Port.Rate; n < 1 || n > 1_000_000 {
		k.fail("port.rate", "%d is not between 1 and 1000000", n)
	}
	if n := c.Port.Parallel; n < 1 || n > 10_000 {
		k.fail("port.parallel", "%d is not between 1 and 10000", n)
	}
}
