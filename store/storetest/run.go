package storetest

import (
	"testing"

	"posagent/store"
)

// Run holds an engine to the contract of store. Each case runs twice: with closures run once, and
// with each run again, as an engine may do.
func Run(t *testing.T, e Engine) {
	for _, s := range []struct {
		name string
		wrap func(store.Store) store.Store
	}{
		{"once", func(s store.Store) store.Store { return s }},
		{"again", Again},
	} {
		t.Run(s.name, func(t *testing.T) {
			c := suite{e, s.wrap}
			for _, part := range [][]test{values, closures, isolation, own, numbers, steps, keys} {
				for _, one := range part {
					t.Run(one.name, func(t *testing.T) { one.run(t, c) })
				}
			}
		})
	}
	c := suite{e, func(s store.Store) store.Store { return s }}
	for _, one := range medium {
		t.Run(one.name, func(t *testing.T) { one.run(t, c) })
	}
}
