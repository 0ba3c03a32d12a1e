package main

import (
	"io/fs"
	"os"
	"path/filepath"
)

// packageServer makes the package of posagent-backend for one target, which is a server's: a deb alone, without a unit, since its
// database and its credentials are the operator's. It returns the names of what it made.
func packageServer(o options, s staged, t target, work string) ([]string, error) {
	if err := os.MkdirAll(work, 0o755); err != nil {
		return nil, err
	}
	at := func(name string) string { return filepath.Join(work, name) }
	base := "posagent-backend_" + o.version + "_" + t.name
	binary := at("posagent-backend")
	if err := compile(o, t, backend, binary); err != nil {
		return nil, err
	}
	if err := inventory(o, binary, work, base); err != nil {
		return nil, err
	}
	var contents []content
	add := func(src, dst string, mode fs.FileMode) { contents = append(contents, o.content(src, dst, "", mode)) }
	add(binary, "/usr/bin/posagent-backend", 0o755)
	add(at("sbom.cdx.json"), "/usr/share/posagent-backend/sbom.cdx.json", 0o644)
	add(at("copyright"), "/usr/share/doc/posagent-backend/copyright", 0o644)
	add(s.path("CHANGELOG.md.gz"), "/usr/share/doc/posagent-backend/changelog.gz", 0o644)
	for _, name := range []string{"README.md", "grafana.json"} {
		add(filepath.Join(o.root, backend, name), "/usr/share/doc/posagent-backend/"+name, 0o644)
	}
	deb := o.description(t)
	deb["name"] = "posagent-backend"
	deb["description"] = "backend of the payment terminal posagent on PostgreSQL\nIt serves what posagent backend serves, from any number of processes on one database. Servers have it, terminals do not."
	deb["deb"] = map[string]any{"arch": t.debian}
	deb["contents"] = append(contents, o.guides(s, "posagent-backend")...)
	if err := pack(o, "deb", deb, at("deb.json"), filepath.Join(o.out, base+".deb")); err != nil {
		return nil, err
	}
	return []string{base + ".deb", base + ".cdx.json"}, nil
}
