package config

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"sort"
	"strings"

	"posagent/schemes/wire"
)

// named takes a section whose keys are names of one's own: each a section with token or token_file, id
// and may; or a token, or as NAME_file the path of one.
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
	into := f.v.Addr().Interface().(*map[string]Client)
	clients := map[string]Client{}
	maps.Copy(clients, *into)
	*into = clients
	for _, key := range keys {
		if sub, ok := list[key].(map[string]any); ok {
			clients[key] = l.client(f.path+"."+key, sub)
			continue
		}
		name := strings.TrimSuffix(key, "_file")
		var secret wire.Secret
		path := f.path + "." + name
		if !l.ours(path) { // a lower layer's client of that name goes
			l.forget(path)
			delete(clients, name)
		}
		l.fields[path] = field{path: path, v: reflect.ValueOf(&secret).Elem()}
		l.value(f.path+"."+key, list[key])
		delete(l.fields, path)
		if !l.here[path] {
			continue // it failed, and says so
		}
		c := clients[name]
		c.Token = secret
		clients[name] = c
	}
}

// client takes one client's section.
func (l *loader) client(path string, raw map[string]any) (c Client) {
	l.forget(path)
	own := []field{
		{path: path + ".token", v: reflect.ValueOf(&c.Token).Elem()},
		{path: path + ".id", v: reflect.ValueOf(&c.ID).Elem()},
		{path: path + ".may", v: reflect.ValueOf(&c.May).Elem()},
	}
	known := l.known
	l.known = nil
	for _, f := range own {
		l.fields[f.path], l.known = f, append(l.known, f.path)
	}
	keys := make([]string, 0, len(raw))
	for key := range raw {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	for _, key := range keys {
		l.value(path+"."+key, raw[key])
	}
	if l.seen[path+".may"] != "" && c.May == nil {
		c.May = []string{}
	}
	for _, f := range own {
		delete(l.fields, f.path)
	}
	l.known = known
	return c
}

// ours returns whether this text has said something of a client.
func (l *loader) ours(path string) bool {
	return l.here[path] || l.here[path+".token"] || l.here[path+".id"] || l.here[path+".may"]
}

// forget takes back what a lower layer says of a client.
func (l *loader) forget(path string) {
	for _, own := range []string{"", ".token", ".id", ".may"} {
		delete(l.seen, path+own)
	}
}

// clientLetters are what a client's name is made of.
const clientLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-"

func (c Config) clients(k *check) {
	tokens := []wire.Secret{c.Port.Token}
	ids := map[string]string{}
	for name, client := range c.Port.Clients {
		key, token := "port.clients."+name, client.Token
		id := client.ID
		if id == "" {
			id = name
		}
		for _, word := range client.May {
			if !slices.Contains(Words(), word) {
				k.fail(key+".may", "%q is none of %s", word, strings.Join(Words(), " "))
			}
		}
		switch n := len(token); {
		case id == Main || name == Main:
			k.fail(key, "%s is the terminal's own token", Main)
		case id == "" || len(id) > 32 || strings.Trim(id, clientLetters) != "":
			k.fail(key+".id", "an id is 1 to 32 letters, digits and hyphens")
		case ids[id] != "":
			k.fail(key+".id", "%s has the same id", ids[id])
		case name == "" || len(name) > 32 || strings.Trim(name, clientLetters) != "":
			k.fail(key, "a name is 1 to 32 letters, digits and hyphens")
		case n < 16 || n > 1024:
			k.fail(key, "not 16 to 1024 characters")
		case slices.Contains(tokens, token):
			k.fail(key, "another client has the same token")
		}
		ids[id], tokens = name, append(tokens, token)
	}
	if n := c.Port.Rate; n < 1 || n > 1_000_000 {
		k.fail("port.rate", "%d is not between 1 and 1000000", n)
	}
	if n := c.Port.Parallel; n < 1 || n > 10_000 {
		k.fail("port.parallel", "%d is not between 1 and 10000", n)
	}
}
