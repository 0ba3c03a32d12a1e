// Package scene says what stands on the customer's screen, whatever draws it.
//
// It owns the scenes (idle, a choice of methods, a prompt, the code, waiting, how the sale ended,
// why nothing can be sold), the words of the screen in ten languages, and the cleaning of texts
// from outside. A renderer asks a Scene for its Texts and draws those and the code, nothing else.
//
// It guarantees:
//   - A code is in a scene only before its Until, and only in a scene of kind Code: a sale that is
//     paid, or a terminal that is idle, shows none.
//   - A masked prompt gives dots to a renderer, never what was typed.
//   - Texts are one line each, without control characters, escape sequences and direction
//     overrides, and bounded. The number of an amount has no place where a line may break.
//   - Every language has every word; a language that is not known reads English.
//   - SANDBOX is in the texts of every scene whose Sandbox is set.
//
// It must not import any room but device/qr.
package scene
