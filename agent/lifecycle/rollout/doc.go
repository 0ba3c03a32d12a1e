// Package rollout is what a terminal and the program that updates it tell each other, in two files.
// The updater is root, and leaves beside the program how its last update ended (PROGRAM.outcome). The
// terminal keeps in its state directory which versions its fleet holds (enrolment/held.json).
//
// It guarantees:
//   - Neither needs a right that it has not: the terminal reads what anybody may, and root reads the
//     terminal's file, which may be anything, as one short regular file.
//   - A hold is only ever a reason not to update. Where the file cannot be read, everything is held;
//     where it is not, nothing is.
//   - A hold has no end of its own: the fleet's next answer ends it.
//
// It must not import a service: the terminal asks its fleet, and the updater asks nobody.
package rollout
