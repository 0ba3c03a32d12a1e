package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"posagent/agent/config"
	"posagent/agent/lifecycle/enrol"
	"posagent/schemes/wire"
)

// configPath is the file the caller named, or the default one where it exists, or "".
func configPath(c *call) string {
	if c.config == "" {
		if _, err := os.Stat(defaultConfig); err == nil {
			return defaultConfig
		}
	}
	return c.config
}

// loadConfig is readConfig with the exit code of its errors.
func loadConfig(c *call) (config.Config, error) {
	cfg, err := readConfig(c)
	var coded *exit
	if err != nil && !errors.As(err, &coded) {
		return cfg, exitWith(exitConfig, err)
	}
	return cfg, err
}

// readConfig reads the file the caller named, or the default one where it exists, over what the terminal was enrolled with, over the
// defaults. Whoever may not read the state directory reads without the enrolment: what needs the terminal's own fails there anyway.
func readConfig(c *call) (config.Config, error) {
	active, err := enrolment(c).Active()
	switch {
	case err == nil:
		return configWith(c, active.Revision, active.Text, active.Certificate)
	case errors.Is(err, enrol.ErrNone), errors.Is(err, fs.ErrPermission):
		return apart(c)
	}
	return config.Config{}, unreadEnrolment(c, err)
}

// layerName is the origin of what a revision sets.
func layerName(revision int64) string { return fmt.Sprintf("revision %d", revision) }

// configWith is the configuration with one revision of the enrolment beneath the file.
func configWith(c *call, revision int64, text wire.Secret, pair *tls.Certificate) (config.Config, error) {
	cfg, err := apart(c, config.Layer{Name: layerName(revision), Text: []byte(text.Reveal())})
	if err == nil && pair != nil {
		cfg.Upstream.Device = func() *tls.Certificate { return pair }
	}
	return cfg, err
}

// apart loads a configuration that writes over nothing of the terminal's own.
func apart(c *call, under ...config.Layer) (config.Config, error) {
	cfg, err := config.Load(configPath(c), os.Environ(), under...)
	if err == nil {
		err = cfg.Apart(c.stateDir(), configPath(c))
	}
	return cfg, err
}

// sayIgnored names the variables that look like settings and are none, and the secrets that can be guessed.
func sayIgnored(c *call, cfg config.Config) {
	for _, w := range cfg.Weak() {
		fmt.Fprintf(c.err, "posagent: warning: %v\n", w)
	}
	for _, name := range cfg.Ignored() {
		fmt.Fprintf(c.err, "posagent: %s is no setting, and is not used (posagent config show lists them)\n", name)
	}
}
