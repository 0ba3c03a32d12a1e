package main

import (
	"io/fs"
	"os"
	"path/filepath"
)

// packageUpdater makes the packages of posagent-update for one target, which a terminal does without. It returns their names.
func packageUpdater(o options, s staged, t target, work string) ([]string, error) {
	if err := os.MkdirAll(work, 0o755); err != nil {
		return nil, err
	}
	at := func(name string) string { return filepath.Join(work, name) }
	base := "posagent-update_" + o.version + "_" + t.name
	binary := at("posagent-update")
	if err := compile(o, t, updater, binary); err != nil {
		return nil, err
	}
	if err := inventory(o, binary, work, base); err != nil {
		return nil, err
	}
	own, err := ownFiles(t, work)
	if err != nil {
		return nil, err
	}
	var contents []content
	add := func(src, dst, kind string, mode fs.FileMode) {
		contents = append(contents, o.content(src, dst, kind, mode))
	}
	both := func() {
		contents = nil
		add(binary, "/usr/bin/posagent-update", "", 0o755)
		add("", "/etc/posagent/update", "dir", 0o755)
		add(at("sbom.cdx.json"), "/usr/share/posagent-update/sbom.cdx.json", "", 0o644)
		add(at("copyright"), "/usr/share/doc/posagent-update/copyright", "", 0o644)
	}
	about := func() map[string]any {
		d := o.description(t)
		d["name"] = "posagent-update"
		d["depends"] = []string{"posagent"}
		d["description"] = "signed updates of the payment terminal posagent\nIt takes a newer program from a signed repository through a trial, and takes it back where the terminal is worse with it."
		return d
	}

	both()
	add(own["posagent-update.service"], "/usr/lib/systemd/system/posagent-update.service", "", 0o644)
	add(own["posagent-update.timer"], "/usr/lib/systemd/system/posagent-update.timer", "", 0o644)
	contents = append(contents, o.guides(s, "posagent-update")...)
	deb := about()
	deb["deb"] = map[string]any{"arch": t.debian}
	deb["contents"] = contents
	deb["scripts"] = map[string]string{"postinstall": own["update.deb.postinst"], "preremove": own["update.deb.prerm"], "postremove": own["update.deb.postrm"]}

	both() // OpenWrt: the hour is the operator's cron's
	ipk := about()
	ipk["ipk"] = map[string]any{"arch": "all"}
	ipk["contents"] = contents

	for kind, config := range map[string]map[string]any{"deb": deb, "ipk": ipk} {
		if err := pack(o, kind, config, at(kind+".json"), filepath.Join(o.out, base+"."+kind)); err != nil {
			return nil, err
		}
	}
	return []string{base + ".deb", base + ".ipk", base + ".cdx.json"}, nil
}
