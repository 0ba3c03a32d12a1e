package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// The part of CycloneDX 1.6 that is written.
type (
	bom struct {
		BomFormat    string       `json:"bomFormat"`
		SpecVersion  string       `json:"specVersion"`
		SerialNumber string       `json:"serialNumber"`
		Version      int          `json:"version"`
		Metadata     bomMetadata  `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
	bomMetadata struct {
		Timestamp string     `json:"timestamp"`
		Component component  `json:"component"`
		Settings  []property `json:"properties"`
	}
	component struct {
		Type       string     `json:"type"`
		Ref        string     `json:"bom-ref"`
		Name       string     `json:"name"`
		Version    string     `json:"version"`
		PURL       string     `json:"purl,omitempty"`
		Hashes     []hash     `json:"hashes,omitempty"`
		Properties []property `json:"properties,omitempty"`
	}
	hash struct {
		Alg     string `json:"alg"`
		Content string `json:"content"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	dependency struct {
		Ref       string   `json:"ref"`
		DependsOn []string `json:"dependsOn"`
	}
)

// sbomOf lists what is inside a binary, by what the linker wrote into it: each module with its version and its go.sum, and Go itself.
// The version of the program is not among that.
func sbomOf(path, version string, epoch int64) ([]byte, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	b := bom{BomFormat: "CycloneDX", SpecVersion: "1.6", Version: 1, SerialNumber: uuidLike(sum[:])}
	b.Metadata = bomMetadata{
		Timestamp: time.Unix(epoch, 0).UTC().Format(time.RFC3339),
		Component: component{Type: "application", Ref: info.Main.Path, Name: info.Main.Path, Version: version, Hashes: []hash{{"SHA-256", fmt.Sprintf("%x", sum)}}},
	}
	for _, s := range info.Settings {
		b.Metadata.Settings = append(b.Metadata.Settings, property{"build:" + s.Key, s.Value})
	}
	number := strings.TrimPrefix(info.GoVersion, "go")
	b.Components = append(b.Components, component{Type: "library", Ref: "pkg:golang/std@" + number, Name: "std", Version: number, PURL: "pkg:golang/std@" + number})
	for _, m := range modulesOf(info) {
		purl := "pkg:golang/" + m.Path + "@" + m.Version
		b.Components = append(b.Components, component{
			Type: "library", Ref: purl, Name: m.Path, Version: m.Version, PURL: purl, Properties: []property{{"go:sum", m.Sum}},
		})
	}
	all := dependency{Ref: info.Main.Path}
	for _, c := range b.Components {
		all.DependsOn = append(all.DependsOn, c.Ref)
	}
	b.Dependencies = []dependency{all}
	text, err := json.MarshalIndent(b, "", "  ")
	return append(text, '\n'), err
}

// uuidLike makes a random-looking UUID of a digest, the same for the same binary.
func uuidLike(sum []byte) string {
	u := slices.Clone(sum[:16])
	u[6], u[8] = u[6]&0x0f|0x40, u[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// modulesOf lists the modules that are linked, each as what replaces it where that is so.
func modulesOf(info *debug.BuildInfo) (list []debug.Module) {
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		list = append(list, *m)
	}
	return list
}

// licencesOf collects the licences of Go and of every module that is linked into a binary, from the sources they were compiled from.
func licencesOf(o options, binary string) ([]byte, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("posagent itself: no licence stands in its source. It was made with what follows.\n")
	add := func(name, dir string) error {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		found := false
		for _, e := range entries {
			if !licenceName.MatchString(e.Name()) || e.IsDir() {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			found = true
			fmt.Fprintf(&b, "\n==== %s: %s ====\n\n%s\n", name, e.Name(), bytes.TrimSpace(text))
		}
		if !found {
			return fmt.Errorf("no licence of %s in %s", name, dir)
		}
		return nil
	}
	goroot, err := command(o.root, nil, goTool(), "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	if err := add(info.GoVersion, strings.TrimSpace(goroot)); err != nil {
		return nil, err
	}
	for _, m := range modulesOf(info) {
		dir, err := command(o.root, []string{"GOFLAGS="}, goTool(), "list", "-m", "-f", "{{.Dir}}", m.Path)
		if err != nil {
			return nil, err
		}
		if err := add(m.Path+" "+m.Version, strings.TrimSpace(dir)); err != nil {
			return nil, err
		}
	}
	if err := add("the letters of the screen", filepath.Join(o.root, "device/display/glyph/faces")); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

var licenceName = regexp.MustCompile(`^(LICEN[CS]E|COPYING|NOTICE|PATENTS)`)
