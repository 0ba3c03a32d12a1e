// Package usage writes how a program is called, from its table of verbs: the help of a verb, the
// manual page, and completions for bash, zsh and fish.
//
// It owns the form of these texts, the way flags are read, and the numbers of the exit codes that the
// programs share. What a verb does stays in the program.
//
// It guarantees:
//   - A verb, sub-verb or flag of the table stands in each of the texts. No list is kept beside it.
//   - A help begins with examples, and names the schema of what --json prints.
//   - No text of the table reads as a request of man, or as a command of a shell.
//   - Equal tables give equal bytes.
//
// Package usagetest holds a program to it, with the real shells. The programs of cmd alone import it.
// It must not import any other package of the module.
package usage
