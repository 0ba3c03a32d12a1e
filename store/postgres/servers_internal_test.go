package postgres

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"posagent/store"
)

// The primary among servers, by hand: which one is taken, or which one decides and by which rule.
func TestPick(t *testing.T) {
	away := func() *server { return &server{name: "away", err: errors.Join(store.ErrIO, errors.New("no way"))} }
	one := func(name, system string, timeline uint32, started string) *server {
		return &server{name: name, at: seen{Primary: Primary{System: system, Timeline: timeline, Position: "0/500"}, place: "pos/public", beats: 8, version: 150000, fsync: true, pages: true, started: started}}
	}
	standby := func() *server { return &server{name: "standby", at: seen{standby: true, version: 150000}} }
	unsafe := func(name string, timeline uint32) *server {
		s := one(name, "7", timeline, "noon")
		s.at.standbys = 1
		return s
	}
	last := Primary{System: "7", Timeline: 2, Position: "0/400", Beats: map[string]int64{"pos/public": 8, "pos/other": 99}}
	for name, c := range map[string]struct {
		all     []*server
		last    Primary
		decides string
		rule    error // nil = it is taken
		says    string
	}{
		"one":                     {[]*server{one("a", "7", 1, "noon")}, Primary{}, "a", nil, ""},
		"beside standbys":         {[]*server{standby(), away(), one("a", "7", 2, "noon"), standby()}, last, "a", nil, ""},
		"the later timeline":      {[]*server{one("a", "7", 2, "noon"), one("b", "7", 3, "one"), one("c", "7", 1, "two")}, Primary{}, "b", nil, ""},
		"as remembered":           {[]*server{one("a", "7", 1, "noon"), one("b", "7", 2, "one")}, last, "b", nil, ""},
		"one under two names":     {[]*server{one("a", "7", 2, "noon"), one("b", "7", 2, "noon")}, last, "a", nil, ""},
		"another cluster":         {[]*server{one("x", "8", 9, "noon"), one("a", "7", 2, "noon")}, last, "a", nil, ""},
		"only earlier":            {[]*server{standby(), one("a", "7", 1, "noon")}, last, "a", ErrBackwards, "standby: "},
		"only an older copy":      {[]*server{one("a", "7", 2, "noon")}, Primary{System: "7", Timeline: 2, Position: "0/600"}, "a", ErrBackwards, "what lies between is lost"},
		"a copy that has grown":   {[]*server{one("a", "7", 2, "noon")}, Primary{System: "7", Timeline: 2, Position: "0/400", Beats: map[string]int64{"pos/public": 9}}, "a", ErrBackwards, "it has 8 of the 9 marks"},
		"restored, and has grown": {[]*server{one("a", "7", 3, "noon")}, Primary{System: "7", Timeline: 2, Position: "0/400", Beats: map[string]int64{"pos/public": 9}}, "a", ErrBackwards, "it has 8 of the 9 marks"},
		"the later one is unsafe": {[]*server{one("a", "7", 2, "noon"), unsafe("b", 3)}, last, "b", ErrUnsafe, "a: store: the server went backwards: it is a primary that was given up: it is on timeline 2, and b is on 3"},
		"earlier and unsafe":      {[]*server{unsafe("b", 1), standby()}, last, "b", ErrBackwards, ""},
		"two on one timeline":     {[]*server{one("a", "7", 2, "noon"), one("b", "7", 2, "one")}, last, "a", nil, "end one of them for good"},
		"two clusters":            {[]*server{one("a", "7", 2, "noon"), one("b", "8", 2, "one")}, Primary{}, "a", nil, "name the servers of one of the two"},
		"none answers":            {[]*server{standby(), away()}, last, "away", store.ErrIO, "standby: "},
		"standbys alone":          {[]*server{standby(), standby()}, last, "standby", store.ErrReadOnly, ""},
	} {
		s, err := pick(c.all, c.last, Tolerated{})
		require.Equal(t, c.decides, s.name, name)
		if c.rule == nil && c.says == "" {
			require.NoError(t, err, name)
			continue
		}
		require.Error(t, err, name)
		require.ErrorContains(t, err, c.says, name)
		for _, rule := range []error{ErrBackwards, ErrUnsafe, store.ErrIO, store.ErrReadOnly} {
			require.Equal(t, rule == c.rule, errors.Is(err, rule), "%s: %v", name, err)
		}
	}
}

// Each server of a URL is one, whatever the ways to it.
func TestServers(t *testing.T) {
	cfg, err := pgx.ParseConfig("postgres://u@h1,h2:5433,h1:5434/x?sslmode=prefer&target_session_attrs=read-write")
	require.NoError(t, err)
	list := servers(cfg)
	require.Len(t, list, 3)
	for i, want := range []struct {
		host string
		port uint16
	}{{"h1", 5432}, {"h2", 5433}, {"h1", 5434}} {
		require.Equal(t, want.host, list[i].Host)
		require.Equal(t, want.port, list[i].Port)
		require.NotNil(t, list[i].TLSConfig)
		require.Len(t, list[i].Fallbacks, 1, "in clear, where the server has no TLS")
		require.Nil(t, list[i].ValidateConnect)
	}
}
