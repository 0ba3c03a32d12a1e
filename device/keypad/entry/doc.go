// Package entry is a person typing one value: the digits of an id, or an amount.
//
// It owns the names of a pad's keys, and the entry: what is typed, how it is corrected and how it
// ends. It knows no device. A keypad, a page on a touch screen and a test press the same keys.
//
// It guarantees:
//   - An entry ends accepted, cancelled or timed out, once. No key changes it after that.
//   - An accepted value is within the bounds of its prompt. Anything else is not taken, and the
//     view says why.
//   - What was typed has a fixed bound. It is overwritten when it is taken, cancelled, timed out or
//     typed anew. Printing an entry or its value does not show it; the view does, and is for screens.
//   - Where keys were lost (Gap), nothing typed before them is kept: a part of a number is never
//     accepted for the whole.
//   - An amount is typed in minor units: 1, 2, 5, 0 is 12.50 where the currency has two decimals.
//
// A PIN or a card number is never asked for here: what is typed is shown on a screen and goes to
// the backend as it is. The one use of a masked prompt is an id that bystanders should not read.
//
// An Entry is not safe for concurrent use and has no clock: its owner calls Expire. It must not
// import any package of the module.
package entry
