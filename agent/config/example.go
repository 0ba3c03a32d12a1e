package config

import _ "embed"

//go:embed example.toml
var example string

// Example is a complete configuration file with every key, most of them commented out at their default.
func Example() string { return example }
