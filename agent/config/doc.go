// Package config holds every section of the configuration as plain data. It reads the defaults,
// then the layers that the terminal was given (Layer), then one TOML file, then the environment,
// and validates the result.
//
// Files: config.go is the sections, default.go their defaults, limits.go the offline limits. load.go
// reads all: file.go and clients.go the file, environment.go the variables. fields.go finds the keys
// and sets one. validate.go has the rules of the values, show.go lists the settings.
//
// It guarantees:
//   - Each value comes from the default, a line of a layer or of the file, or a named variable
//     (Origin).
//   - An unknown key, section or POSAGENT_ variable that looks like a known one is an error with
//     its place and a suggestion. Other unknown POSAGENT_ variables are reported (Ignored).
//   - A secret comes from a file of its own (key_file, POSAGENT_…_FILE), or from the configuration
//     file if only the file's owner can read that. It prints as a mask.
//   - Load reports all errors at once, one line per key, each with file and line, or with the
//     variable.
//
// It is the only importer of the TOML library. It must not import any room but schemes/money and
// schemes/wire: cmd converts its data into each room's own configuration.
package config
