package marks

import (
	"maps"
	"slices"
	"strings"
)

// Box is what a box is known by: for each mark of its hardware the values that were read. What could
// not be read is not there. A mark may have several values, as a box has several disks.
type Box map[string][]string

// differing is how many marks must be others in another box: one of them is a part that was changed.
const differing = 2

// Other says by which marks now is another box than the one that was: "" = it is not, or nothing
// shows it. A mark counts where both know it, and it is another one where no value is the same.
func (was Box) Other(now Box) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(now)) {
		before := was[name]
		known := len(before) > 0 && len(now[name]) > 0
		if known && !slices.ContainsFunc(now[name], func(v string) bool { return slices.Contains(before, v) }) {
			list = append(list, name)
		}
	}
	if len(list) < differing {
		return ""
	}
	return strings.Join(list, " and ")
}

// Learn returns the marks of the box as it is now. What cannot be read now is as it was.
func (was Box) Learn(now Box) Box {
	next := maps.Clone(was)
	if next == nil {
		next = Box{}
	}
	for name, values := range now {
		if len(values) > 0 {
			next[name] = slices.Sorted(slices.Values(values))
		}
	}
	return next
}

// Same reports whether both have the same values.
func (was Box) Same(now Box) bool { return maps.EqualFunc(was, now, slices.Equal[[]string]) }
