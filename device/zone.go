package device

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Zone names the time zone that this program works in. fault says why it is UTC although the box names another one: Go tells nobody of a
// zone that it cannot read. "" = the zone is the one that was named, or none was.
func Zone() (name, fault string) {
	tz, set := os.LookupEnv("TZ")
	return zone(tz, set, time.Local.String(), "/etc")
}

// zone is Zone: of what the variable TZ says, of the name that the zone in use has (Local where it is that of ETC/localtime), and of the
// files below a directory.
func zone(tz string, set bool, used, etc string) (name, fault string) {
	file := filepath.Join(etc, "localtime")
	target, linked := file, false
	if link, err := os.Readlink(file); err == nil {
		target, linked = link, true
	}
	_, known, named := strings.Cut(target, "zoneinfo/")
	switch {
	case used == "Local" && named:
		return known, ""
	case used == "Local":
		return file, ""
	case used != "UTC":
		return used, ""
	case set && isUTC(strings.TrimPrefix(tz, ":")):
		return used, ""
	case set:
		return used, "TZ is " + tz
	case linked && !(named && isUTC(known)):
		return used, file + " leads to " + target
	}
	if _, err := os.Lstat(file); err == nil && !linked {
		return used, file + " cannot be read"
	}
	for _, beside := range []string{"TZ", "timezone"} { // as OpenWrt and Debian name it
		path := filepath.Join(etc, beside)
		text, err := os.ReadFile(path)
		if zone := strings.TrimSpace(string(text)); err == nil && !isUTC(zone) {
			return used, path + " says " + zone + ", and there is no " + file
		}
	}
	return used, ""
}

// isUTC returns whether a name is one of those for UTC; "" is.
func isUTC(name string) bool {
	name = strings.TrimPrefix(strings.ToUpper(name), "ETC/")
	return slices.Contains([]string{"", "UTC", "UTC0", "UCT", "UCT0", "GMT", "GMT0", "GMT+0", "GMT-0", "ZULU", "UNIVERSAL", "GREENWICH"}, name)
}
