// Package words has the texts of the payment pages in the sixteen languages of S0 2.4.3. Rooms that
// must not import each other share it.
//
// It guarantees that each language has each text.
//
// It must not import anything but the standard library.
package words
