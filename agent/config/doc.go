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
//
// Decisions.
//
// 2026-11-21. Durations are texts with a unit ("90s", "10m", "24h"). A bare number is refused, because nobody
// can see whether 5 means seconds or minutes; so are negative ones and more than ten years.
//
// 2026-11-21. A secret in the file is refused unless the file's mode has no bit for group and others; a secret's own
// file may be readable by its group (0640, as service managers make them), not by others. A secret
// as the value of a variable is refused: variables leak into children, dumps and /proc.
//
// 2026-11-21. Variables outside the sections (POSAGENT_CONFIG, POSAGENT_STATE) belong to the command line and are
// left alone; one whose first word is a section must name a key of it.
//
// 2026-11-21. Without a URL in [upstream] the embedded sandbox is meant (Sandbox), and the terminal's own
// numbers have demonstration values. With one they must be given.
//
// 2026-11-21. http is accepted for loopback only: credentials travel in every request.
package config
