// Package keypad reads the keys of a keypad: an input device of the kernel, /dev/input/event… .
//
// It owns the device: opening it, keeping its keys from the console, waiting for it to come back,
// and turning contacts into presses. What a press means for a value is device/keypad/entry.
//
// It guarantees:
//   - A press is delivered once, in order. A key that is held, that bounces or whose contact is
//     stuck is one press or none. Correct alone repeats while it is held.
//   - Where keys were lost, entry.Gap is delivered in their place: the kernel's queue or ours ran
//     over, a contact floods, or the pad was pulled. Nothing is invented for them.
//   - What was pressed before the pad was opened, or opened again, is not delivered.
//   - Memory is bounded, however slow the reader and however fast the pad.
//   - A device without the ten digits and Confirm is refused by name, with the remedy.
//   - No log, error or status says which digits were pressed.
//
// A caller runs one Pad for the life of the program:
//
//	pad, err := keypad.New(keypad.Config{Path: "/dev/input/by-id/usb-…-event-kbd"})
//	go pad.Run(ctx, press, report)
//
// press is called for each key, one at a time, and passes it to the entry that is on the screen, or
// drops it where none is. It may be slow, but a slow one loses keys. pad.Status is for `status`,
// Config.Look for `doctor`, which may look while another process reads the pad.
//
// It imports device/keypad/entry and no other package of this module.
package keypad
