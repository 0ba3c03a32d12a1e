package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// manifest names every file of a release (posagent.release/1).
type manifest struct {
	Schema  string   `json:"schema"`
	Version string   `json:"version"`
	Commit  string   `json:"commit"`
	Files   []listed `json:"files"`
}

// listed is one file of it.
type listed struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

const (
	manifestName  = "release.json"
	signatureName = "release.json.sig" // the 64 bytes of Ed25519 over the manifest's bytes
	schema        = "posagent.release/1"
)

// look measures a file of a release.
func look(dir, name string) (listed, error) {
	data, err := os.ReadFile(filepath.Join(dir, name))
	return listed{name, int64(len(data)), fmt.Sprintf("%x", sha256.Sum256(data))}, err
}

// release writes the manifest of the named files, and signs it where there is a key.
func release(o options, names []string) error {
	m := manifest{Schema: schema, Version: o.version, Commit: o.commit}
	for _, name := range slices.Sorted(slices.Values(names)) {
		f, err := look(o.out, name)
		if err != nil {
			return err
		}
		m.Files = append(m.Files, f)
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if err := os.WriteFile(filepath.Join(o.out, manifestName), text, 0o644); err != nil {
		return err
	}
	if o.key == "" {
		fmt.Fprintln(o.log, "release.json is not signed: make packages KEY=release.key signs it (openssl genpkey -algorithm ed25519 -out release.key)")
		return nil
	}
	key, err := readKey[ed25519.PrivateKey](o.key, "PRIVATE KEY", x509.ParsePKCS8PrivateKey)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(o.out, signatureName), ed25519.Sign(key, text), 0o644)
}

// readKey reads an Ed25519 key from a PEM file as openssl writes it.
func readKey[K any](path, kind string, parse func([]byte) (any, error)) (key K, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return key, err
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != kind {
		return key, fmt.Errorf("%s has no %s: openssl makes one, see the usage", path, kind)
	}
	any, err := parse(block.Bytes)
	if err != nil {
		return key, fmt.Errorf("%s: %w", path, err)
	}
	key, ok := any.(K)
	if !ok {
		return key, fmt.Errorf("%s is no Ed25519 key", path)
	}
	return key, nil
}

// verify compares the files of a directory with their manifest, and that with its signature where there is a key. It also fails on a
// package that the manifest does not name.
func verify(dir, key string, out io.Writer) error {
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return err
	}
	signed := "the signature was not checked (-key release.pub checks it)"
	if key != "" {
		public, err := readKey[ed25519.PublicKey](key, "PUBLIC KEY", x509.ParsePKIXPublicKey)
		if err != nil {
			return err
		}
		sig, err := os.ReadFile(filepath.Join(dir, signatureName))
		if err != nil {
			return err
		}
		if !ed25519.Verify(public, text, sig) {
			return errors.New(manifestName + " was not signed with this key, or was changed: use none of these files")
		}
		signed = "signed with this key"
	}
	var m manifest
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		return fmt.Errorf("%s: %w", manifestName, err)
	}
	if m.Schema != schema {
		return fmt.Errorf("%s is of %q, and this verifies %s", manifestName, m.Schema, schema)
	}
	var faults []error
	known := map[string]bool{}
	for _, want := range m.Files {
		if !fs.ValidPath(want.Name) || strings.Contains(want.Name, "/") {
			return fmt.Errorf("%s names %q, which is no file of its directory", manifestName, want.Name)
		}
		known[want.Name] = true
		if got, err := look(dir, want.Name); err != nil {
			faults = append(faults, err)
		} else if got != want {
			faults = append(faults, fmt.Errorf("%s is not the file of the manifest: use it not", want.Name))
		}
	}
	there, err := filepath.Glob(filepath.Join(dir, "posagent*_*"))
	if err != nil {
		return err
	}
	for _, path := range there {
		if !known[filepath.Base(path)] {
			faults = append(faults, fmt.Errorf("%s is not in the manifest: use it not", filepath.Base(path)))
		}
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	fmt.Fprintf(out, "%s: %d files of version %s are as the manifest says; %s\n", dir, len(m.Files), m.Version, signed)
	return nil
}
