package device

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestField2_L11AnUnknownZoneIsNamed: a zone that cannot be read is UTC in silence. The kind is each place that names one: TZ by name, by
// path and in the form of POSIX, which Go does not read, the link and the file /etc/localtime, and what OpenWrt and Debian have beside.
// Where UTC is what was named, or nothing is, nothing is wrong.
func TestField2_L11AnUnknownZoneIsNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		tz    string
		unset bool
		used  string
		link  string            // of localtime
		files map[string]string // in /etc
		zone  string
		fault string // "ETC" = the directory
	}{
		"TZ":                       {tz: "Europe/Berlin", used: "Europe/Berlin", zone: "Europe/Berlin"},
		"TZ, mistyped":             {tz: "Europe/Berlln", used: "UTC", zone: "UTC", fault: "TZ is Europe/Berlln"},
		"TZ with a colon":          {tz: ":Europe/Berlln", used: "UTC", zone: "UTC", fault: "TZ is :Europe/Berlln"},
		"TZ by path, which is not": {tz: "/usr/zones/Berlin", used: "UTC", zone: "UTC", fault: "TZ is /usr/zones/Berlin"},
		"TZ as POSIX has it":       {tz: "CET-1CEST,M3.5.0,M10.5.0/3", used: "UTC", zone: "UTC", fault: "TZ is CET-1CEST,M3.5.0,M10.5.0/3"},
		"TZ is UTC":                {tz: "Etc/UTC", used: "UTC", zone: "UTC"},
		"TZ is empty":              {tz: "", used: "UTC", zone: "UTC"},
		"localtime":                {unset: true, used: "Local", link: "/usr/share/zoneinfo/Europe/Berlin", zone: "Europe/Berlin"},
		"localtime, a copy":        {unset: true, used: "Local", files: map[string]string{"localtime": "TZif"}, zone: "ETC/localtime"},
		"localtime, no tzdata":     {unset: true, used: "UTC", link: "/usr/share/zoneinfo/Europe/Berlin", zone: "UTC", fault: "ETC/localtime leads to /usr/share/zoneinfo/Europe/Berlin"},
		"localtime, a bad link":    {unset: true, used: "UTC", link: "/nowhere", zone: "UTC", fault: "ETC/localtime leads to /nowhere"},
		"localtime, damaged":       {unset: true, used: "UTC", files: map[string]string{"localtime": "no zone"}, zone: "UTC", fault: "ETC/localtime cannot be read"},
		"localtime, UTC":           {unset: true, used: "UTC", link: "../usr/share/zoneinfo/Etc/UTC", zone: "UTC"},
		"OpenWrt":                  {unset: true, used: "UTC", files: map[string]string{"TZ": "CET-1CEST,M3.5.0,M10.5.0/3\n"}, zone: "UTC", fault: "ETC/TZ says CET-1CEST,M3.5.0,M10.5.0/3, and there is no ETC/localtime"},
		"OpenWrt, UTC":             {unset: true, used: "UTC", files: map[string]string{"TZ": "UTC0\n"}, zone: "UTC"},
		"Debian without the link":  {unset: true, used: "UTC", files: map[string]string{"timezone": "Europe/Berlin\n"}, zone: "UTC", fault: "ETC/timezone says Europe/Berlin, and there is no ETC/localtime"},
		"nothing says":             {unset: true, used: "UTC", zone: "UTC"},
	} {
		t.Run(name, func(t *testing.T) {
			etc := t.TempDir()
			if tc.link != "" {
				require.NoError(t, os.Symlink(tc.link, filepath.Join(etc, "localtime")))
			}
			for file, text := range tc.files {
				require.NoError(t, os.WriteFile(filepath.Join(etc, file), []byte(text), 0o600))
			}
			at := func(text string) string { return strings.ReplaceAll(text, "ETC", etc) }
			zone, fault := zone(tc.tz, !tc.unset, tc.used, etc)
			require.Equal(t, at(tc.zone), zone)
			require.Equal(t, at(tc.fault), fault)
		})
	}
}
