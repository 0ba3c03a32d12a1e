package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
)

// inside: the list has exactly the modules that go version -m prints, with their sums, and Go.
func inside(t *testing.T, m *made) {
	code, said := ran(t, nil, "go", "version", "-m", m.older)
	require.Zero(t, code, said)
	var want []string
	for _, dep := range regexp.MustCompile(`(?m)^\tdep\t(\S+)\t(\S+)\t(\S+)$`).FindAllStringSubmatch(said, -1) {
		want = append(want, strings.Join(dep[1:], " "))
	}
	require.Greater(t, len(want), 10)
	goVersion := regexp.MustCompile(`: go(\S+)\n`).FindStringSubmatch(said)
	require.NotNil(t, goVersion)
	want = append(want, "std "+goVersion[1]+" ")

	var list struct {
		BomFormat, SpecVersion, SerialNumber string
		Metadata                             struct {
			Timestamp string
			Component struct {
				Name, Version string
				Hashes        []struct{ Alg, Content string }
			}
		}
		Components []struct {
			Type, Name, Version, PURL string
			Ref                       string `json:"bom-ref"`
			Properties                []struct{ Name, Value string }
		}
		Dependencies []struct {
			Ref       string
			DependsOn []string
		}
	}
	text := read(t, one(t, m.first, "posagent_*.cdx.json"))
	require.NoError(t, json.Unmarshal([]byte(text), &list))
	require.Equal(t, "CycloneDX 1.6", list.BomFormat+" "+list.SpecVersion)
	require.Regexp(t, `^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, list.SerialNumber)
	require.Equal(t, "2026-11-18T11:06:40Z", list.Metadata.Timestamp)
	require.Equal(t, "posagent 1.0.0", list.Metadata.Component.Name+" "+list.Metadata.Component.Version)
	var got, refs []string
	for _, c := range list.Components {
		sum := ""
		for _, p := range c.Properties {
			require.Equal(t, "go:sum", p.Name)
			sum = p.Value
		}
		got, refs = append(got, c.Name+" "+c.Version+" "+sum), append(refs, c.Ref)
		require.Equal(t, "pkg:golang/"+c.Name+"@"+c.Version, c.PURL)
		require.Equal(t, "library", c.Type)
	}
	require.ElementsMatch(t, want, got)
	require.Len(t, list.Dependencies, 1)
	require.ElementsMatch(t, refs, list.Dependencies[0].DependsOn)

	code, said = ran(t, nil, "sha256sum", m.older)
	require.Zero(t, code, said)
	require.Equal(t, "SHA-256 "+strings.Fields(said)[0], list.Metadata.Component.Hashes[0].Alg+" "+list.Metadata.Component.Hashes[0].Content)
	tree := t.TempDir()
	code, said = ran(t, nil, "dpkg-deb", "-x", deb(t, m.first), tree)
	require.Zero(t, code, said)
	require.Equal(t, text, read(t, filepath.Join(tree, "usr/share/posagent/sbom.cdx.json")), "the same stands in the package")
}

// built: the record names the flags, the source and every file, and the source's digest can be made with other tools.
func built(t *testing.T, m *made) {
	var record struct {
		PredicateType string
		Subject       []struct {
			Name   string
			Digest map[string]string
		}
		Predicate struct {
			BuildDefinition struct {
				InternalParameters   struct{ GoFlags []string }
				ResolvedDependencies []struct {
					URI    string
					Digest map[string]string
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(read(t, filepath.Join(m.again, "provenance.json"))), &record))
	require.Equal(t, "https://slsa.dev/provenance/v1", record.PredicateType)
	require.Len(t, record.Subject, 8)
	for _, s := range record.Subject {
		code, said := ran(t, nil, "sha256sum", filepath.Join(m.again, s.Name))
		require.Zero(t, code, said)
		require.Equal(t, strings.Fields(said)[0], s.Digest["sha256"])
	}
	built := record.Predicate.BuildDefinition
	require.Equal(t, []string{"-trimpath", "-buildvcs=false", "-tags", "nethttpomithttp2", "-ldflags", "-s -w -buildid= -X main.linked=1.0.0"}, built.InternalParameters.GoFlags)
	require.Regexp(t, `^pkg:golang/toolchain@1\.`, built.ResolvedDependencies[1].URI)
	code, said := ran(t, nil, "sh", "-c", `cd "$0" && find . -path ./.git -prune -o -path ./bin -prune -o -path ./out -prune -o -type f -printf '%P\0' | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum`,
		filepath.Join(filepath.Dir(m.again), "elsewhere/tree"))
	require.Zero(t, code, said)
	require.Equal(t, strings.Fields(said)[0], built.ResolvedDependencies[0].Digest["sha256"])
	require.NoError(t, verify(m.first, "", t.Output()))
}

// TestAReleaseIsVerified: a manifest that is signed with another key, a file that was changed, one that is missing and one that is
// too many are all refused; openssl agrees about the signature.
func TestAReleaseIsVerified(t *testing.T) {
	openssl := need.Tool(t, "openssl")
	dir, keys := t.TempDir(), t.TempDir()
	for _, name := range []string{"release", "other"} {
		key := filepath.Join(keys, name)
		code, said := ran(t, nil, openssl, "genpkey", "-algorithm", "ed25519", "-out", key+".key")
		require.Zero(t, code, said)
		code, said = ran(t, nil, openssl, "pkey", "-in", key+".key", "-pubout", "-out", key+".pub")
		require.Zero(t, code, said)
	}
	key := filepath.Join(keys, "release")
	file := func(name string) string { return filepath.Join(dir, name) }
	put := func(name, text string) { require.NoError(t, os.WriteFile(file(name), []byte(text), 0o644)) }
	names := []string{"posagent_1_armv7.deb", "posagent_1_armv7.ipk"}
	for _, name := range names {
		put(name, "text of "+name)
	}
	require.NoError(t, release(options{out: dir, version: "1", key: key + ".key", log: t.Output()}, names))
	check := func() error { return verify(dir, key+".pub", t.Output()) }
	require.NoError(t, check())
	code, said := ran(t, nil, openssl, "pkeyutl", "-verify", "-pubin", "-inkey", key+".pub", "-rawin", "-in", file("release.json"), "-sigfile", file("release.json.sig"))
	require.Zero(t, code, said)

	require.ErrorContains(t, verify(dir, filepath.Join(keys, "other.pub"), t.Output()), "was not signed with this key, or was changed")
	require.ErrorContains(t, verify(dir, key+".key", t.Output()), "has no PUBLIC KEY")
	put(names[0], "text of posagent_1_armv7.deB")
	require.ErrorContains(t, check(), names[0]+" is not the file of the manifest")
	require.NoError(t, os.Remove(file(names[0])))
	require.ErrorContains(t, check(), "no such file")
	put(names[0], "text of "+names[0])
	put("posagent_0_armv7.deb", "an old one with a known hole")
	require.ErrorContains(t, check(), "posagent_0_armv7.deb is not in the manifest")
	require.NoError(t, os.Remove(file("posagent_0_armv7.deb")))
	require.NoError(t, check())
	manifest := read(t, file("release.json"))
	put("release.json", strings.Replace(manifest, `"version": "1"`, `"version": "2"`, 1))
	require.ErrorContains(t, check(), "was not signed with this key, or was changed")
	put("release.json", strings.Replace(manifest, names[0], "../"+names[0], 1))
	require.ErrorContains(t, verify(dir, "", t.Output()), "is no file of its directory")
	put("release.json", manifest)
	require.NoError(t, os.Remove(file("release.json.sig")))
	require.ErrorContains(t, check(), "no such file")
}

// TestTargetsAreThoseOfTheCrossBuild: a target that is built is packed.
func TestTargetsAreThoseOfTheCrossBuild(t *testing.T) {
	m := regexp.MustCompile(`(?m)^\tfor target in (.*); do$`).FindStringSubmatch(read(t, "../../cross.sh"))
	require.NotNil(t, m)
	var names []string
	for _, target := range allTargets() {
		names = append(names, target.name)
	}
	require.Equal(t, strings.Fields(m[1]), names)
	list, err := chosen("armv7,386")
	require.NoError(t, err)
	require.Equal(t, []target{{"armv7", "arm", "7", "armhf"}, {"386", "386", "", "i386"}}, list)
	_, err = chosen("mips")
	require.ErrorContains(t, err, `"mips" is no target`)
}

// TestALaterPackageIsTheHigherOne: by dpkg's own order.
func TestALaterPackageIsTheHigherOne(t *testing.T) {
	dpkg := need.Tool(t, "dpkg")
	rising := []string{
		"2026.11.22.080000-ffffffffffff", "2026.11.22.080100-000000000000", "2026.11.23.000000-000000000000", "2026.12.1", "2026.12.1-3-g0123456789ab",
	}
	for i, later := range rising[1:] {
		code, said := ran(t, nil, dpkg, "--compare-versions", rising[i], "lt", later)
		require.Zero(t, code, "%s is not lower than %s: %s", rising[i], later, said)
	}
}

// TestField2_U9OneBuildHasOneVersion: the package was 2026.11.22.080000-…, and the program in it said
// 2026.11.22-…. What a build of the tree calls itself is the package's version, too: its day, its time,
// its commit.
func TestField2_U9OneBuildHasOneVersion(t *testing.T) {
	t.Setenv("VERSION", "")
	code, said := ran(t, nil, need.Tool(t, "sh"), "../../version.sh")
	require.Zero(t, code, said)
	own := strings.TrimSpace(said)
	if own == "" {
		need.Missing(t, "a version of the tree", "git, and a checkout")
	}
	o, err := asked("../../..", t.TempDir(), nil)
	require.NoError(t, err)
	require.Equal(t, own, o.version)
	require.Contains(t, flags(o.version)[len(flags(o.version))-1], "main.linked="+own)
	if !strings.Contains(own, "-g") { // no tag was before
		require.Regexp(t, `^\d{4}\.\d\d\.\d\d\.\d{6}-[0-9a-f]{12}(\+changed)?$`, own)
	}
}

// TestAVersionThatNoPackageMayHave is refused before anything is built.
func TestAVersionThatNoPackageMayHave(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", fmt.Sprint(epoch))
	for _, version := range []string{"v1.2", "1_2", "1.0 beta", "../1"} {
		t.Setenv("VERSION", version)
		_, err := asked("../../..", t.TempDir(), nil)
		require.ErrorContains(t, err, "a package's version begins with a digit", version)
	}
	t.Setenv("VERSION", "1.0")
	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	_, err := asked("../../..", t.TempDir(), nil)
	require.ErrorContains(t, err, "no number of seconds")
}
