package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

//go:embed files
var files embed.FS

// content is a file of a package, as nfpm wants it.
type content struct {
	Src  string `json:"src,omitempty"`
	Dst  string `json:"dst"`
	Type string `json:"type,omitempty"`
	Info struct {
		Mode  fs.FileMode `json:"mode"`
		Owner string      `json:"owner"`
		Group string      `json:"group"`
		MTime time.Time   `json:"mtime"`
	} `json:"file_info"`
}

// packageFor makes both packages and the list of what is inside for one target. It returns their names.
func packageFor(o options, s staged, t target, binary, work string) ([]string, error) {
	if err := os.MkdirAll(work, 0o755); err != nil {
		return nil, err
	}
	at := func(name string) string { return filepath.Join(work, name) }
	base := "posagent_" + o.version + "_" + t.name
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
		add(binary, "/usr/bin/posagent", "", 0o755)
		add("", "/etc/posagent", "dir", 0o750)
		add(s.path("config.toml"), "/etc/posagent/config.toml", "config|noreplace", 0o640)
		add(s.path("openapi.json"), "/usr/share/posagent/openapi.json", "", 0o644)
		add(at("sbom.cdx.json"), "/usr/share/posagent/sbom.cdx.json", "", 0o644)
		add(at("copyright"), "/usr/share/doc/posagent/copyright", "", 0o644)
		add(s.path("visit.txt"), "/usr/share/doc/posagent/visit.txt", "", 0o644)
	}

	both()
	add(own["posagent.service"], "/usr/lib/systemd/system/posagent.service", "", 0o644)
	add(own["posagent.sysusers"], "/usr/lib/sysusers.d/posagent.conf", "", 0o644)
	add(own["61-posagent.rules"], "/usr/lib/udev/rules.d/61-posagent.rules", "", 0o644)
	add(s.path("CHANGELOG.md.gz"), "/usr/share/doc/posagent/changelog.gz", "", 0o644)
	contents = append(contents, o.guides(s, "posagent")...)
	deb := o.description(t)
	deb["deb"] = map[string]any{"arch": t.debian}
	deb["contents"] = contents
	deb["scripts"] = map[string]string{"postinstall": own["deb.postinst"], "preremove": own["deb.prerm"], "postremove": own["deb.postrm"]}

	both()
	add(own["ipk.init"], "/etc/init.d/posagent", "", 0o755)
	add(own["ipk.profile"], "/etc/profile.d/posagent.sh", "", 0o644)
	add(own["ipk.keep"], "/lib/upgrade/keep.d/posagent", "", 0o644)
	ipk := o.description(t)
	ipk["ipk"] = map[string]any{"arch": "all"}
	ipk["contents"] = contents
	ipk["scripts"] = map[string]string{"preinstall": own["ipk.preinst"], "postinstall": own["ipk.postinst"], "preremove": own["ipk.prerm"]}

	for kind, config := range map[string]map[string]any{"deb": deb, "ipk": ipk} {
		if err := pack(o, kind, config, at(kind+".json"), filepath.Join(o.out, base+"."+kind)); err != nil {
			return nil, err
		}
	}
	return []string{base + ".deb", base + ".ipk", base + ".cdx.json"}, nil
}

// inventory writes what a package tells of what is in it: its list for work and, under base's name, beside the packages; the licences.
func inventory(o options, binary, work, base string) error {
	sbom, err := sbomOf(binary, o.version, o.epoch)
	if err != nil {
		return err
	}
	licences, err := licencesOf(o, binary)
	if err != nil {
		return err
	}
	for path, text := range map[string][]byte{
		filepath.Join(work, "sbom.cdx.json"): sbom, filepath.Join(o.out, base+".cdx.json"): sbom, filepath.Join(work, "copyright"): licences,
	} {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// ownFiles writes the files of the folder to work, with the target's name in them, and returns where each is.
func ownFiles(t target, work string) (map[string]string, error) {
	list, err := fs.ReadDir(files, "files")
	if err != nil {
		return nil, err
	}
	own := map[string]string{}
	for _, f := range list {
		text, err := fs.ReadFile(files, "files/"+f.Name())
		if err != nil {
			return nil, err
		}
		own[f.Name()] = filepath.Join(work, f.Name())
		if err := os.WriteFile(own[f.Name()], []byte(strings.ReplaceAll(string(text), "@TARGET@", t.name)), 0o755); err != nil {
			return nil, err
		}
	}
	return own, nil
}

// content is a file of a package, of root's and of the release's time.
func (o options) content(src, dst, kind string, mode fs.FileMode) content {
	c := content{Src: src, Dst: dst, Type: kind}
	c.Info.Mode, c.Info.Owner, c.Info.Group, c.Info.MTime = mode, "root", "root", time.Unix(o.epoch, 0).UTC()
	return c
}

// guides are the manual page and the completions of a program in a package.
func (o options) guides(s staged, program string) (list []content) {
	for _, g := range guides(program) {
		from := s.path(g.name)
		if strings.HasSuffix(g.installed, ".gz") {
			from += ".gz"
		}
		list = append(list, o.content(from, g.installed, "", 0o644))
	}
	return list
}

// description is what both packages say of themselves.
func (o options) description(t target) map[string]any {
	return map[string]any{
		"name": "posagent", "arch": t.goarch + t.goarm, "version": o.version, "version_schema": "none", "section": "net", "priority": "optional",
		"maintainer": "posagent <root@localhost>", "disable_globbing": true, "mtime": time.Unix(o.epoch, 0).UTC(),
		"description": "payment terminal on a small Linux box\nA cash register asks it for money over ZVT, on a serial line or TCP. It shows the customer a code,\n" +
			"asks the backend until it is paid, and gives the register one definite answer.",
	}
}

// pack lets nfpm make one package. Its configuration is JSON, which is YAML too.
func pack(o options, kind string, config map[string]any, file, to string) error {
	text, err := json.Marshal(config)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return err
	}
	_, err = command(o.root, []string{"CGO_ENABLED=0", "GOFLAGS=-trimpath", fmt.Sprint("SOURCE_DATE_EPOCH=", o.epoch)},
		goTool(), "run", nfpm, "package", "--config", file, "--packager", kind, "--target", to)
	return err
}
