// Package prompts asks the person at the terminal for what a sale still needs before it can start:
// the method, the amount where the register named none, the consumer's id of a method that is
// started by hand, and the answers to the method's prompts (S1 2.4, 2.5).
//
// It owns the dialogue: what is asked, in which order, and what each key does. It is the checkout's
// drive.Prompter. Keys come from a pad or a page, by Press; what is to be shown goes out as a Face,
// which a screen words and draws.
//
// It guarantees:
//   - An answer names one of the methods that were offered, and each value is within the bounds of
//     its prompt. Nothing is sent before the answer is complete: until then a cancelled dialogue
//     leaves nothing behind.
//   - A dialogue ends once: answered, cancelled, or because the sale does not wait any more.
//   - Keys that were pressed before a question was on the screen answer nothing.
//   - Without a dialogue the cancel key asks to stop the sale that runs, and other keys do nothing.
//   - What was typed is not logged, and is wiped here once it was handed over.
//
// It must not import the store or a register's protocol.
package prompts
