package main

import (
	"fmt"
	"os"

	"posagent/agent/config"
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

// loadConfig reads the file the caller named, or the default one where it exists, or the defaults alone.
func loadConfig(c *call) (config.Config, error) {
	cfg, err := config.Load(configPath(c), os.Environ())
	if err != nil {
		return cfg, &exit{exitConfig, err}
	}
	return cfg, nil
}

// sayIgnored names the variables that look like settings and are none.
func sayIgnored(c *call, cfg config.Config) {
	for _, name := range cfg.Ignored() {
		fmt.Fprintf(c.err, "posagent: %s is no setting, and is not used (posagent config show lists them)\n", name)
	}
}
