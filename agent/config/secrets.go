package config

import (
	"net/url"
	"strings"

	"posagent/schemes/wire"
)

// Secrets are the values of c that nobody may see, for whoever masks them in a text.
func (c Config) Secrets() (list []string) {
	add := func(s string) {
		if s != "" {
			list = append(list, s)
		}
	}
	for _, f := range fields(&c) {
		switch v := f.v.Interface().(type) {
		case wire.Secret:
			add(v.Reveal())
			if user, password, ok := strings.Cut(v.Reveal(), ":"); ok { // of a proxy
				add(user)
				add(password)
			}
		case map[string]Client:
			for _, client := range v {
				add(client.Token.Reveal())
			}
		}
	}
	for _, e := range append([]ECR{c.ECR}, c.More...) {
		add(e.Password)
	}
	if u, err := url.Parse(c.Upstream.Proxy); err == nil && u.User != nil {
		password, _ := u.User.Password()
		add(password)
	}
	return list
}
