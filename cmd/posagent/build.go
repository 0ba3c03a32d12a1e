package main

import "runtime/debug"

// linked is set by the linker: -X main.linked=1.2.3.
var linked = ""

// version is what this binary calls itself: what the linker was told, else what Go's build information says.
var version = versionOf(linked, debug.ReadBuildInfo)

// versionOf finds the version. A build outside version control, or a test, is "unknown".
func versionOf(linked string, info func() (*debug.BuildInfo, bool)) string {
	bi, ok := info()
	switch {
	case linked != "":
		return linked
	case !ok:
		return "unknown"
	case bi.Main.Version != "" && bi.Main.Version != "(devel)":
		return bi.Main.Version
	}
	revision, changed := "", ""
	for _, s := range bi.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "+changed"
		}
	}
	if revision == "" {
		return "unknown"
	}
	return revision + changed
}
