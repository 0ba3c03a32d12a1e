// Package config is the plain data of every section of the configuration: defaults, one TOML file, the
// environment, in that order, then validation.
//
// It guarantees:
//   - every value comes from the default, a named line of the file, or a named variable (Origin);
//   - a key or section it does not know is an error with place and suggestion, never ignored; so is a misspelt POSAGENT_ variable,
//     and one that is like none of them is told (Ignored);
//   - a secret comes from its own file (key_file, POSAGENT_…_FILE), or from the configuration file when nobody
//     but its owner can read that, and prints as a mask;
//   - Load reports everything that is wrong at once, one line per key, each with file and line or the variable.
//
// It is the only importer of the TOML library and must not import any other room but schemes/money and schemes/wire:
// cmd converts its data into each room's own configuration.
package config
